#include "infino/index/text/text_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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
#include "infino/index/text/bm25.h"
#include "infino/index/text/query_clauses.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/text_scan.h"
#include "infino/index/text/text_statistics.h"
#include "infino/index/top_k.h"

namespace infino::text {
namespace {

constexpr float kNoScore = -std::numeric_limits<float>::infinity();

arrow::Status CheckQuery(const TextIndexReader& index, const TextQuery& query,
                         const TextSearchOptions& options) {
  if (!std::isfinite(options.k1) || options.k1 < 0 || !std::isfinite(options.b) || options.b < 0 ||
      options.b > 1) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "search text: BM25 needs a finite k1 >= 0 and 0 <= b <= 1: k1=" +
                         std::to_string(options.k1) + " b=" + std::to_string(options.b));
  }
  const bool has_phrase = std::ranges::any_of(
      query.clauses, [](const TextClause& clause) { return clause.kind == ClauseKind::kPhrase; });
  if (has_phrase && !index.has_positions()) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "search " + index.name() + ": it keeps no positions, which a phrase needs");
  }
  return arrow::Status::OK();
}

}  // namespace

class TextSearch::Impl {
 public:
  Impl(const TextIndexReader& index, const TextQuery& query, const DocFilter* filter,
       const TextSearchOptions& options)
      : index_(&index),
        query_(&query),
        filter_(filter),
        options_(options),
        clauses_(index, query, options.cache),
        frequencies_(query.terms.size()),
        top_(options.k) {}

  arrow::Status Start();
  arrow::Status Feed(Buffers bytes);
  arrow::Status Resume();
  arrow::Status SetStatistics(const TextStatistics& statistics);
  arrow::Status SetSynonymFrequencies(std::span<const int64_t> frequencies);

  [[nodiscard]] const std::vector<ByteRange>& reads() const { return reads_; }

  [[nodiscard]] bool looked_up() const { return state_ != State::kLookup; }

  [[nodiscard]] bool done() const { return state_ == State::kDone; }

  [[nodiscard]] bool may_match() const { return may_match_; }

  [[nodiscard]] bool wants_synonyms() const { return state_ == State::kPausedForSynonyms; }

  [[nodiscard]] const QueryClauses& clauses() const { return clauses_; }

  [[nodiscard]] std::span<const int64_t> frequencies() const { return frequencies_; }

  [[nodiscard]] std::span<const ScoredDoc> top_docs() const { return top_docs_; }

  [[nodiscard]] std::span<const DocId> matches() const { return matches_; }

  [[nodiscard]] uint64_t count() const { return count_; }

  [[nodiscard]] float UpperBound() const;

 private:
  enum class State : uint8_t {
    kLookup,
    kPaused,
    kScored,
    kPostings,
    kPausedForSynonyms,
    kSynonymsScored,
    kDone,
  };

  /// Whether only their lengths choose the documents.
  [[nodiscard]] bool matches_all() const {
    return options_.length.has_value() && query_->clauses.empty();
  }

  [[nodiscard]] bool ranked() const { return options_.mode == TextSearchMode::kRanked; }

  [[nodiscard]] arrow::Status Contradiction(const std::string& what) const {
    return MakeError(ErrorKind::kInvalidArgument, "search " + index_->name() + ": " + what);
  }

  arrow::Status AfterLookup();
  [[nodiscard]] bool ComputeMayMatch() const;
  [[nodiscard]] std::optional<uint64_t> CountFromDictionary() const;
  [[nodiscard]] std::vector<bool> WantedClauses() const;
  arrow::Status PlanPostings();
  arrow::Status TakePostings(Buffers bytes);
  arrow::Status Scan();

  const TextIndexReader* index_;
  const TextQuery* query_;
  const DocFilter* filter_;
  TextSearchOptions options_;
  State state_ = State::kLookup;
  std::vector<ByteRange> reads_;
  QueryClauses clauses_;
  std::vector<int64_t> frequencies_;  // by term of the query
  bool may_match_ = false;
  bool scored_ = false;         // whether the statistics are there, and not empty
  bool open_synonyms_ = false;  // whether a prefix is one and its weight not known yet
  Bm25 bm25_;

  TopK top_;
  std::span<const ScoredDoc> top_docs_;
  std::vector<DocId> matches_;
  uint64_t count_ = 0;
};

arrow::Status TextSearch::Impl::Start() {
  ARROW_RETURN_NOT_OK(clauses_.PlanLookup(reads_));
  return reads_.empty() ? AfterLookup() : arrow::Status::OK();
}

bool TextSearch::Impl::ComputeMayMatch() const {
  bool has_must = false;
  bool has_present = false;
  for (const TextClause& clause : query_->clauses) {
    if (clause.occur == Occur::kMustNot) continue;
    const bool present = clauses_.MayMatch(clause);
    has_present = has_present || present;
    if (clause.occur != Occur::kMust) continue;
    if (!present) return false;
    has_must = true;
  }
  return has_must || has_present;
}

