#include "infino/query/text_executor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

#include "infino/error.h"
#include "infino/index/text/text_search.h"
#include "infino/query/condition.h"
#include "infino/query/projection.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/row_selection.h"
#include "infino/query/text_plan.h"
#include "infino/query/text_run.h"
#include "infino/search.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"

namespace infino {
namespace {

/// So many rows' texts are held at once while they are compared.
constexpr size_t kCompareAtOnce = 4096;

arrow::Result<TextPlan> Plan(const QueryContext& context, const TextQuestion& question) {
  return PlanText(question, *context.snapshot, *context.folder,
                  context.environment->term_filters.get(), *context.stop);
}

/// A text of an array of any of the three text types; nothing for a null.
arrow::Result<std::optional<std::string_view>> TextAt(const arrow::Array& array, int64_t i) {
  if (array.IsNull(i)) return std::nullopt;
  switch (array.type_id()) {
    case arrow::Type::STRING:
      return arrow::internal::checked_cast<const arrow::StringArray&>(array).GetView(i);
    case arrow::Type::LARGE_STRING:
      return arrow::internal::checked_cast<const arrow::LargeStringArray&>(array).GetView(i);
    case arrow::Type::STRING_VIEW:
      return arrow::internal::checked_cast<const arrow::StringViewArray&>(array).GetView(i);
    default:
      return MakeError(ErrorKind::kInternal,
                       "compare texts: the column is of type " + array.type()->ToString());
  }
}

/// Appends to `kept` those of `hits` whose text, the only column of `texts`, is `value`.
arrow::Status KeepExact(const arrow::Table& texts, std::span<const Hit> hits,
                        const std::string& value, std::vector<Hit>& kept) {
  size_t at = 0;
  for (const std::shared_ptr<arrow::Array>& chunk : texts.column(0)->chunks()) {
    for (int64_t i = 0; i < chunk->length(); ++i, ++at) {
      ARROW_ASSIGN_OR_RAISE(const std::optional<std::string_view> stored, TextAt(*chunk, i));
      if (stored == value) kept.push_back(hits[at]);
    }
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Table>> SearchText(const QueryEnvironment& environment,
                                                        const Snapshot& snapshot,
                                                        const std::string& folder,
                                                        const TextSearchRequest& request) {
  const QueryContext context{&environment, &snapshot, &folder, &request.stop};
  const TableSchema& schema = snapshot.root.schema;
  ARROW_ASSIGN_OR_RAISE(const TableColumn* column, FindTextColumn(schema, request.column));
  ARROW_ASSIGN_OR_RAISE(const Bm25Parameters bm25,
                        ResolveBm25(*column->text, request.k1, request.b));
  ARROW_ASSIGN_OR_RAISE(const Projection projection, ResolveProjection(schema, request.projection));
  const TextQuestion question{.column = request.column,
                              .text = request.query,
                              .mode = request.mode,
                              .ranked = true,
                              .is_prefix = request.is_prefix};
  ARROW_ASSIGN_OR_RAISE(TextPlan plan, Plan(context, question));
  ARROW_ASSIGN_OR_RAISE(const auto selection,
                        SelectByRequest(context, std::nullopt, request.where, plan.entries));
  if (request.k == 0 || plan.entries.empty()) {
    return FetchRows({}, {}, projection, context);
  }
  ARROW_ASSIGN_OR_RAISE(
      const std::unique_ptr<TextRun> run,
      TextRun::Start(
          context, std::move(plan),
          {.mode = text::TextSearchMode::kRanked, .k = request.k, .k1 = bm25.k1, .b = bm25.b},
          selection ? &*selection : nullptr));
  ARROW_RETURN_NOT_OK(run->Run());
  ARROW_RETURN_NOT_OK(run->Rank());
  return FetchRows(run->TopHits(request.k), run->files(), projection, context);
}

arrow::Result<std::shared_ptr<arrow::Table>> MatchTokens(const QueryEnvironment& environment,
                                                         const Snapshot& snapshot,
                                                         const std::string& folder,
                                                         const MatchRequest& request) {
  const QueryContext context{&environment, &snapshot, &folder, &request.stop};
  ARROW_ASSIGN_OR_RAISE(
      TextPlan plan,
      Plan(context, {.column = request.column, .text = request.query, .mode = request.mode}));
  ARROW_ASSIGN_OR_RAISE(const Projection projection,
                        ResolveProjection(snapshot.root.schema, request.projection));
  ARROW_ASSIGN_OR_RAISE(const auto selection,
                        SelectByRequest(context, std::nullopt, request.where, plan.entries));
  ARROW_ASSIGN_OR_RAISE(
      const std::unique_ptr<TextRun> run,
      TextRun::Start(context, std::move(plan), {.mode = text::TextSearchMode::kMatchAll},
                     selection ? &*selection : nullptr));
  ARROW_RETURN_NOT_OK(run->Run());
  return FetchRows(run->Matches(), run->files(), projection, context);
}

arrow::Result<std::shared_ptr<arrow::Table>> MatchExactly(const QueryEnvironment& environment,
                                                          const Snapshot& snapshot,
                                                          const std::string& folder,
                                                          const ExactMatchRequest& request) {
  const QueryContext context{&environment, &snapshot, &folder, &request.stop};
  ARROW_RETURN_NOT_OK(FindTextColumn(snapshot.root.schema, request.column));
  ARROW_ASSIGN_OR_RAISE(const Projection projection,
                        ResolveProjection(snapshot.root.schema, request.projection));
  ARROW_ASSIGN_OR_RAISE(const std::optional<MatchedRows> found,
                        FindExactlyIfFew(context, request, std::numeric_limits<uint64_t>::max()));
  return FetchRows(found->hits, found->files, projection, context);
}

arrow::Result<std::optional<MatchedRows>> FindExactlyIfFew(const QueryContext& context,
                                                           const ExactMatchRequest& request,
                                                           uint64_t candidates_max) {
  const TableSchema& schema = context.snapshot->root.schema;
  ARROW_ASSIGN_OR_RAISE(const TableColumn* column, FindTextColumn(schema, request.column));
  if (!column->stored()) {
    return MakeError(
        ErrorKind::kInvalidArgument,
        "exact match on column '" + request.column +
            "': its text is indexed, but not stored; create the index with stored=True");
  }
  ARROW_ASSIGN_OR_RAISE(const Projection text,
                        ResolveProjection(schema, std::vector<std::string>{request.column}));
  ARROW_ASSIGN_OR_RAISE(ExactPlan plan,
                        PlanExact(*column, request.value, *context.snapshot, *context.folder,
                                  context.environment->term_filters.get(), request.stop));
  ARROW_ASSIGN_OR_RAISE(const auto selection,
                        SelectByRequest(context, std::nullopt, request.where, plan.text.entries));
  ARROW_ASSIGN_OR_RAISE(
      const std::unique_ptr<TextRun> run,
      TextRun::Start(context, std::move(plan.text),
                     {.mode = text::TextSearchMode::kMatchAll, .length = plan.token_count},
                     selection ? &*selection : nullptr));
  ARROW_RETURN_NOT_OK(run->Run());
  const std::vector<Hit> candidates = run->Matches();
  if (candidates.size() > candidates_max) return std::nullopt;
  MatchedRows found;
  for (size_t at = 0; at < candidates.size(); at += kCompareAtOnce) {
    const std::span<const Hit> batch =
        std::span(candidates).subspan(at, std::min(kCompareAtOnce, candidates.size() - at));
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Table> texts,
                          FetchRows(batch, run->files(), text, context));
    ARROW_RETURN_NOT_OK(KeepExact(*texts, batch, request.value, found.hits));
  }
  found.files.assign(run->files().begin(), run->files().end());
  return found;
}

arrow::Result<uint64_t> CountMatches(const QueryEnvironment& environment, const Snapshot& snapshot,
                                     const std::string& folder, const CountRequest& request) {
  const QueryContext context{&environment, &snapshot, &folder, &request.stop};
  ARROW_ASSIGN_OR_RAISE(
      TextPlan plan,
      Plan(context, {.column = request.column, .text = request.query, .mode = request.mode}));
  ARROW_ASSIGN_OR_RAISE(const auto selection,
                        SelectByRequest(context, std::nullopt, request.where, plan.entries));
  ARROW_ASSIGN_OR_RAISE(
      const std::unique_ptr<TextRun> run,
      TextRun::Start(context, std::move(plan), {.mode = text::TextSearchMode::kCount},
                     selection ? &*selection : nullptr));
  ARROW_RETURN_NOT_OK(run->Run());
  return run->Count();
}

arrow::Result<RowSelection> SelectRows(const QueryContext& context, const TextFilter& filter) {
  ARROW_ASSIGN_OR_RAISE(
      TextPlan plan,
      Plan(context, {.column = filter.column, .text = filter.query, .mode = filter.mode}));
  ARROW_ASSIGN_OR_RAISE(
      const std::unique_ptr<TextRun> run,
      TextRun::Start(context, std::move(plan), {.mode = text::TextSearchMode::kMatchAll}));
  ARROW_RETURN_NOT_OK(run->Run());
  return run->SelectedRows();
}

}  // namespace infino
