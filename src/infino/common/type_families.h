#pragma once

#include <arrow/type_fwd.h>

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

}  // namespace infino
