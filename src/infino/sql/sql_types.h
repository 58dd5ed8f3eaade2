#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type.h>

#include "duckdb/common/types.hpp"
#include "infino/superfile/table_schema.h"

namespace infino::sql {

/// The type that values of an Arrow type have in SQL. What DuckDB has no type for is carried by the
/// type of its stored values, under a name that says what it is, and comes back as the Arrow type
/// it was: durations, half floats, fixed-size binaries, dates in milliseconds, times of other
/// units, timestamps of other zones than UTC. Decimals of more than 38 digits are doubles.
[[nodiscard]] duckdb::LogicalType ToLogicalType(const arrow::DataType& type);

/// The Arrow type of a result's column: the inverse for what tables have. Texts and binaries are
/// large_utf8 and large_binary; hugeint is int64, as sums of integers are expected to be.
[[nodiscard]] std::shared_ptr<arrow::DataType> ToArrowType(const duckdb::LogicalType& type);

/// A column of a table as SQL sees it.
struct SqlColumn {
  std::string name;  ///< Unique in the table whatever the case.
  duckdb::LogicalType type;
  int32_t field_id = 0;
};

/// Hidden columns of every scan: the superfile's place in Snapshot::files, and the row's in it.
inline constexpr const char* kFileColumn = "__superfile";
inline constexpr const char* kRowColumn = "__row";

/// `_id`, then the stored columns in declared order. A name that differs from an earlier one, from
/// a hidden one or from `reserved`, in nothing but case gets a number: `score_1`.
[[nodiscard]] std::vector<SqlColumn> SqlColumnsOf(const TableSchema& schema,
                                                  std::string_view reserved = {});

}  // namespace infino::sql
