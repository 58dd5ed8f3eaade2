#pragma once

#include <cstdint>
#include <string>

#include <arrow/array.h>
#include <arrow/result.h>

#include "infino/common/json.h"

namespace infino::cli {

/// One value as JSON: numbers, booleans, strings, lists and objects as themselves; decimals, times
/// and binary (hexadecimal) as strings, integers beyond 2^53 as numbers, NaN and infinities as
/// null.
[[nodiscard]] arrow::Result<nlohmann::json> JsonOf(const arrow::Array& array, int64_t row);

/// One value as text: what a person reads, and a CSV cell. Null is empty, NaN and infinities are
/// nan, inf and -inf.
[[nodiscard]] arrow::Result<std::string> TextOf(const arrow::Array& array, int64_t row);

}  // namespace infino::cli
