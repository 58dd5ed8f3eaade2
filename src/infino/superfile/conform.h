#pragma once

#include <memory>

#include <arrow/array/array_base.h>
#include <arrow/result.h>
#include <arrow/type.h>

namespace infino {

/// `array` as `type`, when it came out of Parquet as one that only stands for it: dictionaries,
/// their index types, coarser time units, names of nested fields, extension types. Values stay the
/// same. Fails where it would change one.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> Conform(
    const std::shared_ptr<arrow::Array>& array, const std::shared_ptr<arrow::DataType>& type);

}  // namespace infino
