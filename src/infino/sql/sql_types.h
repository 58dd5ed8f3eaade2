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

/// The type that values of an Arrow type have in SQL. Durations are the numbers that they are in
/// their unit; half floats, dates in milliseconds, times and timestamps with a zone have the
/// nearest type; REQUIRES: no decimal has more than 38 digits.
[[nodiscard]] duckdb::LogicalType ToLogicalType(const arrow::DataType& type);

/// The Arrow type of a computed column of a result: large_utf8 and large_binary for texts and
/// binaries, int64 for hugeint, which sums of integers are. Null for types that tables don't have.
[[nodiscard]] std::shared_ptr<arrow::DataType> ToArrowType(const duckdb::LogicalType& type);

/// The Arrow type of a result's column that is a column of a table, whose declared type is
/// `declared`: that one, but for texts and binaries, which are large.
[[nodiscard]] std::shared_ptr<arrow::DataType> ToResultType(const arrow::DataType& declared);

/// A column of a table as SQL sees it.
struct SqlColumn {
  std::string name;  ///< Unique in the table whatever the case.
  duckdb::LogicalType type;
  int32_t field_id = 0;
  std::shared_ptr<arrow::DataType> declared;
};

/// Hidden columns of every scan: the superfile's place in Snapshot::files, and the row's in it.
inline constexpr const char* kFileColumn = "__superfile";
inline constexpr const char* kRowColumn = "__row";

/// `_id`, then the stored columns in declared order, without those of decimals of more than 38
/// digits. A name that differs from an earlier one, from
/// a hidden one or from `reserved`, in nothing but case gets a number: `score_1`.
[[nodiscard]] std::vector<SqlColumn> SqlColumnsOf(const TableSchema& schema,
                                                  std::string_view reserved = {});

}  // namespace infino::sql