/// The count, if the dictionary alone gives it: one term, and nothing that takes documents away.
std::optional<uint64_t> TextSearch::Impl::CountFromDictionary() const {
  if (options_.mode != TextSearchMode::kCount || filter_ != nullptr) return std::nullopt;
  std::optional<uint32_t> only;
  for (const TextClause& clause : query_->clauses) {
    if (!clauses_.MayMatch(clause)) continue;
    const uint32_t term = query_->clause_terms[clause.terms_begin].term;
    if (clause.occur == Occur::kMustNot || clause.kind != ClauseKind::kTerm ||
        only.value_or(term) != term) {
      return std::nullopt;
    }
    only = term;
  }
  return only.has_value() ? std::optional(static_cast<uint64_t>(frequencies_[*only]))
                          : std::nullopt;
}

arrow::Status TextSearch::Impl::AfterLookup() {
  reads_.clear();
  for (uint32_t term = 0; term < frequencies_.size(); ++term) {
    frequencies_[term] = clauses_.document_frequency(term);
  }
  may_match_ = matches_all() || ComputeMayMatch();
  if (ranked()) {
    state_ = State::kPaused;
    return arrow::Status::OK();
  }
  if (!may_match_) {
    state_ = State::kDone;
    return arrow::Status::OK();
  }
  if (const std::optional<uint64_t> count = CountFromDictionary(); count.has_value()) {
    count_ = *count;
    state_ = State::kDone;
    return arrow::Status::OK();
  }
  return PlanPostings();
}

arrow::Status TextSearch::Impl::SetStatistics(const TextStatistics& statistics) {
  if (state_ != State::kPaused || scored_) {
    return MakeError(ErrorKind::kInternal, "search text: statistics come once, after the lookup");
  }
  const int64_t rows = statistics.rows_with_token;
  if (rows < index_->summary().rows_with_token || statistics.token_total < rows) {
    return Contradiction("statistics count fewer rows or tokens than there are");
  }
  if (rows > 0) {
    bm25_ = {
        .k1 = options_.k1,
        .b = options_.b,
        .average_length = static_cast<double>(statistics.token_total) / static_cast<double>(rows)};
  }
  if (!clauses_.SetScoring(bm25_, statistics)) {
    return Contradiction(
        "statistics contradict themselves or are not of this query; rows_with_token=" +
        std::to_string(rows));
  }
  scored_ = rows > 0;
  open_synonyms_ = clauses_.has_synonyms();
  if (!scored_ || options_.k == 0 || (!may_match_ && !open_synonyms_)) {
    state_ = State::kDone;
    return arrow::Status::OK();
  }
  if (options_.prune && filter_ == nullptr && query_->clauses.size() == 1) {
    clauses_.WantBest(options_.k);
  }
  state_ = State::kScored;
  return arrow::Status::OK();
}

arrow::Status TextSearch::Impl::Resume() {
  if (state_ == State::kScored) return PlanPostings();
  if (state_ == State::kSynonymsScored) return Scan();
  return arrow::Status::OK();
}

float TextSearch::Impl::UpperBound() const {
  if (open_synonyms_) return std::numeric_limits<float>::infinity();
  if (!scored_ || !may_match_ || options_.k == 0) return kNoScore;
  double sum = 0;
  for (const TextClause& clause : query_->clauses) {
    if (clause.occur == Occur::kMustNot || !clauses_.MayMatch(clause)) continue;
    sum += clauses_.BoundOf(clause);
  }
  return static_cast<float>(sum * kBoundSlack);
}

/// Where something must match, clauses that need not only matter to scores. Where nothing can
/// match, synonyms still count for the others' statistics.
std::vector<bool> TextSearch::Impl::WantedClauses() const {
  const bool has_must = std::ranges::any_of(
      query_->clauses, [](const TextClause& clause) { return clause.occur == Occur::kMust; });
  std::vector<bool> wanted;
  wanted.reserve(query_->clauses.size());
  for (const TextClause& clause : query_->clauses) {
    if (!may_match_) {
      wanted.push_back(clauses_.IsSynonym(clause));
      continue;
    }
    wanted.push_back(clauses_.MayMatch(clause) &&
                     (clause.occur != Occur::kShould || ranked() || !has_must));
  }
  return wanted;
}

arrow::Status TextSearch::Impl::PlanPostings() {
  state_ = State::kPostings;
  ARROW_RETURN_NOT_OK(clauses_.PlanPostings(WantedClauses(), options_.length.has_value(), reads_));
  return reads_.empty() ? TakePostings({}) : arrow::Status::OK();
}

