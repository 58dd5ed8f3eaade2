#include "infino/index/text/window_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/index/shared_floor.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/postings_cursor.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_query.h"
#include "infino/index/top_k.h"

namespace infino::text {
namespace {

constexpr uint32_t kWordBits = 64;

/// A sum less one of its parts is off by less than this share of the sum.
constexpr double kDifferenceSlack = 1e-12;

/// Calls `visit` with the ordinal of every bit that is set, in order.
template <size_t kWords, typename Visit>
void ForEachBit(const std::array<uint64_t, kWords>& bits, const Visit& visit) {
  for (uint32_t word = 0; word < kWords; ++word) {
    for (uint64_t left = bits[word]; left != 0; left &= left - 1) {
      visit(word * kWordBits + static_cast<uint32_t>(std::countr_zero(left)));
    }
  }
}

/// Those of a block's documents that lie in [begin, end), as ordinals [first, last).
std::pair<size_t, size_t> Clip(std::span<const DocId> docs, DocId begin, DocId end) {
  const auto* first = docs.data();
  const auto* last = first + docs.size();
  const auto* from = docs.front() >= begin ? first : std::lower_bound(first, last, begin);
  const auto* to = docs.back() < end ? last : std::lower_bound(from, last, end);
  return {static_cast<size_t>(from - first), static_cast<size_t>(to - first)};
}

}  // namespace

WindowScan::WindowScan(std::vector<ScanClause> clauses, const ScanOptions& options)
    : clauses_(std::move(clauses)),
      options_(options),
      bounds_(clauses_.size()),
      essential_(clauses_.size(), 1) {
  for (size_t i = 0; i < clauses_.size(); ++i) {
    if (clauses_[i].occur == Occur::kMustNot) {
      must_not_.push_back(i);
      continue;
    }
    positive_.push_back(i);
    if (clauses_[i].occur == Occur::kMust) must_.push_back(i);
  }
  std::ranges::stable_sort(must_, {},
                           [this](size_t i) { return clauses_[i].cursor->document_count(); });
  by_bound_ = positive_;
  std::ranges::stable_sort(by_bound_, {}, [this](size_t i) { return clauses_[i].bound; });
  sums_.fill(0);
}

/// The first document of the cursor that is at least `from`, or `limit` if that is not below it.
arrow::Result<DocId> WindowScan::NextDoc(PostingsCursor& cursor, DocId from, DocId limit) {
  ARROW_RETURN_NOT_OK(cursor.SeekBlock(from));
  if (cursor.at_end() || cursor.block_begin() >= limit) return limit;
  if (cursor.block_last() - cursor.block_begin() < kWindowSize) {
    return std::max(from, cursor.block_begin());  // close enough to save decoding
  }
  ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, cursor.Docs());
  return std::min(limit, *std::ranges::lower_bound(docs, from));
}

/// Moves to the next window where something may match; false if there is none.
arrow::Result<bool> WindowScan::MoveToNextWindow() {
  const uint64_t from = started_ ? uint64_t{begin_} + kWindowSize : 0;
  started_ = true;
  if (from >= options_.row_count) return false;
  auto next = static_cast<DocId>(from);
  const DocId none = options_.row_count;
  if (must_.empty()) {
    DocId nearest = none;
    for (const size_t i : positive_) {
      if (nearest < none && nearest < from + kWindowSize) break;
      ARROW_ASSIGN_OR_RAISE(nearest, NextDoc(*clauses_[i].cursor, next, nearest));
    }
    next = nearest;
  } else {
    for (const size_t i : must_) {
      ARROW_ASSIGN_OR_RAISE(next, NextDoc(*clauses_[i].cursor, next, none));
      if (next == none) break;
    }
  }
  begin_ = next / kWindowSize * kWindowSize;
  return next != none;
}

/// Keeps the documents that pass; false if none is left.
bool WindowScan::ApplyFilter(Bits& bits) const {
  uint64_t any = 0;
  for (uint32_t word = 0; word < kWindowWords; ++word) {
    if (options_.filter != nullptr) bits[word] &= options_.filter->Word(begin_ / kWordBits + word);
    any |= bits[word];
  }
  return any != 0;
}

