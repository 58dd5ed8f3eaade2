#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/table.h>

#include "duckdb/common/types/value.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/table_filter.hpp"
#include "infino/common/ids.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/row_selection.h"
#include "infino/query/text_executor.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/superfile_list.h"
#include "infino/sql/table_source.h"

namespace infino::sql {

/// The search for the few rows that may pass the filters of one scan. Lives as long as they are
/// fetched.
class RowFinder {
 public:
  /// `input` is what a scan's init_global gets; its bind data and the context outlive the finder.
  RowFinder(duckdb::ClientContext& context, const duckdb::TableFunctionInitInput& input);

  /// Rows among which all are that pass; nothing if they are not few, or nothing tells. Used by one
  /// thread; blocks in Wait.
  [[nodiscard]] arrow::Result<std::optional<MatchedRows>> Find(
      const duckdb::TableFilterSet& filters);

  /// By what Find found them.
  [[nodiscard]] const std::string& how() const { return how_; }

  /// Columns of the scan, of its hidden ones too, of some of `rows`. Thread-safe; blocks in Wait.
  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> Fetch(const MatchedRows& rows,
                                                                   std::span<const Hit> hits) const;

  /// The types of the columns of Fetch.
  [[nodiscard]] duckdb::vector<duckdb::LogicalType> types() const;

 private:
  using Found = arrow::Result<std::optional<MatchedRows>>;

  [[nodiscard]] Found FindBy(const SqlColumn& column, const duckdb::TableFilter& filter);
  [[nodiscard]] Found ByIds(const std::vector<duckdb::Value>& values) const;
  [[nodiscard]] Found ByTexts(const SqlColumn& column,
                              const std::vector<duckdb::Value>& values) const;
  [[nodiscard]] Found ByNumbers(const SqlColumn& column, const duckdb::TableFilter& filter) const;
  [[nodiscard]] Found ByPatterns() const;
  [[nodiscard]] double EstimateRows(const SqlColumn& column, int64_t least, int64_t greatest) const;
  [[nodiscard]] arrow::Result<MatchedRows> RowsOf(const RowSelection& selection) const;
  [[nodiscard]] bool HasTextIndexOf(const SqlColumn& column) const;
  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> Hidden(
      duckdb::column_t column, const MatchedRows& rows, std::span<const Hit> hits) const;

  duckdb::ClientContext& context_;
  StatementState& state_;
  const SuperfileList& list_;
  const std::vector<SqlColumn>& columns_;
  const duckdb::vector<duckdb::column_t> column_ids_;
  const duckdb::TableFilterSet* filters_ = nullptr;  // while Find runs
  const PinnedTable table_;
  const StopCondition stop_;
  const QueryContext query_;
  const std::vector<const SuperfileEntry*> entries_;
  std::vector<std::string> names_;  // of the columns to be fetched
  int64_t fetched_max_ = 0;
  std::string how_;
};

}  // namespace infino::sql