arrow::Status TextSearch::Impl::TakePostings(Buffers bytes) {
  reads_.clear();
  ARROW_RETURN_NOT_OK(clauses_.TakePostings(std::move(bytes)));
  if (!open_synonyms_) return Scan();
  state_ = State::kPausedForSynonyms;
  return arrow::Status::OK();
}

arrow::Status TextSearch::Impl::SetSynonymFrequencies(std::span<const int64_t> frequencies) {
  const std::vector<int64_t>& here = clauses_.synonym_frequencies();
  bool fits = wants_synonyms() && frequencies.size() == here.size();
  for (size_t i = 0; i < here.size() && fits; ++i) fits = frequencies[i] >= here[i];
  if (!fits) return Contradiction("the frequencies of synonyms contradict this index");
  clauses_.ScoreSynonyms(frequencies);
  open_synonyms_ = false;
  state_ = may_match_ ? State::kSynonymsScored : State::kDone;
  return arrow::Status::OK();
}

arrow::Status TextSearch::Impl::Scan() {
  TextScan scan(*index_, *query_, clauses_, filter_);
  if (ranked()) {
    ARROW_RETURN_NOT_OK(
        scan.Rank({.k = options_.k, .prune = options_.prune, .floor = options_.floor}, top_));
    top_docs_ = top_.Finish();
  } else if (options_.mode == TextSearchMode::kCount) {
    ARROW_ASSIGN_OR_RAISE(count_, scan.Count(WantedClauses()));
  } else if (options_.length.has_value()) {
    ARROW_RETURN_NOT_OK(scan.MatchOfLength(WantedClauses(), *options_.length, matches_));
  } else {
    ARROW_RETURN_NOT_OK(scan.Match(WantedClauses(), matches_));
  }
  state_ = State::kDone;
  return arrow::Status::OK();
}

arrow::Status TextSearch::Impl::Feed(Buffers bytes) {
  bool fits = bytes.size() == reads_.size();
  for (size_t i = 0; i < reads_.size() && fits; ++i) fits = bytes[i]->size() == reads_[i].length;
  if (!fits || reads_.empty()) {
    return MakeError(ErrorKind::kInternal,
                     "search " + index_->name() + ": fed what was not asked for");
  }
  switch (state_) {
    case State::kLookup:
      ARROW_RETURN_NOT_OK(clauses_.TakeBlocks(bytes));
      return AfterLookup();
    case State::kPostings:
      return TakePostings(std::move(bytes));
    default:
      return arrow::Status::OK();
  }
}

TextSearch::TextSearch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

TextSearch::~TextSearch() = default;

arrow::Result<std::unique_ptr<TextSearch>> TextSearch::Make(const TextIndexReader& index,
                                                            const TextQuery& query,
                                                            const DocFilter* filter,
                                                            const TextSearchOptions& options) {
  ARROW_RETURN_NOT_OK(CheckQuery(index, query, options));
  auto impl = std::make_unique<Impl>(index, query, filter, options);
  ARROW_RETURN_NOT_OK(impl->Start());
  return std::make_unique<TextSearch>(std::move(impl));
}

arrow::Status TextSearch::Resume() {
  return impl_->Resume();
}

std::vector<ByteRange> TextSearch::NextReads() {
  return impl_->reads();
}

arrow::Status TextSearch::Feed(Buffers bytes) {
  return impl_->Feed(std::move(bytes));
}

bool TextSearch::looked_up() const {
  return impl_->looked_up();
}

std::span<const int64_t> TextSearch::document_frequencies() const {
  return impl_->frequencies();
}

std::span<const std::vector<ExpandedTerm>> TextSearch::expansions() const {
  return impl_->clauses().expansions();
}

bool TextSearch::wants_synonym_frequencies() const {
  return impl_->wants_synonyms();
}

std::span<const int64_t> TextSearch::synonym_frequencies() const {
  return impl_->clauses().synonym_frequencies();
}

arrow::Status TextSearch::SetSynonymFrequencies(std::span<const int64_t> frequencies) {
  return impl_->SetSynonymFrequencies(frequencies);
}

bool TextSearch::MayMatch() const {
  return impl_->may_match();
}

arrow::Status TextSearch::SetStatistics(const TextStatistics& statistics) {
  return impl_->SetStatistics(statistics);
}

float TextSearch::UpperBound() const {
  return impl_->UpperBound();
}

bool TextSearch::done() const {
  return impl_->done();
}

std::span<const ScoredDoc> TextSearch::TopDocs() const {
  return impl_->top_docs();
}

std::span<const DocId> TextSearch::Matches() const {
  return impl_->matches();
}

uint64_t TextSearch::Count() const {
  return impl_->count();
}

}  // namespace infino::text