bool WindowScan::AnyWithin(const Bits& bits, DocId first, DocId last) const {
  const uint32_t from = std::max(first, begin_) - begin_;
  const uint32_t to = std::min(last, end() - 1) - begin_;
  const uint64_t head = ~uint64_t{0} << (from % kWordBits);
  const uint64_t tail = ~uint64_t{0} >> (kWordBits - 1 - to % kWordBits);
  uint32_t word = from / kWordBits;
  const uint32_t last_word = to / kWordBits;
  if (word == last_word) return (bits[word] & head & tail) != 0;
  if ((bits[word] & head) != 0) return true;
  while (++word < last_word) {
    if (bits[word] != 0) return true;
  }
  return (bits[word] & tail) != 0;
}

/// Sets the bits of the cursor's documents, of those `within` if it isn't null.
arrow::Status WindowScan::Mark(PostingsCursor& cursor, const Bits* within, Bits& bits) {
  ARROW_RETURN_NOT_OK(cursor.SeekBlock(begin_));
  while (!cursor.at_end() && cursor.block_begin() < end()) {
    const DocId last = cursor.block_last();
    if (within == nullptr || AnyWithin(*within, cursor.block_begin(), last)) {
      ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, cursor.Docs());
      const auto [from, to] = Clip(docs, begin_, end());
      for (size_t i = from; i < to; ++i) {
        const uint32_t bit = docs[i] - begin_;
        bits[bit / kWordBits] |= uint64_t{1} << (bit % kWordBits);
      }
    }
    if (last >= end()) break;
    ARROW_RETURN_NOT_OK(cursor.NextBlock());
  }
  return arrow::Status::OK();
}

/// Takes the documents of the kMustNot clauses out.
arrow::Status WindowScan::Exclude(Bits& bits) {
  for (const size_t i : must_not_) {
    Bits excluded{};
    ARROW_RETURN_NOT_OK(Mark(*clauses_[i].cursor, &bits, excluded));
    for (uint32_t word = 0; word < kWindowWords; ++word) bits[word] &= ~excluded[word];
  }
  return arrow::Status::OK();
}

/// Sets matches_ to the window's documents that match and pass. When ranking, those that only
/// inessential clauses match may be missing. False if there are none.
arrow::Result<bool> WindowScan::FindMatches(bool ranked) {
  matches_.fill(0);
  if (must_.empty()) {
    for (const size_t i : positive_) {
      if (ranked && essential_[i] == 0) continue;
      ARROW_RETURN_NOT_OK(Mark(*clauses_[i].cursor, nullptr, matches_));
    }
  } else {
    ARROW_RETURN_NOT_OK(Mark(*clauses_[must_.front()].cursor, nullptr, matches_));
    for (const size_t i : std::span(must_).subspan(1)) {
      Bits found{};
      ARROW_RETURN_NOT_OK(Mark(*clauses_[i].cursor, &matches_, found));
      for (uint32_t word = 0; word < kWindowWords; ++word) matches_[word] &= found[word];
    }
  }
  if (!ApplyFilter(matches_)) return false;
  ARROW_RETURN_NOT_OK(Exclude(matches_));
  return true;
}

template <typename Visit>
arrow::Status WindowScan::ForEachMatchingWindow(const Visit& visit) {
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const bool more, MoveToNextWindow());
    if (!more) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const bool found, FindMatches(false));
    if (found) visit();
  }
}

arrow::Status WindowScan::Match(std::vector<DocId>& matches) {
  return ForEachMatchingWindow(
      [&] { ForEachBit(matches_, [&](uint32_t bit) { matches.push_back(begin_ + bit); }); });
}

arrow::Result<uint64_t> WindowScan::Count() {
  uint64_t count = 0;
  ARROW_RETURN_NOT_OK(ForEachMatchingWindow([&] {
    for (const uint64_t word : matches_) count += static_cast<uint64_t>(std::popcount(word));
  }));
  return count;
}

