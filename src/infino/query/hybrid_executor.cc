#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>

#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/text/text_search.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index_spec.h"
#include "infino/manifest/manifest.h"
#include "infino/query/condition.h"
#include "infino/query/projection.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/row_selection.h"
#include "infino/query/search_executor.h"
#include "infino/query/text_plan.h"
#include "infino/query/text_run.h"
#include "infino/query/vector_executor.h"
#include "infino/query/vector_plan.h"
#include "infino/query/vector_run.h"
#include "infino/search.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"

namespace infino {
namespace {

/// The constant of reciprocal rank fusion: a first rank counts 1 / 61.
constexpr double kRankOffset = 60;

arrow::Status CheckRequest(const HybridSearchRequest& request) {
  for (const double weight : {request.text_weight, request.vector_weight}) {
    if (std::isfinite(weight) && weight >= 0) continue;
    return MakeError(
        ErrorKind::kInvalidArgument,
        "hybrid search: weights must be finite and not negative; weight=" + std::to_string(weight));
  }
  if (request.text_weight == 0 && request.vector_weight == 0) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "hybrid search: one of the weights must be above 0");
  }
  if (request.depth == uint64_t{0}) {
    return MakeError(ErrorKind::kInvalidArgument, "hybrid search: depth is at least 1");
  }
  return arrow::Status::OK();
}

/// The two searches under way; null for one that can find nothing.
class HybridRun {
 public:
  HybridRun(const QueryContext& context, const HybridSearchRequest& request,
            const RowSelection* selection)
      : context_(context),
        request_(request),
        selection_(selection),
        depth_(request.depth.value_or(request.k)) {}

  ~HybridRun() = default;
  HybridRun(const HybridRun&) = delete;
  HybridRun& operator=(const HybridRun&) = delete;
  HybridRun(HybridRun&&) = delete;
  HybridRun& operator=(HybridRun&&) = delete;

  arrow::Status Start() {
    ARROW_RETURN_NOT_OK(StartText());
    return StartVector();
  }

  /// Look-ups of terms go together with the scan of codes.
  arrow::Status Run() {
    bool is_first = true;
    for (bool again = true; again; is_first = false) {
      std::vector<SearchTask> tasks;
      RunOptions options{.pool = context_.environment->pool.get()};
      if (text_ != nullptr && is_first) {
        std::ranges::move(text_->Tasks(), std::back_inserter(tasks));
        options.work_bytes += text_->look_up_bytes();
      }
      if (vector_ != nullptr) {
        std::ranges::move(vector_->Tasks(), std::back_inserter(tasks));
        options.work_bytes += vector_->work_bytes();
      }
      ARROW_RETURN_NOT_OK(RunTasks(tasks, options, *context_.stop));
      again = false;
      if (vector_ != nullptr) {
        ARROW_ASSIGN_OR_RAISE(again, vector_->StartsAnew());
      }
    }
    return text_ == nullptr ? arrow::Status::OK() : text_->Rank();
  }

  /// The k best rows by the sum of their ranks' reciprocals.
  std::vector<Hit> TopHits() {
    if (text_ != nullptr) {
      Add(text_->TopHits(depth_), text_->files(), request_.text_weight);
    }
    if (vector_ != nullptr) Add(vector_->TopHits(0), plan_.files, request_.vector_weight);
    std::vector<Hit> hits;
    hits.reserve(fused_.size());
    for (const auto& [id, row] : fused_) {
      Hit hit = row.hit;
      hit.score = static_cast<float>(row.score);
      hits.push_back(hit);
    }
    KeepBest(hits, request_.k,
             [](const Hit& left, const Hit& right) { return RanksBefore(left, right); });
    return hits;
  }

  /// The superfiles that those hits name by their places.
  [[nodiscard]] const std::vector<std::shared_ptr<const SuperfileReader>>& files() const {
    return files_;
  }

 private:
  struct FusedRow {
    Hit hit;
    double score = 0;
  };

