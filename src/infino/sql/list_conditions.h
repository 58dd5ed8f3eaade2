#pragma once

#include "duckdb/common/helper.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/expression.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"

namespace infino::sql {

/// What the mark of a join says, if its right side is just the elements of a constant list, which
/// `x = ANY(list)` and `x IN (SELECT unnest(list))` become: true for the same rows as `x IN (…)`
/// with these elements, over the left side. Null for any other join.
[[nodiscard]] duckdb::unique_ptr<duckdb::Expression> ListCondition(
    duckdb::ClientContext& context, const duckdb::LogicalComparisonJoin& join);

}  // namespace infino::sql