/// Whether a document whose contributions add up to no more than `bound` is none of the k best.
bool WindowScan::CannotCompete(double bound) const {
  const auto score = static_cast<float>(bound * kBoundSlack);
  return score <= top_->threshold() || score < floor_;
}

/// The highest contribution of the cursor's postings in the window.
arrow::Result<double> WindowScan::WindowBound(PostingsCursor& cursor) const {
  double bound = 0;
  ARROW_RETURN_NOT_OK(cursor.SeekBlock(begin_));
  while (!cursor.at_end() && cursor.block_begin() < end()) {
    bound = std::max(bound, cursor.block_bound());
    if (cursor.block_last() >= end()) break;
    ARROW_RETURN_NOT_OK(cursor.NextBlock());
  }
  return bound;
}

arrow::Result<WindowScan::WindowPlan> WindowScan::PlanWindow() {
  std::ranges::fill(essential_, uint8_t{1});
  if (options_.floor != nullptr) floor_ = options_.floor->score();
  WindowPlan plan;
  if (!options_.prune) return plan;
  if (!top_->full() && floor_ == -std::numeric_limits<float>::infinity()) return plan;
  for (const size_t i : positive_) plan.total += clauses_[i].cursor->CoarseBound(begin_, end());
  plan.skip = CannotCompete(plan.total);
  if (plan.skip) return plan;
  plan.total = 0;
  for (const size_t i : positive_) {
    ARROW_ASSIGN_OR_RAISE(bounds_[i], WindowBound(*clauses_[i].cursor));
    plan.total += bounds_[i];
  }
  plan.skip = CannotCompete(plan.total);
  if (plan.skip || !must_.empty()) return plan;
  double sum = 0;
  for (const size_t i : by_bound_) {
    sum += bounds_[i];
    if (!CannotCompete(sum)) break;
    essential_[i] = 0;
  }
  return plan;
}

/// Picks all of `docs` and adds them to matches_.
void WindowScan::PickAll(std::span<const DocId> docs) {
  for (size_t i = 0; i < docs.size(); ++i) {
    const uint32_t bit = docs[i] - begin_;
    matches_[bit / kWordBits] |= uint64_t{1} << (bit % kWordBits);
    picked_[i] = static_cast<uint16_t>(bit);
    ordinals_[i] = static_cast<uint8_t>(i);
  }
}

/// Picks those of `docs` that are in matches_, and says how many.
size_t WindowScan::PickMatches(std::span<const DocId> docs) {
  size_t count = 0;
  for (size_t i = 0; i < docs.size(); ++i) {
    const uint32_t bit = docs[i] - begin_;
    picked_[count] = static_cast<uint16_t>(bit);
    ordinals_[count] = static_cast<uint8_t>(i);
    count += (matches_[bit / kWordBits] >> (bit % kWordBits)) & 1;  // no branch to mispredict
  }
  return count;
}

/// Sets frequencies_ and doc_lengths_ of the picked documents. Without `lengths` they come from the
/// array, and without that they don't matter.
void WindowScan::TakeNumbers(std::span<const uint32_t> frequencies,
                             std::span<const uint32_t> lengths, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    frequencies_[i] = static_cast<int32_t>(frequencies[ordinals_[i]]);
  }
  if (!lengths.empty()) {
    for (size_t i = 0; i < count; ++i) {
      doc_lengths_[i] = static_cast<int32_t>(lengths[ordinals_[i]]);
    }
  } else if (lengths_ != nullptr) {
    lengths_->Prepare(std::span<const uint16_t>(picked_).first(count));
    const std::array<uint32_t, kLengthChunkSize>& all = lengths_->lengths();
    for (size_t i = 0; i < count; ++i) doc_lengths_[i] = static_cast<int32_t>(all[picked_[i]]);
  } else {
    std::fill_n(doc_lengths_.begin(), count, 0);
  }
}

