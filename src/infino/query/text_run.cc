#include "infino/query/text_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_search.h"
#include "infino/index/text/text_statistics.h"
#include "infino/index/top_k.h"
#include "infino/manifest/manifest.h"
#include "infino/query/condition.h"
#include "infino/query/opened_files.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/row_selection.h"
#include "infino/query/search_executor.h"
#include "infino/query/text_plan.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/supertable/snapshot.h"

namespace infino {
namespace {

/// About what looking one term up costs: finding, checking and decoding a dictionary block.
constexpr int64_t kLookUpBytes = 4 << 10;

/// About what one posting takes, so that work can be told from document frequencies.
constexpr int64_t kPostingBytes = 2;

const TextColumnTotals* FindTotals(const Snapshot& snapshot, int32_t field_id) {
  for (const TextColumnTotals& totals : snapshot.root.totals.texts) {
    if (totals.field_id == field_id) return &totals;
  }
  return nullptr;
}

/// Sorts hits by id that are runs in that order, which end at `ends`.
void MergeRuns(std::vector<ptrdiff_t> ends, std::vector<Hit>& hits) {
  // Files follow each other in `_id` order unless their appends ran side by side.
  if (std::ranges::is_sorted(hits, {}, &Hit::id)) return;
  while (ends.size() > 1) {
    std::vector<ptrdiff_t> merged;
    for (size_t i = 0; i < ends.size(); i += 2) {
      const ptrdiff_t first = merged.empty() ? 0 : merged.back();
      const ptrdiff_t end = i + 1 < ends.size() ? ends[i + 1] : ends[i];
      std::ranges::inplace_merge(hits.begin() + first, hits.begin() + ends[i], hits.begin() + end,
                                 {}, &Hit::id);
      merged.push_back(end);
    }
    ends = std::move(merged);
  }
}

}  // namespace

arrow::Result<std::unique_ptr<TextRun>> TextRun::Start(const QueryContext& context, TextPlan plan,
                                                       const text::TextSearchOptions& options,
                                                       const RowSelection* selection) {
  // Where nothing is ranked, nobody asks for the document frequencies of the others.
  if (options.mode != text::TextSearchMode::kRanked) {
    std::erase_if(plan.entries,
                  [&](const SuperfileEntry* entry) { return !MayFind(*entry, selection); });
  }
  auto run = std::make_unique<TextRun>(Private(), context, std::move(plan), selection);
  text::TextSearchOptions own = options;
  if (own.mode == text::TextSearchMode::kRanked) own.floor = &run->floor_;
  own.cache = context.environment->postings.get();
  ARROW_RETURN_NOT_OK(run->Open());
  run->searches_.reserve(run->files_.size());
  for (size_t i = 0; i < run->files_.size(); ++i) {
    const SuperfileReader& file = *run->files_[i];
    const text::TextIndexReader* index = file.text_index(run->plan_.field_id);
    if (index == nullptr) {
      return MakeError(ErrorKind::kCorrupt,
                       "search superfile " + file.name() +
                           ": the manifest lists a keyword index that the file lacks; field_id=" +
                           std::to_string(run->plan_.field_id));
    }
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<text::TextSearch> search,
                          text::TextSearch::Make(*index, run->plan_.query,
                                                 run->FilterOf(*run->plan_.entries[i]), own));
    run->searches_.push_back({.file = static_cast<uint32_t>(i), .search = std::move(search)});
  }
  return run;
}

arrow::Status TextRun::Open() {
  std::vector<const SuperfileEntry*> with_deleted;
  if (selection_ == nullptr) {
    std::ranges::copy_if(plan_.entries, std::back_inserter(with_deleted),
                         [](const SuperfileEntry* entry) {
                           return entry->tombstones.has_value() && entry->live_row_count() > 0;
                         });
  }
  ARROW_ASSIGN_OR_RAISE(OpenedFiles opened, OpenFiles(context_, plan_.entries, with_deleted));
  files_ = std::move(opened.files);
  tombstones_ = std::move(opened.tombstones);
  return arrow::Status::OK();
}

const DocFilter* TextRun::FilterOf(const SuperfileEntry& entry) const {
  static const DocFilter kNothingPasses(0);
  if (!MayFind(entry, selection_)) return &kNothingPasses;
  return selection_ == nullptr ? tombstones_.LiveRowsOf(entry.id) : selection_->Find(entry.id);
}

std::vector<SearchTask> TextRun::Tasks() {
  std::vector<SearchTask> tasks;
  tasks.reserve(searches_.size());
  for (const FileSearch& each : searches_) {
    tasks.push_back(MakeTask(*each.search, files_[each.file]->text_blob(plan_.field_id)));
    tasks.back().next_reads = [&search = *each.search]() -> arrow::Result<std::vector<ByteRange>> {
      ARROW_RETURN_NOT_OK(search.Resume());
      return search.NextReads();
    };
    if (!each.is_bounded) continue;
    tasks.back().skip = [this, bound = each.bound] { return bound < floor_.score(); };
  }
  return tasks;
}

int64_t TextRun::look_up_bytes() const {
  return static_cast<int64_t>(searches_.size() * plan_.query.terms.size()) * kLookUpBytes;
}

arrow::Status TextRun::Run() {
  return RunSearches(look_up_bytes());
}

arrow::Status TextRun::RunSearches(int64_t work_bytes) {
  std::vector<SearchTask> tasks = Tasks();
  const RunOptions options{.pool = context_.environment->pool.get(), .work_bytes = work_bytes};
  ARROW_RETURN_NOT_OK(RunTasks(tasks, options, *context_.stop));
  size_t i = 0;
  std::erase_if(searches_, [&](const FileSearch&) { return tasks[i++].skipped; });
  return arrow::Status::OK();
}

