#pragma once

#include <memory>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/type.h>

namespace infino {

/// How many Parquet columns a column of this type becomes.
[[nodiscard]] int LeafCount(const arrow::DataType& type);

/// Appends the leaf arrays of `array` in the order of its Parquet columns: for samples, so without
/// regard to which nested values are reachable.
void AppendLeaves(const std::shared_ptr<arrow::Array>& array,
                  std::vector<std::shared_ptr<arrow::Array>>& leaves);

}  // namespace infino