  arrow::Status StartText() {
    ARROW_ASSIGN_OR_RAISE(const TableColumn* column,
                          FindTextColumn(context_.snapshot->root.schema, request_.text_column));
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): FindTextColumn gives none without.
    const TextIndexOptions& text = *column->text;
    ARROW_ASSIGN_OR_RAISE(const Bm25Parameters bm25, ResolveBm25(text, std::nullopt, std::nullopt));
    const TextQuestion question{.column = request_.text_column,
                                .text = request_.text,
                                .mode = request_.mode,
                                .ranked = true};
    ARROW_ASSIGN_OR_RAISE(TextPlan plan,
                          PlanText(question, *context_.snapshot, *context_.folder,
                                   context_.environment->term_filters.get(), *context_.stop));
    if (plan.entries.empty() || request_.k == 0 || request_.text_weight == 0) {
      return arrow::Status::OK();
    }
    return TextRun::Start(
               context_, std::move(plan),
               {.mode = text::TextSearchMode::kRanked, .k = depth_, .k1 = bm25.k1, .b = bm25.b},
               selection_)
        .Value(&text_);
  }

  arrow::Status StartVector() {
    const std::span<const std::vector<float>> query(&request_.vector, 1);
    ARROW_ASSIGN_OR_RAISE(plan_, PlanVectors(context_,
                                             {.column = request_.vector_column,
                                              .queries = query,
                                              .k = request_.k == 0 ? 0 : depth_,
                                              .effort = request_.effort},
                                             selection_));
    if (plan_.space == nullptr || request_.vector_weight == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(prepared_, plan_.Prepare(query));
    return VectorRun::Start(*context_.environment, *plan_.space, prepared_, plan_.searched,
                            plan_.recall)
        .Value(&vector_);
  }

  void Add(const std::vector<Hit>& ranked,
           std::span<const std::shared_ptr<const SuperfileReader>> files, double weight) {
    for (size_t i = 0; i < ranked.size(); ++i) {
      const auto [place, is_new] = fused_.try_emplace(ranked[i].id);
      FusedRow& row = place->second;
      if (is_new) {
        row.hit = ranked[i];
        row.hit.file = FileOf(files[ranked[i].file]);
      }
      row.score += weight / (kRankOffset + static_cast<double>(i + 1));
    }
  }

  uint32_t FileOf(const std::shared_ptr<const SuperfileReader>& file) {
    const auto [place, is_new] = places_.try_emplace(file->id(), files_.size());
    if (is_new) files_.push_back(file);
    return static_cast<uint32_t>(place->second);
  }

  const QueryContext context_;
  const HybridSearchRequest& request_;
  const RowSelection* const selection_;
  const uint64_t depth_;
  std::unique_ptr<TextRun> text_;
  VectorPlan plan_;
  std::vector<vector::PreparedQuery> prepared_;
  std::unique_ptr<VectorRun> vector_;
  std::map<RowId, FusedRow> fused_;
  std::unordered_map<SuperfileId, size_t, RandomIdHash> places_;
  std::vector<std::shared_ptr<const SuperfileReader>> files_;
};

}  // namespace

arrow::Result<std::shared_ptr<arrow::Table>> SearchHybrid(const QueryEnvironment& environment,
                                                          const Snapshot& snapshot,
                                                          const std::string& folder,
                                                          const HybridSearchRequest& request) {
  const QueryContext context{&environment, &snapshot, &folder, &request.stop};
  ARROW_RETURN_NOT_OK(CheckRequest(request));
  ARROW_ASSIGN_OR_RAISE(const Projection projection,
                        ResolveProjection(snapshot.root.schema, request.projection));
  std::vector<const SuperfileEntry*> entries;
  if (!request.where.empty()) entries = EntriesOf(snapshot);
  ARROW_ASSIGN_OR_RAISE(const std::optional<RowSelection> selection,
                        SelectByRequest(context, request.filter, request.where, entries));
  HybridRun run(context, request, selection ? &*selection : nullptr);
  ARROW_RETURN_NOT_OK(run.Start());
  ARROW_RETURN_NOT_OK(run.Run());
  const std::vector<Hit> hits = run.TopHits();
  return FetchRows(hits, run.files(), projection, context);
}

}  // namespace infino
