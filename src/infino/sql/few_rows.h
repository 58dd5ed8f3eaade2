#pragma once

#include <memory>

#include <arrow/result.h>

#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/expression.hpp"
#include "infino/sql/arrow_columns.h"

namespace infino::sql {

/// The rows that pass the filters of a scan, where they are so few that to fetch each of them costs
/// less than to read all: rows of given ids, of a given text in a column with a keyword index, or
/// of a narrow range of numbers. Used by one thread.
class FewRows {
 public:
  /// Null if they are not, or nothing tells that they are. `input` is what a scan's init_global
  /// gets. Blocks in Wait.
  [[nodiscard]] static arrow::Result<std::unique_ptr<FewRows>> Find(
      duckdb::ClientContext& context, const duckdb::TableFunctionInitInput& input);

  /// As ArrowColumns::Next: rows that pass all filters.
  void Next(duckdb::ClientContext& context, duckdb::DataChunk& chunk);

 private:
  ArrowColumns rows_;
  duckdb::vector<duckdb::LogicalType> types_;                      // of rows_
  duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> checks_;  // over rows_
  duckdb::vector<duckdb::idx_t> output_;                           // columns of rows_
};

}  // namespace infino::sql
