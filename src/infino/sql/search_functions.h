#pragma once

#include <memory>
#include <vector>

#include "duckdb/function/table_function.hpp"
#include "duckdb/main/database.hpp"
#include "duckdb/planner/expression.hpp"
#include "infino/sql/search_arguments.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/table_source.h"

namespace infino::sql {

/// The searches as table functions: `_id`, the stored columns, and `score` last.

/// A bound call of a search function.
struct SearchCall final : duckdb::TableFunctionData {
  std::string name;
  PinnedTable table;  ///< Its columns named as SQL names them.
  SearchRequest request;
  std::vector<SqlColumn> columns;  ///< Without the score, which comes after them.

  /// What rows have to fulfil to be searched at all; see RowScan::Select.
  duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> conditions;

  [[nodiscard]] duckdb::unique_ptr<duckdb::FunctionData> Copy() const override;
  [[nodiscard]] bool Equals(const duckdb::FunctionData& other) const override;
};

/// Whether a table function is one of the searches.
[[nodiscard]] bool IsSearch(const duckdb::TableFunction& function);

/// Adds the search functions to the database.
void RegisterSearches(duckdb::DatabaseInstance& database);

}  // namespace infino::sql