arrow::Status TextRun::Rank() {
  ARROW_ASSIGN_OR_RAISE(const int64_t posting_count, ShareStatistics());
  ARROW_RETURN_NOT_OK(RunSearches(posting_count * kPostingBytes));
  ARROW_ASSIGN_OR_RAISE(const bool has_synonyms, ShareSynonyms());
  return has_synonyms ? RunSearches(posting_count * kPostingBytes) : arrow::Status::OK();
}

/// What a prefix stands for in all superfiles together.
text::PrefixStatistics TextRun::MergeExpansions(size_t prefix) const {
  text::PrefixStatistics merged;
  for (const FileSearch& each : searches_) {
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
arrow::Result<int64_t> TextRun::ShareStatistics() {
  text::TextStatistics statistics;
  if (const TextColumnTotals* totals = FindTotals(*context_.snapshot, plan_.field_id)) {
    statistics.rows_with_token = totals->rows_with_token;
    statistics.token_total = totals->token_total;
  }
  statistics.document_frequencies.resize(plan_.query.terms.size());
  for (const FileSearch& each : searches_) {
    const std::span<const int64_t> frequencies = each.search->document_frequencies();
    for (size_t i = 0; i < frequencies.size(); ++i) {
      statistics.document_frequencies[i] += frequencies[i];
    }
  }
  bool has_synonyms = false;
  if (!searches_.empty()) {
    const size_t prefix_count = searches_.front().search->expansions().size();
    for (size_t prefix = 0; prefix < prefix_count; ++prefix) {
      statistics.prefixes.push_back(MergeExpansions(prefix));
      has_synonyms = has_synonyms || statistics.prefixes.back().synonym;
    }
  }
  // A synonym is counted in every superfile, also where no row may be found.
  std::erase_if(searches_, [&](const FileSearch& each) {
    if (has_synonyms) return false;
    return !MayFind(*plan_.entries[each.file], selection_) || !each.search->MayMatch();
  });
  int64_t posting_count = 0;
  for (FileSearch& each : searches_) {
    const arrow::Status given = each.search->SetStatistics(statistics);
    if (IsError(given, ErrorKind::kInvalidArgument)) {
      return MakeError(ErrorKind::kCorrupt, "search superfile " + files_[each.file]->name() +
                                                ": it contradicts the totals of the manifest; " +
                                                given.message());
    }
    ARROW_RETURN_NOT_OK(given);
    each.bound = each.search->UpperBound();
    each.is_bounded = true;
    for (const int64_t frequency : each.search->document_frequencies()) posting_count += frequency;
  }
  std::ranges::stable_sort(searches_, std::ranges::greater(), &FileSearch::bound);
  return posting_count;
}

/// Where a prefix is a synonym, sums up in how many documents it occurs, tells the searches that
/// wait for that, and returns whether there are any.
arrow::Result<bool> TextRun::ShareSynonyms() {
  std::vector<int64_t> totals;
  for (const FileSearch& each : searches_) {
    if (!each.search->wants_synonym_frequencies()) continue;
    const std::span<const int64_t> here = each.search->synonym_frequencies();
    totals.resize(here.size());
    for (size_t i = 0; i < here.size(); ++i) totals[i] += here[i];
  }
  for (const FileSearch& each : searches_) {
    if (!each.search->wants_synonym_frequencies()) continue;
    ARROW_RETURN_NOT_OK(each.search->SetSynonymFrequencies(totals));
  }
  return !totals.empty();
}

std::vector<Hit> TextRun::TopHits(uint64_t k) const {
  std::vector<Hit> hits;
  for (const FileSearch& each : searches_) {
    const SuperfileReader& file = *files_[each.file];
    for (const ScoredDoc& found : each.search->TopDocs()) {
      if (found.score < floor_.score()) break;  // The rest scores no more.
      hits.push_back(
          {.id = file.IdOf(found.doc), .score = found.score, .file = each.file, .doc = found.doc});
    }
  }
  KeepBest(hits, k, [](const Hit& left, const Hit& right) { return RanksBefore(left, right); });
  return hits;
}

std::vector<Hit> TextRun::Matches() const {
  std::vector<const FileSearch*> by_id;
  for (const FileSearch& each : searches_) by_id.push_back(&each);
  std::ranges::sort(by_id, std::ranges::less(),
                    [&](const FileSearch* each) { return files_[each->file]->IdOf(0); });
  std::vector<Hit> hits;
  std::vector<ptrdiff_t> ends;
  for (const FileSearch* const each : by_id) {
    const SuperfileReader& file = *files_[each->file];
    for (const DocId doc : each->search->Matches()) {
      hits.push_back({.id = file.IdOf(doc), .file = each->file, .doc = doc});
    }
    ends.push_back(static_cast<ptrdiff_t>(hits.size()));
  }
  MergeRuns(std::move(ends), hits);
  return hits;
}

RowSelection TextRun::SelectedRows() const {
  RowSelection selection;
  for (const FileSearch& each : searches_) {
    const SuperfileReader& file = *files_[each.file];
    selection.Set(file.id(),
                  DocFilter::Of(static_cast<uint32_t>(file.row_count()), each.search->Matches()));
  }
  return selection;
}

uint64_t TextRun::Count() const {
  uint64_t count = 0;
  for (const FileSearch& each : searches_) count += each.search->Count();
  return count;
}

}  // namespace infino
