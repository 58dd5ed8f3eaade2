#pragma once

#include "duckdb/main/database.hpp"

namespace infino::sql {

/// Makes a WHERE over a search a condition of the search: so k rows that fulfil it are found, not
/// those that are left of the k best.
///
/// Before DuckDB's own optimizers run, each filter of the plan as it was written is followed down
/// to the searches below it, through projections, orderings, inner joins, and to the left side of
/// joins that keep or drop its rows as they are; not through a limit, an aggregate, a window, the
/// other side of an outer join or a common table expression: what a filter means there is not what
/// it would mean below. What of its conjuncts speaks of a search's stored columns
/// alone, and gives the same for the same row each time, becomes a condition of the search. The
/// filter stays, and checks again. Then RemoveSelfJoins runs, and in the end UseValueCounts.
void RegisterSearchRules(duckdb::DatabaseInstance& database);

}  // namespace infino::sql
