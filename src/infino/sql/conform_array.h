#pragma once

#include <memory>

#include <arrow/array/data.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace infino::sql {

/// An array as DuckDB exports it, as the type that it is for us: lists of 64-bit offsets as those
/// of 32-bit ones, and what is carried by the type of its stored values (ToLogicalType) as what it
/// is. Types that are alike are passed on as they are. kInternal for a pair that never occurs.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::ArrayData>> ConformArray(
    const std::shared_ptr<arrow::ArrayData>& data, const std::shared_ptr<arrow::DataType>& type);

}  // namespace infino::sql
