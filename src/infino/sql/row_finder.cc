#include "infino/sql/row_finder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/util.h>
#include <arrow/result.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/filter/conjunction_filter.hpp"
#include "duckdb/planner/filter/constant_filter.hpp"
#include "duckdb/planner/filter/in_filter.hpp"
#include "duckdb/planner/filter/optional_filter.hpp"
#include "duckdb/storage/statistics/numeric_stats.hpp"
#include "infino/query/id_lookup.h"
#include "infino/query/pattern_candidates.h"
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
#include "infino/sql/text_patterns.h"

namespace infino::sql {
namespace {

/// To fetch a row costs about as much as to read so many in a scan.
constexpr int64_t kScannedPerFetched = 300;
constexpr int64_t kFetchedMax = 4096;

/// The same for rows that may fit a pattern. What a scan does with each text costs more then, and
/// many rows are fetched a page at a time.
constexpr int64_t kScannedPerCandidate = 20;
constexpr int64_t kCandidatesMax = int64_t{1} << 18;

using duckdb::Expression;
using duckdb::MultiFileReader;
using duckdb::TableFilter;
using duckdb::TableFilterType;
using duckdb::Value;

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

}  // namespace

RowFinder::RowFinder(duckdb::ClientContext& context, const duckdb::TableFunctionInitInput& input)
    : context_(context),
      state_(StatementState::Of(context)),
      list_(ScannedFiles(*input.bind_data)),
      columns_(ScannedColumns(*input.bind_data)),
      column_ids_(input.column_ids),
      table_(WithSqlNames(list_.table(), columns_)),
      stop_(StopOf(context)),
      query_{.environment = &state_.environment(),
             .snapshot = table_.snapshot.get(),
             .folder = &table_.folder,
             .stop = &stop_},
      entries_(list_.entries()),
      fetched_max_(std::min(kFetchedMax, list_.live_row_count() / kScannedPerFetched)) {
  for (const duckdb::column_t column : column_ids_) {
    if (column < columns_.size()) names_.push_back(columns_[column].name);
  }
}

RowFinder::Found RowFinder::Find(const duckdb::TableFilterSet& filters) {
  filters_ = &filters;
  for (const duckdb::column_t column : column_ids_) {
    const bool is_known = column < columns_.size() ||
                          column == MultiFileReader::COLUMN_IDENTIFIER_FILE_INDEX ||
                          column == MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER;
    if (!is_known) return std::nullopt;
  }
  for (const auto& [place, filter] : filters.filters) {
    if (column_ids_[place] >= columns_.size()) return std::nullopt;
    ARROW_ASSIGN_OR_RAISE(auto rows, FindBy(columns_[column_ids_[place]], *filter));
    if (rows.has_value()) return rows;
  }
  how_ = "pattern";
  return ByPatterns();
}

bool RowFinder::HasTextIndexOf(const SqlColumn& column) const {
  const TableColumn* const declared = table_.snapshot->root.schema.FindById(column.field_id);
  return declared != nullptr && declared->text.has_value();
}

/// Not for a part of a table, which others ask for that look for few rows.
RowFinder::Found RowFinder::FindBy(const SqlColumn& column, const TableFilter& filter) {
  if (fetched_max_ == 0 || table_.only != nullptr) return std::nullopt;
  if (const auto values = ValuesOf(filter)) {
    if (static_cast<int64_t>(values->size()) > fetched_max_) return std::nullopt;
    if (column.field_id == kIdFieldId) {
      how_ = "_id";
      return ByIds(*values);
    }
    if (HasTextIndexOf(column)) {
      how_ = "words of a text";
      return ByTexts(column, *values);
    }
  }
  // The column that is asked about alone costs no more to scan.
  if (!column.type.IsIntegral() || column_ids_.size() < 2) return std::nullopt;
  how_ = "range";
  return ByNumbers(column, filter);
}

RowFinder::Found RowFinder::ByIds(const std::vector<Value>& values) const {
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
  ARROW_ASSIGN_OR_RAISE(LocatedRows located, LocateRows(query_, ids, entries_));
  MatchedRows found{.hits = {}, .files = std::move(located.files)};
  for (const auto& [id, hit] : located.rows) found.hits.push_back(hit);
  return found;
}

/// The tokens of a text lead to the rows that may have it.
RowFinder::Found RowFinder::ByTexts(const SqlColumn& column,
                                    const std::vector<Value>& values) const {
  std::vector<std::string> texts;
  for (const Value& value : values) {
    if (!value.IsNull()) texts.push_back(value.ToString());
  }
  std::ranges::sort(texts);
  texts.erase(std::ranges::unique(texts).begin(), texts.end());
  MatchedRows found;
  for (const std::string& text : texts) {
    ExactMatchRequest request{.column = column.name, .value = text};
    request.stop = stop_;
    ARROW_ASSIGN_OR_RAISE(std::optional<MatchedRows> rows,
                          FindExactlyIfFew(query_, request, static_cast<uint64_t>(fetched_max_)));
    if (!rows.has_value()) return std::nullopt;
    const auto first = static_cast<uint32_t>(found.files.size());
    for (Hit hit : rows->hits) {
      hit.file += first;
      found.hits.push_back(hit);
    }
    std::ranges::move(rows->files, std::back_inserter(found.files));
  }
  if (texts.empty()) return std::nullopt;
  return found;
}

RowFinder::Found RowFinder::ByNumbers(const SqlColumn& column, const TableFilter& filter) const {
  std::optional<int64_t> least;
  std::optional<int64_t> greatest;
  Narrow(filter, least, greatest);
  if (!least || !greatest ||
      EstimateRows(column, *least, *greatest) > static_cast<double>(fetched_max_)) {
    return std::nullopt;
  }
  duckdb::vector<duckdb::unique_ptr<Expression>> conditions;
  for (const auto& [place, each] : filters_->filters) {
    const duckdb::column_t at = column_ids_[place];
    const duckdb::BoundReferenceExpression reference(columns_[at].type, at);
    conditions.push_back(each->ToExpression(reference));
  }
  ARROW_ASSIGN_OR_RAISE(const RowSelection rows, RowScan(*context_.db, state_.parquet_scan(),
                                                         query_, entries_, StatementThread::kDuckDb)
                                                     .Select(conditions, columns_));
  if (rows.row_count() > fetched_max_) return std::nullopt;
  return RowsOf(rows);
}

/// How many rows have a number in the range, if numbers are spread evenly between each file's
/// bounds.
double RowFinder::EstimateRows(const SqlColumn& column, int64_t least, int64_t greatest) const {
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

/// The terms that texts have that fit the patterns of all filters lead to the rows.
RowFinder::Found RowFinder::ByPatterns() const {
  std::vector<ColumnPattern> patterns;
  for (const auto& [place, filter] : filters_->filters) {
    const SqlColumn& column = columns_[column_ids_[place]];
    if (!HasTextIndexOf(column)) continue;
    for (text::TextPattern& pattern : PatternsOf(*filter)) {
      patterns.push_back({.field_id = column.field_id, .pattern = std::move(pattern)});
    }
  }
  const int64_t candidates_max =
      std::min(kCandidatesMax, list_.live_row_count() / kScannedPerCandidate);
  if (patterns.empty() || candidates_max == 0) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const std::optional<PatternCandidates> candidates,
                        CandidatesOf(query_, patterns, entries_));
  if (!candidates.has_value() || candidates->row_count > candidates_max) return std::nullopt;
  return RowsOf(candidates->rows);
}

arrow::Result<MatchedRows> RowFinder::RowsOf(const RowSelection& selection) const {
  std::vector<const SuperfileEntry*> with_rows;
  std::ranges::copy_if(entries_, std::back_inserter(with_rows), [&](const SuperfileEntry* entry) {
    return selection.Find(entry->id) != nullptr;
  });
  const QueryEnvironment& environment = *query_.environment;
  MatchedRows found;
  ARROW_ASSIGN_OR_RAISE(found.files, environment.superfiles->Open(table_.folder, with_rows, stop_,
                                                                  environment.pool.get()));
  for (uint32_t file = 0; file < found.files.size(); ++file) {
    selection.Find(with_rows[file]->id)->ForEach([&](DocId doc) {
      found.hits.push_back({.id = found.files[file]->IdOf(doc), .file = file, .doc = doc});
    });
  }
  return found;
}

arrow::Result<std::shared_ptr<arrow::Table>> RowFinder::Fetch(const MatchedRows& rows,
                                                              std::span<const Hit> hits) const {
  ARROW_ASSIGN_OR_RAISE(const Projection projection,
                        ResolveProjection(table_.snapshot->root.schema, names_,
                                          /*number_queries=*/false, /*scored=*/false));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Table> table,
                        FetchRows(hits, rows.files, projection, query_));
  for (size_t i = 0; i < column_ids_.size(); ++i) {
    if (column_ids_[i] < columns_.size()) continue;
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Array> values,
                          Hidden(column_ids_[i], rows, hits));
    const auto field = arrow::field("", values->type());
    ARROW_ASSIGN_OR_RAISE(table, table->AddColumn(static_cast<int>(i), field,
                                                  std::make_shared<arrow::ChunkedArray>(values)));
  }
  return table;
}

