#pragma once

#include <memory>

#include "duckdb/function/aggregate_function.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/database.hpp"
#include "infino/sql/sql_types.h"
#include "infino/sql/table_source.h"

namespace infino::sql {

/// The values of a column as a table: each once, NULL included, and how many live rows have it.
/// Comes from the counts that the manifest keeps, for the plans of UseValueCounts.

/// The places of its columns.
inline constexpr duckdb::idx_t kValuePlace = 0;
inline constexpr duckdb::idx_t kCountPlace = 1;

/// The table function for a column, bound. `table` outlives it.
struct CountedValues {
  duckdb::TableFunction function;
  duckdb::unique_ptr<duckdb::FunctionData> bound;
};

[[nodiscard]] CountedValues BindCountedValues(const PinnedTable& table, const SqlColumn& column);

/// Whether a table function is that one.
[[nodiscard]] bool IsCountedValues(const duckdb::TableFunction& function);

/// What stands for `count` over such a table: the sum of counts, 0 where there are none.
[[nodiscard]] duckdb::AggregateFunction SumOfCounts();

/// Adds both to the database, so that plans that have them can be copied.
void RegisterCountedValues(duckdb::DatabaseInstance& database);

}  // namespace infino::sql
