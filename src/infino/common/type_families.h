#pragma once

#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

namespace infino {

/// Whether values of the type are UTF-8, in any of Arrow's layouts.
inline bool IsText(arrow::Type::type id) {
  return id == arrow::Type::STRING || id == arrow::Type::LARGE_STRING ||
         id == arrow::Type::STRING_VIEW;
}

/// Whether values of the type are bytes of any length, in any of Arrow's layouts.
inline bool IsBytes(arrow::Type::type id) {
  return id == arrow::Type::BINARY || id == arrow::Type::LARGE_BINARY ||
         id == arrow::Type::BINARY_VIEW;
}

/// The type of the values, also where they are kept in a dictionary.
inline const arrow::DataType& WithoutDictionary(const arrow::DataType& type) {
  if (type.id() != arrow::Type::DICTIONARY) return type;
  return *arrow::internal::checked_cast<const arrow::DictionaryType&>(type).value_type();
}

}  // namespace infino
