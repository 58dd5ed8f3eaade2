#pragma once

#include <memory>
#include <string>

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

namespace infino {

/// Whether values of type `from` may be taken over into `to` at all: OK, or kInvalidArgument that
/// names `column` and both types. What then still can't be is a matter of the single values.
///
/// Convertible are equal types; null to anything nullable; text of any layout to text, binary to
/// binary; integers to integers and to floats, floats to floats; dates and timestamps without a
/// zone among each other, timestamps of one zone, times, durations; decimals; lists and lists of
/// fixed size; structs by field name; maps; dictionaries from and to what they hold; extension
/// types to what their storage converts to.
[[nodiscard]] arrow::Status CheckConvertible(const arrow::DataType& from, const arrow::Field& to,
                                             const std::string& column);

/// `values` as an array of the type of `to`; kInvalidArgument, naming `column`, if a value would
/// change on the way or a null would land in a field that can't hold one. A null in `to` itself is
/// not looked at. REQUIRES: CheckConvertible(values->type(), to) is OK and `values` are valid.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> ConvertArray(
    const std::shared_ptr<arrow::Array>& values, const arrow::Field& to, const std::string& column);

/// Fails with kInvalidArgument if a field inside `values` (not `values` itself) that is declared
/// not null is null where its parent is not.
[[nodiscard]] arrow::Status CheckNestedNulls(const arrow::Array& values, const std::string& column);

}  // namespace infino
