#pragma once

#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/logical_operator.hpp"

namespace infino::sql {

/// Writes `text LIKE pattern` with an ESCAPE that escapes nothing where what is before the first
/// wildcard ends in the last byte of its kind (as '¿_%' and '\x7F%a' do): DuckDB makes bounds of
/// that beginning by counting the byte up, and fails when that is no UTF-8. Runs before its
/// optimizers.
void RewriteLikes(duckdb::ClientContext& context, duckdb::LogicalOperator& plan);

}  // namespace infino::sql
