#pragma once

#include <string>

#include "duckdb/common/types/value.hpp"
#include "infino/sql/sql_types.h"

namespace infino::sql {

/// Values of columns in Parquet's PLAIN encoding, as ValueCount has them, in DuckDB's words.

/// Whether there are such values of a column.
[[nodiscard]] bool HasPlainValues(const SqlColumn& column);

/// The value that `bytes` encode. REQUIRES: HasPlainValues, and as many bytes as BoundLengthOf
/// says.
[[nodiscard]] duckdb::Value PlainValue(const SqlColumn& column, const std::string& bytes);

}  // namespace infino::sql
