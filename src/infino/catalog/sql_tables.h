#pragma once

#include <memory>

#include "infino/query/row_selector.h"
#include "infino/sql/table_source.h"

namespace infino {

class Runtime;

/// Evaluates predicates by the runtime's SQL engine, which the first one starts. `runtime` outlives
/// it.
[[nodiscard]] std::shared_ptr<RowSelector> MakeSqlSelector(Runtime& runtime);

/// The tables of a connection for SQL. `runtime` outlives it.
[[nodiscard]] std::unique_ptr<sql::TableSource> MakeTableSource(Runtime& runtime);

}  // namespace infino
