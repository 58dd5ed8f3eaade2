#include "infino/superfile/leaf_columns.h"

#include <memory>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_nested.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

namespace infino {

using arrow::internal::checked_cast;

namespace {

/// The values of the lists, without those of other slices. An empty array may have no offsets.
template <typename Lists>
std::shared_ptr<arrow::Array> ValuesOf(const Lists& lists) {
  if (lists.length() == 0) return lists.values()->Slice(0, 0);
  const auto start = lists.value_offset(0);
  return lists.values()->Slice(start, lists.value_offset(lists.length()) - start);
}

}  // namespace

int LeafCount(const arrow::DataType& type) {
  if (type.id() == arrow::Type::EXTENSION) {
    return LeafCount(*checked_cast<const arrow::ExtensionType&>(type).storage_type());
  }
  if (type.num_fields() == 0) return 1;
  int count = 0;
  for (const auto& field : type.fields()) count += LeafCount(*field->type());
  return count;
}

void AppendLeaves(const std::shared_ptr<arrow::Array>& array,
                  std::vector<std::shared_ptr<arrow::Array>>& leaves) {
  switch (array->type_id()) {
    case arrow::Type::EXTENSION:
      return AppendLeaves(checked_cast<const arrow::ExtensionArray&>(*array).storage(), leaves);
    case arrow::Type::STRUCT: {
      const auto& values = checked_cast<const arrow::StructArray&>(*array);
      for (int i = 0; i < values.num_fields(); ++i) AppendLeaves(values.field(i), leaves);
      return;
    }
    case arrow::Type::MAP:
    case arrow::Type::LIST:
      return AppendLeaves(ValuesOf(checked_cast<const arrow::ListArray&>(*array)), leaves);
    case arrow::Type::LARGE_LIST:
      return AppendLeaves(ValuesOf(checked_cast<const arrow::LargeListArray&>(*array)), leaves);
    case arrow::Type::FIXED_SIZE_LIST:
      return AppendLeaves(ValuesOf(checked_cast<const arrow::FixedSizeListArray&>(*array)), leaves);
    case arrow::Type::LIST_VIEW:
      return AppendLeaves(checked_cast<const arrow::ListViewArray&>(*array).values(), leaves);
    case arrow::Type::LARGE_LIST_VIEW:
      return AppendLeaves(checked_cast<const arrow::LargeListViewArray&>(*array).values(), leaves);
    default:
      leaves.push_back(array);
  }
}

}  // namespace infino
