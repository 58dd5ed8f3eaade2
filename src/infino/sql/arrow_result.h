#pragma once

#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "duckdb/main/client_context.hpp"
#include "duckdb/main/query_result.hpp"
#include "infino/options.h"

namespace infino::sql {

/// The rows of a finished statement. Columns are nullable; their types are those of ToResultType
/// for columns of tables, by `origins` (OriginsOf), else of ToArrowType. Names that come twice get
/// a number; count_star() is count(*). kInvalidArgument for a hugeint beyond int64. Blocks while
/// DuckDB reads what it has spilled.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> ToArrowTable(
    duckdb::QueryResult& result, duckdb::ClientContext& context,
    const std::vector<std::shared_ptr<arrow::DataType>>& origins, const StopCondition& stop);

}  // namespace infino::sql
