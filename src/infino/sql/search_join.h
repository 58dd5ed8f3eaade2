#pragma once

#include "duckdb/common/unique_ptr.hpp"
#include "duckdb/planner/logical_operator.hpp"

namespace infino::sql {

/// Takes out inner joins of a search with its own table on `_id`: a search gives all stored columns
/// of the rows that it finds, and no two rows have one `_id`, so what the join would look up in the
/// table the search fetches itself. To be run before DuckDB's optimizers, after conditions were
/// given to searches.
void RemoveSelfJoins(duckdb::unique_ptr<duckdb::LogicalOperator>& plan);

}  // namespace infino::sql
