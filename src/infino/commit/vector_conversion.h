#pragma once

#include <cstdint>
#include <memory>

#include <arrow/array/array_base.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

namespace infino {

/// Whether values of type `from` may be vectors of the column `to` at all: lists of any layout
/// whose numbers are floats of any width, or integers. OK, or kInvalidArgument that names the
/// column and both types. Lengths and values are a matter of the single rows.
[[nodiscard]] arrow::Status CheckConvertibleVectors(const arrow::DataType& from,
                                                    const arrow::Field& to);

/// `values` as vectors of the column `to`, whose type is a fixed-size list of floats: numbers are
/// rounded to floats. kInvalidArgument, naming the column and the row, for a vector that is null or
/// of another length, and for a number that is null, not finite, or beyond what a float holds.
/// `first_row` is how many rows the append had before. REQUIRES: CheckConvertibleVectors is OK and
/// `values` are valid.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> ConvertVectors(
    const std::shared_ptr<arrow::Array>& values, const arrow::Field& to, uint64_t first_row);

}  // namespace infino
