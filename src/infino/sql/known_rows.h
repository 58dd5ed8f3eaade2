#pragma once

#include <span>

#include <arrow/result.h>

#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/expression.hpp"
#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/sql/sql_types.h"

namespace infino::sql {

/// As RowScan::Select, but scans only superfiles whose rows are not known from the same conditions
/// asked before; see ConditionCache.
[[nodiscard]] arrow::Result<RowSelection> SelectKnownRows(
    duckdb::ClientContext& context, const QueryContext& query,
    std::span<const SuperfileEntry* const> entries,
    const duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>& conditions,
    const std::vector<SqlColumn>& columns);

}  // namespace infino::sql
