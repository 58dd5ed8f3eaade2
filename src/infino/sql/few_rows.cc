#include "infino/sql/few_rows.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <arrow/result.h>

#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/table_filter.hpp"
#include "infino/query/result_rows.h"
#include "infino/query/text_executor.h"
#include "infino/sql/arrow_columns.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/row_finder.h"

namespace infino::sql {
namespace {

/// So many rows are held at once by a thread.
constexpr size_t kBatchSize = 512;

/// Whether a filter has to be applied for the result to be right, and can be.
bool IsCheck(const duckdb::TableFilter& filter) {
  return filter.filter_type != duckdb::TableFilterType::OPTIONAL_FILTER &&
         filter.filter_type != duckdb::TableFilterType::DYNAMIC_FILTER &&
         filter.filter_type != duckdb::TableFilterType::BLOOM_FILTER;
}

}  // namespace

arrow::Result<std::unique_ptr<FewRows>> FewRows::Find(duckdb::ClientContext& context,
                                                      const duckdb::TableFunctionInitInput& input) {
  if (input.filters == nullptr || input.filters->filters.empty()) return nullptr;
  auto few = std::make_unique<FewRows>(context, input);
  ARROW_ASSIGN_OR_RAISE(std::optional<MatchedRows> rows, few->finder_.Find(*input.filters));
  if (!rows.has_value()) return nullptr;
  few->rows_ = *std::move(rows);
  few->types_ = few->finder_.types();
  for (const auto& [place, filter] : input.filters->filters) {
    if (!IsCheck(*filter)) continue;
    const duckdb::BoundReferenceExpression reference(few->types_[place], place);
    few->checks_.push_back(filter->ToExpression(reference));
  }
  few->output_.assign(input.projection_ids.begin(), input.projection_ids.end());
  if (input.projection_ids.empty()) {
    few->output_.resize(few->types_.size());
    std::iota(few->output_.begin(), few->output_.end(), size_t{0});
  }
  return few;
}

size_t FewRows::batch_count() const {
  return (rows_.hits.size() + kBatchSize - 1) / kBatchSize;
}

std::string FewRows::Describe() const {
  return finder_.how() + ", " + std::to_string(rows_.hits.size()) + " fetched";
}

/// Fetches the rows of a batch that no thread has had yet; false if there is none.
arrow::Result<bool> FewRows::NextBatch(duckdb::ClientContext& context, Reading& reading) {
  {
    const std::lock_guard lock(mutex_);
    if (next_batch_ == batch_count()) return false;
    reading.batch = next_batch_++;
  }
  const size_t first = reading.batch * kBatchSize;
  const auto hits = std::span<const Hit>(rows_.hits)
                        .subspan(first, std::min(kBatchSize, rows_.hits.size() - first));
  ARROW_ASSIGN_OR_RAISE(const auto table, finder_.Fetch(rows_, hits));
  ARROW_RETURN_NOT_OK(reading.rows.Set(context, *table));
  return true;
}

void FewRows::Next(duckdb::ClientContext& context, Reading& reading, duckdb::DataChunk& chunk) {
  duckdb::DataChunk rows;
  rows.Initialize(context, types_);
  while (true) {
    rows.Reset();
    reading.rows.Next(context, rows);
    if (rows.size() == 0) {
      if (!ValueOrThrow(context, NextBatch(context, reading))) break;
      continue;
    }
    for (const auto& check : checks_) {
      duckdb::ExpressionExecutor executor(context, *check);
      duckdb::SelectionVector passing(STANDARD_VECTOR_SIZE);
      const duckdb::idx_t count = executor.SelectExpression(rows, passing);
      if (count < rows.size()) rows.Slice(passing, count);
    }
    if (rows.size() > 0) break;
  }
  for (size_t i = 0; i < output_.size(); ++i) chunk.data[i].Reference(rows.data[output_[i]]);
  chunk.SetCardinality(rows.size());
}

}  // namespace infino::sql
