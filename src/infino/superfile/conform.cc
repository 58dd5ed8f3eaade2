#include "infino/superfile/conform.h"

#include <cstddef>
#include <memory>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/array_dict.h>
#include <arrow/array/data.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/datum.h>
#include <arrow/extension_type.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

namespace infino {
namespace {

using arrow::internal::checked_cast;
using ArrayPtr = std::shared_ptr<arrow::Array>;
using TypePtr = std::shared_ptr<arrow::DataType>;

arrow::Result<ArrayPtr> ConformDictionary(const ArrayPtr& array, const TypePtr& type) {
  const auto& wanted = checked_cast<const arrow::DictionaryType&>(*type);
  ArrayPtr encoded = array;
  if (array->type_id() != arrow::Type::DICTIONARY) {
    ARROW_ASSIGN_OR_RAISE(const ArrayPtr values, Conform(array, wanted.value_type()));
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum datum,
                          arrow::compute::DictionaryEncode(arrow::Datum(values->data())));
    encoded = datum.make_array();
  }
  const auto& dictionary = checked_cast<const arrow::DictionaryArray&>(*encoded);
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr values,
                        Conform(dictionary.dictionary(), wanted.value_type()));
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr indices,
                        arrow::compute::Cast(*dictionary.indices(), wanted.index_type()));
  return arrow::DictionaryArray::FromArrays(type, indices, values);
}

/// Same kind of nesting: the buffers stay, the children are conformed.
arrow::Result<ArrayPtr> ConformChildren(const ArrayPtr& array, const TypePtr& type) {
  auto data = array->data()->Copy();
  for (size_t i = 0; i < data->child_data.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const ArrayPtr child, Conform(arrow::MakeArray(data->child_data[i]),
                                                        type->field(static_cast<int>(i))->type()));
    data->child_data[i] = child->data();
  }
  data->type = type;
  return arrow::MakeArray(std::move(data));
}

}  // namespace

arrow::Result<ArrayPtr> Conform(const ArrayPtr& array, const TypePtr& type) {
  if (array->type()->Equals(*type)) return array;
  if (array->type_id() == arrow::Type::EXTENSION) {
    return Conform(checked_cast<const arrow::ExtensionArray&>(*array).storage(), type);
  }
  if (type->id() == arrow::Type::EXTENSION) {
    const auto& extension = checked_cast<const arrow::ExtensionType&>(*type);
    ARROW_ASSIGN_OR_RAISE(const ArrayPtr storage, Conform(array, extension.storage_type()));
    return arrow::ExtensionType::WrapArray(type, storage);
  }
  if (type->id() == arrow::Type::DICTIONARY) return ConformDictionary(array, type);
  if (array->type_id() == type->id() && arrow::is_nested(type->id()) &&
      array->type()->num_fields() == type->num_fields()) {
    return ConformChildren(array, type);
  }
  return arrow::compute::Cast(*array, type);
}

}  // namespace infino