/// The place of each row's superfile in the snapshot, or of the row in its superfile.
arrow::Result<std::shared_ptr<arrow::Array>> RowFinder::Hidden(duckdb::column_t column,
                                                               const MatchedRows& rows,
                                                               std::span<const Hit> hits) const {
  if (column == MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER) {
    arrow::Int64Builder docs;
    ARROW_RETURN_NOT_OK(docs.Reserve(static_cast<int64_t>(hits.size())));
    for (const Hit& hit : hits) docs.UnsafeAppend(hit.doc);
    return docs.Finish();
  }
  std::vector<uint64_t> places;  // by file
  for (const auto& file : rows.files) {
    const auto entry = std::ranges::find(entries_, file->id(), &SuperfileEntry::id);
    places.push_back(list_.items()[static_cast<size_t>(entry - entries_.begin())]);
  }
  arrow::UInt64Builder files;
  ARROW_RETURN_NOT_OK(files.Reserve(static_cast<int64_t>(hits.size())));
  for (const Hit& hit : hits) files.UnsafeAppend(places[hit.file]);
  return files.Finish();
}

duckdb::vector<duckdb::LogicalType> RowFinder::types() const {
  duckdb::vector<duckdb::LogicalType> types;
  for (const duckdb::column_t column : column_ids_) {
    if (column < columns_.size()) {
      types.push_back(columns_[column].type);
    } else {
      types.push_back(column == MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER
                          ? duckdb::LogicalType::BIGINT
                          : duckdb::LogicalType::UBIGINT);
    }
  }
  return types;
}

}  // namespace infino::sql
