#include "infino/query/text_executor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/shared_floor.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_search.h"
#include "infino/index/top_k.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/query/projection.h"
#include "infino/query/result_rows.h"
#include "infino/query/search_executor.h"
#include "infino/query/text_plan.h"
#include "infino/search.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"

namespace infino {
namespace {

/// About what looking one term up costs: finding, checking and decoding a dictionary block.
constexpr int64_t kLookUpBytes = 4 << 10;

/// About what one posting takes, so that work can be told from document frequencies.
constexpr int64_t kPostingBytes = 2;

/// So many rows' texts are held at once while they are compared.
constexpr size_t kCompareAtOnce = 4096;

/// One superfile under search.
struct FileSearch {
  uint32_t file = 0;  ///< Index into TextRun::files.
  std::unique_ptr<text::TextSearch> search;
  float bound = 0.0F;
};

/// One query under way over all superfiles of its plan.
struct TextRun {
  const QueryEnvironment& environment;
  const StopCondition& stop;
  TextPlan plan;
  std::vector<std::shared_ptr<const SuperfileReader>> files{};
  std::vector<FileSearch> searches{};

  [[nodiscard]] const RangeReader& BlobOf(const FileSearch& search) const {
    return files[search.file]->text_blob(plan.field_id);
  }
};

/// Opens the superfiles of the plan and starts a search on each.
arrow::Status StartSearches(TextRun& run, const std::string& folder,
                            const text::TextSearchOptions& options) {
  ARROW_ASSIGN_OR_RAISE(run.files,
                        run.environment.superfiles->Open(folder, run.plan.entries, run.stop,
                                                         run.environment.pool.get()));
  run.searches.reserve(run.files.size());
  for (size_t i = 0; i < run.files.size(); ++i) {
    const text::TextIndexReader* index = run.files[i]->text_index(run.plan.field_id);
    if (index == nullptr) {
      return MakeError(ErrorKind::kCorrupt,
                       "search superfile " + run.files[i]->name() +
                           ": the manifest lists a keyword index that the file lacks; field_id=" +
                           std::to_string(run.plan.field_id));
    }
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<text::TextSearch> search,
                          text::TextSearch::Make(*index, run.plan.query, nullptr, options));
    run.searches.push_back({.file = static_cast<uint32_t>(i), .search = std::move(search)});
  }
  return arrow::Status::OK();
}

/// Takes all searches as far as they go by themselves.
arrow::Status RunSearches(TextRun& run, int64_t work_bytes, const SharedFloor* floor) {
  std::vector<SearchTask> tasks;
  tasks.reserve(run.searches.size());
  for (const FileSearch& each : run.searches) {
    tasks.push_back(MakeTask(*each.search, run.BlobOf(each)));
    tasks.back().next_reads = [&search = *each.search]() -> arrow::Result<std::vector<ByteRange>> {
      ARROW_RETURN_NOT_OK(search.Resume());
      return search.NextReads();
    };
    if (floor == nullptr) continue;
    tasks.back().skip = [floor, bound = each.bound] { return bound < floor->score(); };
  }
  const RunOptions options{.pool = run.environment.pool.get(), .work_bytes = work_bytes};
  ARROW_RETURN_NOT_OK(RunTasks(tasks, options, run.stop));
  size_t i = 0;
  std::erase_if(run.searches, [&](const FileSearch&) { return tasks[i++].skipped; });
  return arrow::Status::OK();
}

int64_t LookUpWork(const TextRun& run) {
  return static_cast<int64_t>(run.searches.size() * run.plan.query.terms.size()) * kLookUpBytes;
}

const TextColumnTotals* FindTotals(const Snapshot& snapshot, int32_t field_id) {
  for (const TextColumnTotals& totals : snapshot.root.totals.texts) {
    if (totals.field_id == field_id) return &totals;
  }
  return nullptr;
}

/// What a prefix stands for in all superfiles together.
text::PrefixStatistics MergeExpansions(const TextRun& run, size_t prefix) {
  text::PrefixStatistics merged;
  for (const FileSearch& each : run.searches) {
    const std::vector<text::ExpandedTerm>& here = each.search->expansions()[prefix];
    merged.terms.insert(merged.terms.end(), here.begin(), here.end());
  }
  std::ranges::sort(merged.terms, {}, &text::ExpandedTerm::term);
  size_t kept = 0;
  for (size_t i = 0; i < merged.terms.size(); ++i) {
    if (kept > 0 && merged.terms[kept - 1].term == merged.terms[i].term) {
      merged.terms[kept - 1].document_frequency += merged.terms[i].document_frequency;
      continue;
    }
    if (kept != i) merged.terms[kept] = std::move(merged.terms[i]);
    ++kept;
  }
  merged.terms.resize(kept);
  merged.synonym = kept > text::kExpandedTermsMax;
  if (merged.synonym) merged.terms.clear();
  return merged;
}

/// Sums what the dictionaries said, tells every search, and leaves those that may match, best bound
/// first. Returns about how many postings there are to score.
arrow::Result<int64_t> ShareStatistics(TextRun& run, const Snapshot& snapshot) {
  text::TextStatistics statistics;
  if (const TextColumnTotals* totals = FindTotals(snapshot, run.plan.field_id)) {
    statistics.rows_with_token = totals->rows_with_token;
    statistics.token_total = totals->token_total;
  }
  statistics.document_frequencies.resize(run.plan.query.terms.size());
  for (const FileSearch& each : run.searches) {
    const std::span<const int64_t> frequencies = each.search->document_frequencies();
    for (size_t i = 0; i < frequencies.size(); ++i) {
      statistics.document_frequencies[i] += frequencies[i];
    }
  }
  bool has_synonyms = false;
  if (!run.searches.empty()) {
    const size_t prefix_count = run.searches.front().search->expansions().size();
    for (size_t prefix = 0; prefix < prefix_count; ++prefix) {
      statistics.prefixes.push_back(MergeExpansions(run, prefix));
      has_synonyms = has_synonyms || statistics.prefixes.back().synonym;
    }
  }
  std::erase_if(run.searches,
                [&](const FileSearch& each) { return !each.search->MayMatch() && !has_synonyms; });
  int64_t posting_count = 0;
  for (FileSearch& each : run.searches) {
    const arrow::Status given = each.search->SetStatistics(statistics);
    if (IsError(given, ErrorKind::kInvalidArgument)) {
      return MakeError(ErrorKind::kCorrupt, "search superfile " + run.files[each.file]->name() +
                                                ": it contradicts the totals of the manifest; " +
                                                given.message());
    }
    ARROW_RETURN_NOT_OK(given);
    each.bound = each.search->UpperBound();
    for (const int64_t frequency : each.search->document_frequencies()) posting_count += frequency;
  }
  std::ranges::stable_sort(run.searches, std::ranges::greater(), &FileSearch::bound);
  return posting_count;
}

/// Where a prefix is a synonym, sums up in how many documents it occurs, tells the searches that
/// wait for that, and returns whether there are any.
arrow::Result<bool> ShareSynonyms(TextRun& run) {
  std::vector<int64_t> totals;
  for (const FileSearch& each : run.searches) {
    if (!each.search->wants_synonym_frequencies()) continue;
    const std::span<const int64_t> here = each.search->synonym_frequencies();
    totals.resize(here.size());
    for (size_t i = 0; i < here.size(); ++i) totals[i] += here[i];
  }
  for (const FileSearch& each : run.searches) {
    if (!each.search->wants_synonym_frequencies()) continue;
    ARROW_RETURN_NOT_OK(each.search->SetSynonymFrequencies(totals));
  }
  return !totals.empty();
}

/// The k best of all searches, best first.
std::vector<Hit> MergeTops(const TextRun& run, uint64_t k, const SharedFloor& floor) {
  std::vector<Hit> hits;
  for (const FileSearch& each : run.searches) {
    const SuperfileReader& file = *run.files[each.file];
    for (const ScoredDoc& found : each.search->TopDocs()) {
      if (found.score < floor.score()) break;  // The rest scores no more.
      hits.push_back(
          {.id = file.IdOf(found.doc), .score = found.score, .file = each.file, .doc = found.doc});
    }
  }
  const auto ranks_before = [](const Hit& left, const Hit& right) {
    return RanksBefore(left, right);
  };
  if (hits.size() > k) {
    const auto end = hits.begin() + static_cast<int64_t>(k);
    std::nth_element(hits.begin(), end, hits.end(), ranks_before);
    hits.erase(end, hits.end());
  }
  std::sort(hits.begin(), hits.end(), ranks_before);
  return hits;
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

/// What all searches matched, in `_id` order.
std::vector<Hit> MatchesOf(const TextRun& run) {
  std::vector<Hit> hits;
  for (const FileSearch& each : run.searches) {
    const SuperfileReader& file = *run.files[each.file];
    for (const DocId doc : each.search->Matches()) {
      hits.push_back({.id = file.IdOf(doc), .file = each.file, .doc = doc});
    }
  }
  // Files follow each other in `_id` order unless their appends ran side by side.
  if (!std::ranges::is_sorted(hits, {}, &Hit::id)) std::ranges::sort(hits, {}, &Hit::id);
  return hits;
}

/// Appends to `kept` those of `hits` whose only projected column holds `value`.
arrow::Status KeepExact(const TextRun& run, std::span<const Hit> hits, const Projection& text,
                        const std::string& value, std::vector<Hit>& kept) {
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Table> rows,
                        FetchRows(hits, run.files, text, run.environment.pool.get(), run.stop));
  size_t at = 0;
  for (const std::shared_ptr<arrow::Array>& chunk : rows->column(0)->chunks()) {
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
  ARROW_ASSIGN_OR_RAISE(TextPlan plan, PlanText(question, snapshot, folder,
                                                environment.term_filters.get(), request.stop));
  if (request.k == 0 || plan.entries.empty()) {
    return FetchRows({}, {}, projection, nullptr, request.stop);
  }
  SharedFloor floor;
  TextRun run{.environment = environment, .stop = request.stop, .plan = std::move(plan)};
  ARROW_RETURN_NOT_OK(StartSearches(run, folder,
                                    {.mode = text::TextSearchMode::kRanked,
                                     .k = request.k,
                                     .k1 = bm25.k1,
                                     .b = bm25.b,
                                     .floor = &floor,
                                     .cache = environment.postings.get()}));
  ARROW_RETURN_NOT_OK(RunSearches(run, LookUpWork(run), nullptr));
  ARROW_ASSIGN_OR_RAISE(const int64_t posting_count, ShareStatistics(run, snapshot));
  ARROW_RETURN_NOT_OK(RunSearches(run, posting_count * kPostingBytes, &floor));
  ARROW_ASSIGN_OR_RAISE(const bool has_synonyms, ShareSynonyms(run));
  if (has_synonyms) {
    ARROW_RETURN_NOT_OK(RunSearches(run, posting_count * kPostingBytes, &floor));
  }
  const std::vector<Hit> hits = MergeTops(run, request.k, floor);
  return FetchRows(hits, run.files, projection, environment.pool.get(), request.stop);
}

arrow::Result<std::shared_ptr<arrow::Table>> MatchTokens(const QueryEnvironment& environment,
                                                         const Snapshot& snapshot,
                                                         const std::string& folder,
                                                         const MatchRequest& request) {
  const TextQuestion question{
      .column = request.column, .text = request.query, .mode = request.mode};
  ARROW_ASSIGN_OR_RAISE(TextPlan plan, PlanText(question, snapshot, folder,
                                                environment.term_filters.get(), request.stop));
  ARROW_ASSIGN_OR_RAISE(const Projection projection,
                        ResolveProjection(snapshot.root.schema, request.projection));
  TextRun run{.environment = environment, .stop = request.stop, .plan = std::move(plan)};
  ARROW_RETURN_NOT_OK(StartSearches(
      run, folder, {.mode = text::TextSearchMode::kMatchAll, .cache = environment.postings.get()}));
  ARROW_RETURN_NOT_OK(RunSearches(run, LookUpWork(run), nullptr));
  const std::vector<Hit> hits = MatchesOf(run);
  return FetchRows(hits, run.files, projection, environment.pool.get(), request.stop);
}

arrow::Result<std::shared_ptr<arrow::Table>> MatchExactly(const QueryEnvironment& environment,
                                                          const Snapshot& snapshot,
                                                          const std::string& folder,
                                                          const ExactMatchRequest& request) {
  const TableSchema& schema = snapshot.root.schema;
  ARROW_ASSIGN_OR_RAISE(const TableColumn* column, FindTextColumn(schema, request.column));
  if (!column->stored()) {
    return MakeError(
        ErrorKind::kInvalidArgument,
        "exact match on column '" + request.column +
            "': its text is indexed, but not stored; create the index with stored=True");
  }
  ARROW_ASSIGN_OR_RAISE(const Projection projection, ResolveProjection(schema, request.projection));
  ARROW_ASSIGN_OR_RAISE(const Projection text,
                        ResolveProjection(schema, std::vector<std::string>{request.column}));
  ARROW_ASSIGN_OR_RAISE(ExactPlan plan, PlanExact(*column, request.value, snapshot, folder,
                                                  environment.term_filters.get(), request.stop));
  TextRun run{.environment = environment, .stop = request.stop, .plan = std::move(plan.text)};
  ARROW_RETURN_NOT_OK(StartSearches(run, folder,
                                    {.mode = text::TextSearchMode::kMatchAll,
                                     .length = plan.token_count,
                                     .cache = environment.postings.get()}));
  ARROW_RETURN_NOT_OK(RunSearches(run, LookUpWork(run), nullptr));
  const std::vector<Hit> candidates = MatchesOf(run);
  std::vector<Hit> hits;
  for (size_t at = 0; at < candidates.size(); at += kCompareAtOnce) {
    const std::span<const Hit> batch =
        std::span(candidates).subspan(at, std::min(kCompareAtOnce, candidates.size() - at));
    ARROW_RETURN_NOT_OK(KeepExact(run, batch, text, request.value, hits));
  }
  return FetchRows(hits, run.files, projection, environment.pool.get(), request.stop);
}

arrow::Result<uint64_t> CountMatches(const QueryEnvironment& environment, const Snapshot& snapshot,
                                     const std::string& folder, const CountRequest& request) {
  const TextQuestion question{
      .column = request.column, .text = request.query, .mode = request.mode};
  ARROW_ASSIGN_OR_RAISE(TextPlan plan, PlanText(question, snapshot, folder,
                                                environment.term_filters.get(), request.stop));
  TextRun run{.environment = environment, .stop = request.stop, .plan = std::move(plan)};
  ARROW_RETURN_NOT_OK(StartSearches(
      run, folder, {.mode = text::TextSearchMode::kCount, .cache = environment.postings.get()}));
  ARROW_RETURN_NOT_OK(RunSearches(run, LookUpWork(run), nullptr));
  uint64_t count = 0;
  for (const FileSearch& each : run.searches) count += each.search->Count();
  return count;
}

}  // namespace infino
