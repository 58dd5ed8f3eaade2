#pragma once

#include "duckdb/function/table_function.hpp"

namespace infino::sql {

/// Lets DuckDB copy plans with this function in them, what they are bound to included. DuckDB
/// copies a plan by writing it down and reading it back within one call, so what is written is
/// where the original is. The function must be in the catalog, by its name.
void LetPlansBeCopied(duckdb::TableFunction& function);

}  // namespace infino::sql
