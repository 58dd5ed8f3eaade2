#include "infino/sql/few_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/table.h>

#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/filter/conjunction_filter.hpp"
#include "duckdb/planner/filter/constant_filter.hpp"
#include "duckdb/planner/filter/in_filter.hpp"
#include "duckdb/planner/filter/optional_filter.hpp"
#include "duckdb/storage/statistics/numeric_stats.hpp"
#include "infino/query/id_lookup.h"
#include "infino/query/projection.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/text_executor.h"
#include "infino/search.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/manifest_statistics.h"
#include "infino/sql/row_scan.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/superfile_list.h"
#include "infino/sql/superfile_scan.h"
#include "infino/sql/table_names.h"

namespace infino::sql {
namespace {

using duckdb::Expression;
using duckdb::TableFilter;
using duckdb::TableFilterType;
using duckdb::Value;

/// To fetch a row costs about as much as to read so many in a scan.
constexpr int64_t kScannedPerFetched = 300;
constexpr int64_t kFetchedMax = 4096;

/// The values that a filter lets pass, if it says so.
std::optional<std::vector<Value>> ValuesOf(const TableFilter& filter) {
  switch (filter.filter_type) {
    case TableFilterType::CONSTANT_COMPARISON: {
      const auto& constant = filter.Cast<duckdb::ConstantFilter>();
      if (constant.comparison_type != duckdb::ExpressionType::COMPARE_EQUAL) return std::nullopt;
      return std::vector<Value>{constant.constant};
    }
    case TableFilterType::IN_FILTER: {
      const auto& values = filter.Cast<duckdb::InFilter>().values;
      return std::vector<Value>(values.begin(), values.end());
    }
    case TableFilterType::OPTIONAL_FILTER: {
      const auto& child = filter.Cast<duckdb::OptionalFilter>().child_filter;
      return child == nullptr ? std::nullopt : ValuesOf(*child);
    }
    case TableFilterType::CONJUNCTION_AND:
      for (const auto& child : filter.Cast<duckdb::ConjunctionAndFilter>().child_filters) {
        if (auto values = ValuesOf(*child)) return values;
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

/// Takes in what a filter says of the least and the greatest number that passes.
void Narrow(const TableFilter& filter, std::optional<int64_t>& least,
            std::optional<int64_t>& greatest) {
  if (filter.filter_type == TableFilterType::CONJUNCTION_AND) {
    for (const auto& child : filter.Cast<duckdb::ConjunctionAndFilter>().child_filters) {
      Narrow(*child, least, greatest);
    }
  }
  if (filter.filter_type != TableFilterType::CONSTANT_COMPARISON) return;
  const auto& constant = filter.Cast<duckdb::ConstantFilter>();
  Value number;
  duckdb::string out_of_range;  // Without it the cast throws.
  if (!constant.constant.DefaultTryCastAs(duckdb::LogicalType::BIGINT, number, &out_of_range)) {
    return;
  }
  const auto bound = number.GetValue<int64_t>();
  const duckdb::ExpressionType comparison = constant.comparison_type;
  const bool is_equal = comparison == duckdb::ExpressionType::COMPARE_EQUAL;
  if (is_equal || comparison == duckdb::ExpressionType::COMPARE_GREATERTHAN ||
      comparison == duckdb::ExpressionType::COMPARE_GREATERTHANOREQUALTO) {
    least = std::max(least.value_or(bound), bound);
  }
  if (is_equal || comparison == duckdb::ExpressionType::COMPARE_LESSTHAN ||
      comparison == duckdb::ExpressionType::COMPARE_LESSTHANOREQUALTO) {
    greatest = std::min(greatest.value_or(bound), bound);
  }
}

/// The search for the few rows of one scan.
class Finder {
 public:
  Finder(duckdb::ClientContext& context, const duckdb::TableFunctionInitInput& input)
      : context_(context),
        state_(StatementState::Of(context)),
        input_(input),
        list_(ScannedFiles(*input.bind_data)),
        columns_(ScannedColumns(*input.bind_data)),
        table_(WithSqlNames(list_.table(), columns_)),
        stop_(StopOf(context)),
        query_{.environment = &state_.environment(),
               .snapshot = table_.snapshot.get(),
               .folder = &table_.folder,
               .stop = &stop_} {
    entries_ = list_.entries();
    fetched_max_ = std::min(kFetchedMax, list_.live_row_count() / kScannedPerFetched);
  }

  /// Null if nothing tells that they are few.
  arrow::Result<std::shared_ptr<arrow::Table>> Find() {
    if (fetched_max_ == 0) return nullptr;
    for (const duckdb::column_t column : input_.column_ids) {
      if (column >= columns_.size()) return nullptr;
      names_.push_back(columns_[column].name);
    }
    for (const auto& [place, filter] : input_.filters->filters) {
      const SqlColumn& column = columns_[input_.column_ids[place]];
      ARROW_ASSIGN_OR_RAISE(auto rows, FindBy(column, *filter));
      if (rows != nullptr) return rows;
    }
    return nullptr;
  }

 private:
  arrow::Result<std::shared_ptr<arrow::Table>> FindBy(const SqlColumn& column,
                                                      const TableFilter& filter) {
    if (const auto values = ValuesOf(filter)) {
      if (static_cast<int64_t>(values->size()) > fetched_max_) return nullptr;
      if (column.field_id == kIdFieldId) return ByIds(*values);
      const TableColumn* const declared = table_.snapshot->root.schema.FindById(column.field_id);
      if (declared != nullptr && declared->text) return ByTexts(column, *values);
    }
    // The column that is asked about alone costs no more to scan.
    if (!column.type.IsIntegral() || input_.column_ids.size() < 2) return nullptr;
    return ByNumbers(column, filter);
  }

  arrow::Result<Projection> Columns() const {
    return ResolveProjection(table_.snapshot->root.schema, names_, /*number_queries=*/false,
                             /*scored=*/false);
  }

  arrow::Result<std::shared_ptr<arrow::Table>> ByIds(const std::vector<Value>& values) {
    std::vector<RowId> ids;
    for (const Value& value : values) {
      Value decimal;
      duckdb::string out_of_range;  // Without it the cast throws.
      if (value.IsNull() ||
          !value.DefaultTryCastAs(duckdb::LogicalType::DECIMAL(38, 0), decimal, &out_of_range)) {
        continue;
      }
      const auto number = decimal.GetValueUnsafe<duckdb::hugeint_t>();
      if (number.upper < 0) continue;  // No row has such an id.
      ids.push_back({.high = static_cast<uint64_t>(number.upper), .low = number.lower});
    }
    ARROW_ASSIGN_OR_RAISE(const Projection projection, Columns());
    ARROW_ASSIGN_OR_RAISE(const LocatedRows located, LocateRows(query_, ids, entries_));
    std::vector<Hit> hits;
    for (const auto& [id, hit] : located.rows) hits.push_back(hit);
    return FetchRows(hits, located.files, projection, query_);
  }

  /// The tokens of a text lead to the rows that may have it.
  arrow::Result<std::shared_ptr<arrow::Table>> ByTexts(const SqlColumn& column,
                                                       const std::vector<Value>& values) {
    std::vector<std::shared_ptr<arrow::Table>> found;
    std::vector<std::string> texts;
    for (const Value& value : values) {
      if (!value.IsNull()) texts.push_back(value.ToString());
    }
    std::ranges::sort(texts);
    texts.erase(std::ranges::unique(texts).begin(), texts.end());
    for (const std::string& text : texts) {
      ExactMatchRequest request{.column = column.name, .value = text};
      request.projection = names_;
      request.stop = stop_;
      ARROW_ASSIGN_OR_RAISE(
          auto rows, MatchExactlyIfFew(query_, request, static_cast<uint64_t>(fetched_max_)));
      if (rows == nullptr) return nullptr;
      found.push_back(std::move(rows));
    }
    if (found.empty()) return nullptr;
    return arrow::ConcatenateTables(found);
  }

  arrow::Result<std::shared_ptr<arrow::Table>> ByNumbers(const SqlColumn& column,
                                                         const TableFilter& filter) {
    std::optional<int64_t> least;
    std::optional<int64_t> greatest;
    Narrow(filter, least, greatest);
    if (!least || !greatest ||
        EstimateRows(column, *least, *greatest) > static_cast<double>(fetched_max_)) {
      return nullptr;
    }
    duckdb::vector<duckdb::unique_ptr<Expression>> conditions;
    for (const auto& [place, each] : input_.filters->filters) {
      const duckdb::column_t at = input_.column_ids[place];
      const duckdb::BoundReferenceExpression reference(columns_[at].type, at);
      conditions.push_back(each->ToExpression(reference));
    }
    ARROW_ASSIGN_OR_RAISE(
        const RowSelection rows,
        RowScan(*context_.db, state_.parquet_scan(), query_, entries_, StatementThread::kDuckDb)
            .Select(conditions, columns_));
    if (rows.row_count() > fetched_max_) return nullptr;
    return Fetch(rows);
  }

  /// How many rows have a number in the range, if numbers are spread evenly between each file's
  /// bounds.
  [[nodiscard]] double EstimateRows(const SqlColumn& column, int64_t least,
                                    int64_t greatest) const {
    double rows = 0;
    for (size_t item = 0; item < list_.items().size(); ++item) {
      const duckdb::BaseStatistics statistics = StatisticsOfOne(list_, item, column);
      const auto all = static_cast<double>(entries_[item]->row_count);
      if (!duckdb::NumericStats::HasMinMax(statistics)) {
        rows += all;
        continue;
      }
      const auto min = duckdb::NumericStats::Min(statistics).GetValue<double>();
      const auto max = duckdb::NumericStats::Max(statistics).GetValue<double>();
      const double overlap = std::min(max, static_cast<double>(greatest)) -
                             std::max(min, static_cast<double>(least)) + 1;
      rows += std::clamp(overlap / (max - min + 1), 0.0, 1.0) * all;
    }
    return rows;
  }

  arrow::Result<std::shared_ptr<arrow::Table>> Fetch(const RowSelection& rows) {
    std::vector<const SuperfileEntry*> with_rows;
    std::ranges::copy_if(entries_, std::back_inserter(with_rows), [&](const SuperfileEntry* entry) {
      return rows.Find(entry->id) != nullptr;
    });
    const QueryEnvironment& environment = *query_.environment;
    ARROW_ASSIGN_OR_RAISE(
        const auto files,
        environment.superfiles->Open(table_.folder, with_rows, stop_, environment.pool.get()));
    std::vector<Hit> hits;
    for (uint32_t file = 0; file < files.size(); ++file) {
      rows.Find(with_rows[file]->id)->ForEach([&](DocId doc) {
        hits.push_back({.id = files[file]->IdOf(doc), .file = file, .doc = doc});
      });
    }
    ARROW_ASSIGN_OR_RAISE(const Projection projection, Columns());
    return FetchRows(hits, files, projection, query_);
  }

  duckdb::ClientContext& context_;
  StatementState& state_;
  const duckdb::TableFunctionInitInput& input_;
  const SuperfileList& list_;
  const std::vector<SqlColumn>& columns_;
  const PinnedTable table_;
  const StopCondition stop_;
  const QueryContext query_;
  std::vector<const SuperfileEntry*> entries_;
  std::vector<std::string> names_;  // of the columns to be given
  int64_t fetched_max_ = 0;
};

/// Whether a filter has to be applied for the result to be right, and can be.
bool IsCheck(const TableFilter& filter) {
  return filter.filter_type != TableFilterType::OPTIONAL_FILTER &&
         filter.filter_type != TableFilterType::DYNAMIC_FILTER &&
         filter.filter_type != TableFilterType::BLOOM_FILTER;
}

}  // namespace

arrow::Result<std::unique_ptr<FewRows>> FewRows::Find(duckdb::ClientContext& context,
                                                      const duckdb::TableFunctionInitInput& input) {
  const bool is_whole_table = ScannedFiles(*input.bind_data).table().only == nullptr;
  if (input.filters == nullptr || input.filters->filters.empty() || !is_whole_table) return nullptr;
  ARROW_ASSIGN_OR_RAISE(const auto rows, Finder(context, input).Find());
  if (rows == nullptr) return nullptr;
  auto few = std::make_unique<FewRows>();
  ARROW_RETURN_NOT_OK(few->rows_.Set(context, *rows));
  const std::vector<SqlColumn>& columns = ScannedColumns(*input.bind_data);
  for (const duckdb::column_t column : input.column_ids) {
    few->types_.push_back(columns[column].type);
  }
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

void FewRows::Next(duckdb::ClientContext& context, duckdb::DataChunk& chunk) {
  duckdb::DataChunk rows;
  rows.Initialize(context, types_);
  do {
    rows.Reset();
    rows_.Next(context, rows);
    if (rows.size() == 0) break;
    for (const auto& check : checks_) {
      duckdb::ExpressionExecutor executor(context, *check);
      duckdb::SelectionVector passing(STANDARD_VECTOR_SIZE);
      const duckdb::idx_t count = executor.SelectExpression(rows, passing);
      if (count < rows.size()) rows.Slice(passing, count);
    }
  } while (rows.size() == 0);
  for (size_t i = 0; i < output_.size(); ++i) chunk.data[i].Reference(rows.data[output_[i]]);
  chunk.SetCardinality(rows.size());
}

}  // namespace infino::sql
