#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include <arrow/result.h>

#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/expression.hpp"
#include "infino/query/text_executor.h"
#include "infino/sql/arrow_columns.h"
#include "infino/sql/row_finder.h"

namespace infino::sql {

/// The rows that pass the filters of a scan, where those that may are so few that to fetch each of
/// them costs less than to read all: rows of given ids, of a given text in a column with a keyword
/// index, of texts that fit a pattern, or of a narrow range of numbers. They are fetched and
/// checked a batch at a time, by any number of threads.
class FewRows {
 public:
  /// What one thread is at.
  struct Reading final : duckdb::LocalTableFunctionState {
    ArrowColumns rows;
    size_t batch = 0;  ///< Which one they are.
  };

  /// Null if they are not, or nothing tells that they are. `input` is what a scan's init_global
  /// gets. Blocks in Wait.
  [[nodiscard]] static arrow::Result<std::unique_ptr<FewRows>> Find(
      duckdb::ClientContext& context, const duckdb::TableFunctionInitInput& input);

  /// For Find.
  FewRows(duckdb::ClientContext& context, const duckdb::TableFunctionInitInput& input)
      : finder_(context, input) {}

  [[nodiscard]] size_t batch_count() const;

  /// How they were found and how many are fetched, for people.
  [[nodiscard]] std::string Describe() const;

  /// As ArrowColumns::Next: rows that pass all filters. Thread-safe, each with a `reading` of its
  /// own; blocks in Wait.
  void Next(duckdb::ClientContext& context, Reading& reading, duckdb::DataChunk& chunk);

 private:
  [[nodiscard]] arrow::Result<bool> NextBatch(duckdb::ClientContext& context, Reading& reading);

  RowFinder finder_;
  MatchedRows rows_;
  duckdb::vector<duckdb::LogicalType> types_;                      // of what is fetched
  duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> checks_;  // over that
  duckdb::vector<duckdb::idx_t> output_;                           // columns of that

  std::mutex mutex_;
  size_t next_batch_ = 0;
};

}  // namespace infino::sql
