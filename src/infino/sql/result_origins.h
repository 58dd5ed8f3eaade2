#pragma once

#include <memory>
#include <vector>

#include <arrow/type.h>

#include "duckdb/planner/logical_operator.hpp"

namespace infino::sql {

/// For each column of the result of a plan, as it was before DuckDB's optimizers: the declared type
/// of the table's column that it is, through projections, filters, joins and groups; null for what
/// is computed. So that a column of a table comes back as the type it was declared with, also where
/// DuckDB has none of its own.
[[nodiscard]] std::vector<std::shared_ptr<arrow::DataType>> OriginsOf(
    duckdb::LogicalOperator& plan);

}  // namespace infino::sql
