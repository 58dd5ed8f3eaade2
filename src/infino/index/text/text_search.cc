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
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/postings_cursor.h"
#include "infino/index/text/term_dictionary.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/window_scan.h"
#include "infino/index/top_k.h"

namespace infino::text {
namespace {

constexpr float kNoScore = -std::numeric_limits<float>::infinity();

arrow::Status CheckQuery(const TextQuery& query, const TextSearchOptions& options) {
  if (!std::isfinite(options.k1) || options.k1 < 0 || !(options.b >= 0 && options.b <= 1)) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "search text: BM25 needs a finite k1 >= 0 and 0 <= b <= 1: k1=" +
                         std::to_string(options.k1) + " b=" + std::to_string(options.b));
  }
  for (const TextClause& clause : query.clauses) {
    if (clause.kind != ClauseKind::kTerm) {
      return MakeError(ErrorKind::kInvalidArgument, "search text: only terms can be searched for");
    }
  }
  return arrow::Status::OK();
}

}  // namespace

class TextSearch::Impl {
 public:
  Impl(const TextIndexReader& index, const TextQuery& query, const DocFilter* filter,
       const TextSearchOptions& options)
      : index_(index),
        query_(query),
        filter_(filter),
        options_(options),
        entries_(query.terms.size()),
        frequencies_(query.terms.size()),
        cursors_(query.terms.size()),
        idfs_(query.terms.size()),
        top_(options.k) {}

  arrow::Status Start();
  arrow::Status Feed(Buffers bytes);
  arrow::Status SetStatistics(const TextStatistics& statistics);

  [[nodiscard]] const std::vector<ByteRange>& reads() const { return reads_; }

  [[nodiscard]] bool looked_up() const { return state_ != State::kLookup; }

  [[nodiscard]] bool done() const { return state_ == State::kDone; }

  [[nodiscard]] bool may_match() const { return may_match_; }

  [[nodiscard]] std::span<const int64_t> frequencies() const { return frequencies_; }

  [[nodiscard]] std::span<const ScoredDoc> top_docs() const { return top_docs_; }

  [[nodiscard]] std::span<const DocId> matches() const { return matches_; }

  [[nodiscard]] uint64_t count() const { return count_; }

  [[nodiscard]] float UpperBound() const;

 private:
  enum class State : uint8_t { kLookup, kPaused, kPostings, kRest, kDone };

  [[nodiscard]] bool ranked() const { return options_.mode == TextSearchMode::kRanked; }

  [[nodiscard]] uint32_t TermOf(const TextClause& clause) const {
    return query_.clause_terms[clause.terms_begin].term;
  }

  arrow::Status PlanLookup();
  arrow::Status LookUp(const Buffers& blocks);
  arrow::Status FindIn(ByteSpan block, std::span<const uint32_t> terms);
  arrow::Status AfterLookup();
  [[nodiscard]] bool ComputeMayMatch() const;
  [[nodiscard]] std::optional<uint64_t> CountFromDictionary() const;
  [[nodiscard]] std::vector<bool> NeededTerms() const;
  arrow::Status PlanPostings();
  arrow::Status TakePostings(Buffers bytes);
  arrow::Status TakeRest(Buffers bytes);
  arrow::Status Scan();
  [[nodiscard]] double BoundOf(uint32_t term) const;

  const TextIndexReader& index_;
  const TextQuery& query_;
  const DocFilter* filter_;
  TextSearchOptions options_;
  State state_ = State::kLookup;
  std::vector<ByteRange> reads_;

  // By term of the query.
  std::vector<std::optional<TermEntry>> entries_;
  std::vector<int64_t> frequencies_;
  std::vector<std::unique_ptr<PostingsCursor>> cursors_;
  std::vector<double> idfs_;

  std::vector<std::vector<uint32_t>> lookups_;  // by dictionary block read: its terms
  std::vector<uint32_t> read_terms_;            // by range of postings read: its term
  bool reads_lengths_ = false;
  bool may_match_ = false;
  bool scored_ = false;  // whether the statistics are there, and not empty
  Bm25 bm25_;
  std::shared_ptr<arrow::Buffer> lengths_;

  TopK top_;
  std::span<const ScoredDoc> top_docs_;
  std::vector<DocId> matches_;
  uint64_t count_ = 0;
};

arrow::Status TextSearch::Impl::Start() {
  const std::optional<ByteSpan> inline_dictionary = index_.inline_dictionary();
  if (!inline_dictionary.has_value()) return PlanLookup();
  if (index_.summary().term_count > 0) {
    std::vector<uint32_t> all(query_.terms.size());
    for (uint32_t term = 0; term < all.size(); ++term) all[term] = term;
    if (!all.empty()) ARROW_RETURN_NOT_OK(FindIn(*inline_dictionary, all));
  }
  return AfterLookup();
}