/// Adds the contributions of the current block's documents, of those that are in matches_ or of all
/// (which then puts them there).
arrow::Status WindowScan::AccumulateBlock(const ScanClause& clause, bool only_matches) {
  PostingsCursor& cursor = *clause.cursor;
  ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, cursor.Docs());
  const auto [from, to] = Clip(docs, begin_, end());
  const std::span<const DocId> inside = docs.subspan(from, to - from);
  size_t count = inside.size();
  if (only_matches) {
    count = PickMatches(inside);
  } else {
    PickAll(inside);
  }
  if (count == 0) return arrow::Status::OK();
  const std::span<const uint32_t> lengths = cursor.Lengths();
  TakeNumbers(cursor.Frequencies().subspan(from), lengths.empty() ? lengths : lengths.subspan(from),
              count);
  const Bm25 bm25 = bm25_;
  const double idf = clause.idf;
  for (size_t i = 0; i < count; ++i) {
    contributions_[i] = bm25.Contribution(idf, frequencies_[i], doc_lengths_[i]);
  }
  for (size_t i = 0; i < count; ++i) sums_[picked_[i]] += contributions_[i];
  return arrow::Status::OK();
}

arrow::Status WindowScan::Accumulate(size_t ordinal, const WindowPlan& plan, bool only_matches) {
  const ScanClause& clause = clauses_[ordinal];
  PostingsCursor& cursor = *clause.cursor;
  const double others = plan.total - bounds_[ordinal] + plan.total * kDifferenceSlack;
  const bool prune = options_.prune && plan.total > 0;
  ARROW_RETURN_NOT_OK(cursor.SeekBlock(begin_));
  while (!cursor.at_end() && cursor.block_begin() < end()) {
    const DocId last = cursor.block_last();
    const bool wanted = (!prune || !CannotCompete(others + cursor.block_bound())) &&
                        (!only_matches || AnyWithin(matches_, cursor.block_begin(), last));
    if (wanted) ARROW_RETURN_NOT_OK(AccumulateBlock(clause, only_matches));
    if (last >= end()) break;
    ARROW_RETURN_NOT_OK(cursor.NextBlock());
  }
  return arrow::Status::OK();
}

/// Offers what was summed up, and clears the sums.
void WindowScan::OfferWindow() {
  ForEachBit(matches_, [this](uint32_t bit) {
    const auto score = static_cast<float>(sums_[bit]);
    sums_[bit] = 0;
    if (score > top_->threshold() && score >= floor_) {
      top_->Offer({.doc = begin_ + bit, .score = score});
    }
  });
  if (options_.floor != nullptr && top_->full()) options_.floor->Raise(top_->threshold());
}

arrow::Status WindowScan::RankWindow(const WindowPlan& plan) {
  if (lengths_ != nullptr) ARROW_RETURN_NOT_OK(lengths_->MoveTo(begin_));
  const bool all_count =
      std::ranges::all_of(positive_, [this](size_t i) { return essential_[i] != 0; });
  const bool directly =
      must_.empty() && all_count && must_not_.empty() && options_.filter == nullptr;
  if (directly) {
    matches_.fill(0);
  } else {
    ARROW_ASSIGN_OR_RAISE(const bool found, FindMatches(true));
    if (!found) return arrow::Status::OK();
  }
  for (const size_t i : positive_) ARROW_RETURN_NOT_OK(Accumulate(i, plan, !directly));
  OfferWindow();
  return arrow::Status::OK();
}

arrow::Status WindowScan::Rank(const Bm25& bm25, LengthReader* lengths, TopK& top) {
  bm25_ = bm25;
  lengths_ = lengths;
  top_ = &top;
  floor_ = -std::numeric_limits<float>::infinity();
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const bool more, MoveToNextWindow());
    if (!more) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const WindowPlan plan, PlanWindow());
    if (!plan.skip) ARROW_RETURN_NOT_OK(RankWindow(plan));
  }
}

}  // namespace infino::text
