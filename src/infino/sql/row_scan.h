#pragma once

#include <span>
#include <string>

#include <arrow/result.h>

#include "duckdb.hpp"
#include "duckdb/planner/expression.hpp"
#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/sql/execution.h"
#include "infino/sql/sql_types.h"

namespace infino::sql {

/// The rows of a table that a condition selects, by a statement of our own. Not deleted ones. What
/// DuckDB throws goes to the caller.
class RowScan {
 public:
  /// All outlive it; `entries` are superfiles of the context's snapshot. Environment, snapshot and
  /// folder are the context's.
  RowScan(duckdb::DatabaseInstance& database, const duckdb::TableFunction& parquet_scan,
          const QueryContext& context, std::span<const SuperfileEntry* const> entries,
          StatementThread thread)
      : database_(database),
        parquet_scan_(parquet_scan),
        context_(context),
        entries_(entries),
        thread_(thread) {}

  /// The rows for which `predicate`, one boolean expression as in a WHERE clause, is true.
  /// kInvalidArgument for anything else, subqueries included.
  [[nodiscard]] arrow::Result<RowSelection> Select(const std::string& predicate) const;

  /// The rows for which all of `conditions` are true. Their column references are bound to
  /// `columns`, those of the table, by place.
  [[nodiscard]] arrow::Result<RowSelection> Select(
      const duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>& conditions,
      const std::vector<SqlColumn>& columns) const;

 private:
  duckdb::DatabaseInstance& database_;
  const duckdb::TableFunction& parquet_scan_;
  const QueryContext& context_;
  const std::span<const SuperfileEntry* const> entries_;
  const StatementThread thread_;
};

}  // namespace infino::sql