arrow::Status TextSearch::Impl::PlanLookup() {
  struct Lookup {
    ByteRange block;
    uint32_t term;
  };

  std::vector<Lookup> lookups;
  for (uint32_t term = 0; term < query_.terms.size(); ++term) {
    ARROW_ASSIGN_OR_RAISE(const std::optional<ByteRange> block,
                          index_.FindDictionaryBlock(query_.terms[term]));
    if (block.has_value()) lookups.push_back({.block = *block, .term = term});
  }
  std::ranges::stable_sort(lookups, {}, [](const Lookup& lookup) { return lookup.block.offset; });
  for (const Lookup& lookup : lookups) {
    if (reads_.empty() || reads_.back() != lookup.block) {
      reads_.push_back(lookup.block);
      lookups_.emplace_back();
    }
    lookups_.back().push_back(lookup.term);
  }
  return reads_.empty() ? AfterLookup() : arrow::Status::OK();
}

arrow::Status TextSearch::Impl::FindIn(ByteSpan block, std::span<const uint32_t> terms) {
  ARROW_ASSIGN_OR_RAISE(const DictionaryBlock dictionary, DictionaryBlock::Open(index_, block));
  for (const uint32_t term : terms) {
    ARROW_ASSIGN_OR_RAISE(entries_[term], dictionary.Find(query_.terms[term]));
    // A view of the block, which may be gone when the postings are there. Nothing here needs it.
    if (entries_[term].has_value()) entries_[term]->inline_positions = {};
  }
  return arrow::Status::OK();
}

arrow::Status TextSearch::Impl::LookUp(const Buffers& blocks) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    const ByteSpan block(blocks[i]->data(), static_cast<size_t>(blocks[i]->size()));
    ARROW_RETURN_NOT_OK(FindIn(block, lookups_[i]));
  }
  return AfterLookup();
}

