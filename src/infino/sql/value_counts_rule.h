#pragma once

#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/logical_operator.hpp"

namespace infino::sql {

/// Answers aggregates over one column of a table from the counts of its values.
///
/// On the plan as it was written: an aggregate or a DISTINCT over filters and projections of a
/// table, where all of them together read one column only and the manifest tells how often each of
/// its values occurs (CanCountValues), gets the values with their counts (CountedValues) in place
/// of the scan. Filters and projections stay; `count` becomes a sum of counts; `min`, `max` and
/// what is DISTINCT don't care how often a value occurs. With any other aggregate, or anything that
/// gives another result each time, the plan stays as it is.
void UseValueCounts(duckdb::ClientContext& context, duckdb::LogicalOperator& plan);

}  // namespace infino::sql
