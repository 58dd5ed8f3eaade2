#pragma once

#include <memory>

#include <arrow/array/array_base.h>
#include <arrow/result.h>
#include <arrow/type.h>

namespace infino {

/// Whether a column of type `from` may become one of type `to`: every value that the one can hold
/// is a value of the other, unchanged. Equal types are.
///
/// Integers become wider ones, unsigned ones wider signed ones too, those of up to 32 bits float64;
/// floats become wider ones; decimals get more digits before the point. Text and binary change
/// their layout (utf8, large_utf8, string_view). Lists change theirs (list, large_list) and widen
/// what is in them; structs widen their fields, which are found by name, and get new ones that may
/// be null. What is in a list or struct may become nullable.
[[nodiscard]] bool IsWidening(const arrow::DataType& from, const arrow::DataType& to);

/// `values` as an array of type `to`. Fails, with a kind, only for more than 2 GiB of text or lists
/// in a type with 32-bit offsets. REQUIRES: IsWidening(values->type(), to).
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> Widen(
    const std::shared_ptr<arrow::Array>& values, const std::shared_ptr<arrow::DataType>& to);

}  // namespace infino