bool TextSearch::Impl::ComputeMayMatch() const {
  bool has_must = false;
  bool has_present = false;
  for (const TextClause& clause : query_.clauses) {
    if (clause.occur == Occur::kMustNot) continue;
    const bool present = entries_[TermOf(clause)].has_value();
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
  for (const TextClause& clause : query_.clauses) {
    const uint32_t term = TermOf(clause);
    if (!entries_[term].has_value()) continue;
    if (clause.occur == Occur::kMustNot || only.value_or(term) != term) return std::nullopt;
    only = term;
  }
  return only.has_value() ? std::optional(static_cast<uint64_t>(frequencies_[*only]))
                          : std::nullopt;
}

arrow::Status TextSearch::Impl::AfterLookup() {
  reads_.clear();
  for (size_t term = 0; term < entries_.size(); ++term) {
    if (entries_[term].has_value()) frequencies_[term] = entries_[term]->document_frequency;
  }
  may_match_ = ComputeMayMatch();
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
  const auto contradict = [this](const std::string& what) {
    return MakeError(ErrorKind::kInvalidArgument, "search " + index_.name() + ": " + what);
  };
  const int64_t rows = statistics.rows_with_token;
  if (statistics.document_frequencies.size() != query_.terms.size()) {
    return contradict("statistics are not of this query's terms");
  }
  if (rows < index_.summary().rows_with_token || statistics.token_total < rows) {
    return contradict("statistics count fewer rows or tokens than there are");
  }
  for (size_t term = 0; term < query_.terms.size(); ++term) {
    const int64_t frequency = statistics.document_frequencies[term];
    if (frequency < frequencies_[term] || frequency > rows) {
      return contradict("statistics contradict themselves: document_frequency=" +
                        std::to_string(frequency) + " rows_with_token=" + std::to_string(rows));
    }
    idfs_[term] = InverseDocumentFrequency(rows, frequency);
  }
  scored_ = rows > 0;
  if (!scored_ || !may_match_ || options_.k == 0) {
    state_ = State::kDone;
    return arrow::Status::OK();
  }
  bm25_ = {
      .k1 = options_.k1,
      .b = options_.b,
      .average_length = static_cast<double>(statistics.token_total) / static_cast<double>(rows)};
  return PlanPostings();
}

double TextSearch::Impl::BoundOf(uint32_t term) const {
  return MaxContribution(entries_[term]->impacts, bm25_, idfs_[term]);
}

float TextSearch::Impl::UpperBound() const {
  if (!scored_ || !may_match_ || options_.k == 0) return kNoScore;
  double sum = 0;
  for (const TextClause& clause : query_.clauses) {
    const uint32_t term = TermOf(clause);
    if (clause.occur != Occur::kMustNot && entries_[term].has_value()) sum += BoundOf(term);
  }
  return static_cast<float>(sum * kBoundSlack);
}

/// Which terms' postings matter: those that occur here, but a kShould term of an unranked search
/// only if nothing else decides.
std::vector<bool> TextSearch::Impl::NeededTerms() const {
  const bool has_must = std::ranges::any_of(
      query_.clauses, [](const TextClause& clause) { return clause.occur == Occur::kMust; });
  std::vector<bool> needed(query_.terms.size());
  for (const TextClause& clause : query_.clauses) {
    const uint32_t term = TermOf(clause);
    if (!entries_[term].has_value()) continue;
    if (clause.occur != Occur::kShould || ranked() || !has_must) needed[term] = true;
  }
  return needed;
}

arrow::Status TextSearch::Impl::PlanPostings() {
  state_ = State::kPostings;
  const std::vector<bool> needed = NeededTerms();
  const int64_t start = index_.sections().postings.offset;
  for (uint32_t term = 0; term < needed.size(); ++term) {
    if (!needed[term]) continue;
    const TermEntry& entry = *entries_[term];
    read_terms_.push_back(term);
    if (entry.document_frequency == 1) continue;
    const auto length = static_cast<int64_t>(entry.postings_length);
    const int64_t at_once = std::max(kFirstReadMax, static_cast<int64_t>(entry.skip_length));
    reads_.push_back({.offset = start + static_cast<int64_t>(entry.offset),
                      .length = std::min(length, at_once)});
    if (ranked() && options_.b > 0 && entry.document_frequency > kBlockSize) reads_lengths_ = true;
  }
  if (reads_lengths_) reads_.push_back(index_.sections().lengths);
  return reads_.empty() ? TakePostings({}) : arrow::Status::OK();
}

arrow::Status TextSearch::Impl::TakePostings(Buffers bytes) {
  reads_.clear();
  if (reads_lengths_) {
    lengths_ = std::move(bytes.back());
    bytes.pop_back();
  }
  std::vector<uint32_t> incomplete;
  size_t at = 0;
  for (const uint32_t term : read_terms_) {
    const TermEntry& entry = *entries_[term];
    std::shared_ptr<arrow::Buffer> postings;
    if (entry.document_frequency > 1) postings = std::move(bytes[at++]);
    const std::optional<TermScoring> scoring =
        ranked() ? std::optional(TermScoring{.bm25 = bm25_, .idf = idfs_[term]}) : std::nullopt;
    ARROW_ASSIGN_OR_RAISE(cursors_[term],
                          PostingsCursor::Make(index_, entry, std::move(postings), scoring));
    const std::optional<ByteRange> missing = cursors_[term]->Missing();
    if (!missing.has_value()) continue;
    incomplete.push_back(term);
    reads_.push_back({.offset = index_.sections().postings.offset +
                                static_cast<int64_t>(entry.offset) + missing->offset,
                      .length = missing->length});
  }
  read_terms_ = std::move(incomplete);
  if (reads_.empty()) return Scan();
  state_ = State::kRest;
  return arrow::Status::OK();
}

arrow::Status TextSearch::Impl::TakeRest(Buffers bytes) {
  reads_.clear();
  for (size_t i = 0; i < bytes.size(); ++i) cursors_[read_terms_[i]]->Supply(std::move(bytes[i]));
  return Scan();
}

arrow::Status TextSearch::Impl::Scan() {
  std::vector<ScanClause> clauses;
  for (const TextClause& clause : query_.clauses) {
    const uint32_t term = TermOf(clause);
    if (cursors_[term] == nullptr) continue;
    clauses.push_back({.occur = clause.occur,
                       .cursor = cursors_[term].get(),
                       .idf = idfs_[term],
                       .bound = ranked() ? BoundOf(term) : 0});
  }
  WindowScan scan(std::move(clauses),
                  {.row_count = static_cast<uint32_t>(index_.summary().row_count),
                   .filter = filter_,
                   .prune = options_.prune,
                   .floor = options_.floor});
  switch (options_.mode) {
    case TextSearchMode::kRanked: {
      std::optional<LengthReader> lengths;
      if (lengths_ != nullptr) lengths.emplace(index_, lengths_);
      ARROW_RETURN_NOT_OK(scan.Rank(bm25_, lengths.has_value() ? &*lengths : nullptr, top_));
      top_docs_ = top_.Finish();
      break;
    }
    case TextSearchMode::kMatchAll:
      ARROW_RETURN_NOT_OK(scan.Match(matches_));
      break;
    case TextSearchMode::kCount: {
      ARROW_ASSIGN_OR_RAISE(count_, scan.Count());
      break;
    }
  }
  cursors_.clear();
  state_ = State::kDone;
  return arrow::Status::OK();
}

arrow::Status TextSearch::Impl::Feed(Buffers bytes) {
  bool fits = bytes.size() == reads_.size();
  for (size_t i = 0; i < reads_.size() && fits; ++i) fits = bytes[i]->size() == reads_[i].length;
  if (!fits || reads_.empty()) {
    return MakeError(ErrorKind::kInternal,
                     "search " + index_.name() + ": fed what was not asked for");
  }
  switch (state_) {
    case State::kLookup:
      return LookUp(bytes);
    case State::kPostings:
      return TakePostings(std::move(bytes));
    case State::kRest:
      return TakeRest(std::move(bytes));
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
  ARROW_RETURN_NOT_OK(CheckQuery(query, options));
  auto impl = std::make_unique<Impl>(index, query, filter, options);
  ARROW_RETURN_NOT_OK(impl->Start());
  return std::make_unique<TextSearch>(std::move(impl));
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
