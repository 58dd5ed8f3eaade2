#include "infino/index/text/ranked_scan.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/sorted_block.h"
#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/index/shared_floor.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/clause_cursor.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_query.h"
#include "infino/index/top_k.h"

namespace infino::text {
namespace {

/// A window should bring about so many documents: fewer are not worth planning it.
constexpr double kWantedInWindow = 512;

/// A double that is this much lower than a float rounds to a lower float.
constexpr double kBelowFloat = 1 - 1.25e-7;

/// A sum of n clauses in one order is within n times this of the sum in another.
constexpr double kRounding = 2.5e-16;

}  // namespace

RankedScan::RankedScan(std::vector<RankClause> clauses, RankOptions options)
    : clauses_(std::move(clauses)), options_(std::move(options)) {
  bool repeated = false;
  for (size_t i = 0; i < clauses_.size(); ++i) {
    repeated = repeated || clauses_[i].count > 1;
    switch (clauses_[i].occur) {
      case Occur::kMust:
        must_.push_back(i);
        break;
      case Occur::kShould:
        should_.push_back(i);
        break;
      case Occur::kMustNot:
        must_not_.push_back(i);
        break;
    }
  }
  std::ranges::stable_sort(must_, {},
                           [this](size_t i) { return clauses_[i].cursor->document_count(); });
  std::ranges::stable_sort(should_, std::ranges::greater(),
                           [this](size_t i) { return MaxOf(clauses_[i]); });
  should_rest_.resize(should_.size() + 1);
  for (size_t i = should_.size(); i > 0; --i) {
    should_rest_[i - 1] = should_rest_[i] + MaxOf(clauses_[should_[i - 1]]);
  }
  if (must_.size() + should_.size() > 1 || repeated) {
    tolerance_ = static_cast<double>(options_.clause_count + 4) * kRounding;
  }
}

/// Starts the floor at what k documents reach by one clause alone.
void RankedScan::SeedFloor(uint64_t k) {
  if (!options_.prune || options_.filter != nullptr || !must_.empty() || !must_not_.empty()) return;
  for (const size_t i : should_) {
    const std::optional<double> reached = clauses_[i].cursor->ReachedBy(k);
    if (reached.has_value()) floor_ = std::max(floor_, static_cast<float>(*reached));
  }
  if (options_.floor != nullptr) options_.floor->Raise(floor_);
}

void RankedScan::UpdateCut() {
  if (!options_.prune) return;
  if (options_.floor != nullptr) floor_ = std::max(floor_, options_.floor->score());
  cut_ = -std::numeric_limits<double>::infinity();
  if (top_->threshold() > 0) cut_ = double{top_->threshold()} / kBoundSlack;
  if (floor_ > 0) cut_ = std::max(cut_, double{floor_} * kBelowFloat);
}

arrow::Status RankedScan::Run(uint64_t k, TopK& top) {
  top_ = &top;
  SeedFloor(k);
  UpdateCut();
  if (!must_.empty()) return RunBlocks(must_.front(), 0);
  if (should_.size() == 1) return RunBlocks(should_.front(), 0);
  return RunWindows();
}

// --- Candidates from the blocks of one clause

/// Ranks what `lead` matches from `from` on; the others only add, or take away.
arrow::Status RankedScan::RunBlocks(size_t lead, DocId from) {
  MakeRoom(kBlockSize);
  steps_.clear();
  for (const size_t i : must_) {
    if (i != lead) steps_.push_back({i, Ask::kRequire, MaxOf(clauses_[i]), 0});
  }
  for (const size_t i : should_) {
    if (i != lead) steps_.push_back({i, Ask::kAdd, MaxOf(clauses_[i]), 0});
  }
  for (const size_t i : must_not_) steps_.push_back({i, Ask::kExclude, 0, 0});
  double rest = 0;
  for (size_t i = steps_.size(); i > 0; --i) {
    steps_[i - 1].rest = rest;
    rest += steps_[i - 1].bound;
  }
  const RankClause& clause = clauses_[lead];
  // Where another clause must match too, most candidates fall to that: then only those that are
  // left are scored.
  const bool score_late = must_.size() > 1;
  clause.cursor->SeekBlock(from);
  for (; !clause.cursor->at_end(); clause.cursor->NextBlock()) {
    if (options_.floor != nullptr) UpdateCut();
    if (options_.prune) {
      clause.cursor->SkipBlocksUpTo((cut_ - rest) / clause.count);
      if (clause.cursor->at_end()) break;
    }
    ARROW_RETURN_NOT_OK(TakeBlock(clause, from, options_.row_count, !score_late));
    if (!score_late) {
      ARROW_RETURN_NOT_OK(FinishBatch(steps_));
      continue;
    }
    Step first = steps_.front();
    first.rest += clause.count * clause.cursor->block_bound();
    ARROW_RETURN_NOT_OK(AskClause(first));
    ARROW_RETURN_NOT_OK(ScoreLead(clause));
    ARROW_RETURN_NOT_OK(FinishBatch(std::span<const Step>(steps_).subspan(1)));
  }
  return arrow::Status::OK();
}

/// Adds what `lead`, which all candidates are of the current block of, scores.
arrow::Status RankedScan::ScoreLead(const RankClause& lead) {
  if (candidate_count_ == 0) return arrow::Status::OK();
  const std::span<uint8_t> ordinals = std::span(located_).first(candidate_count_);
  const std::span<const DocId> docs = std::span<const DocId>(docs_).first(candidate_count_);
  ARROW_RETURN_NOT_OK(lead.cursor->Locate(docs, ordinals));
  found_.Clear();
  lead.cursor->Find(ordinals, docs, found_);
  lead.cursor->Finish(found_);
  const std::span<const double> scores = found_.scores();
  for (size_t i = 0; i < candidate_count_; ++i) sums_[i] += lead.count * scores[i];
  return arrow::Status::OK();
}

/// Makes those documents of the clause's current block candidates that lie in [begin, end) and
/// pass.
arrow::Status RankedScan::TakeBlock(const RankClause& clause, DocId begin, uint64_t end,
                                    bool score) {
  ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, clause.cursor->Docs());
  const auto [from, to] = ClipBlock(docs, begin, end);
  candidate_count_ = to - from;
  if (candidate_count_ == 0) return arrow::Status::OK();
  std::copy_n(docs.begin() + static_cast<ptrdiff_t>(from), candidate_count_, docs_.begin());
  if (score) {
    const std::span<double> scores = std::span(scores_).first(candidate_count_);
    clause.cursor->Scores(from, scores);
    for (size_t i = 0; i < candidate_count_; ++i) sums_[i] = clause.count * scores[i];
  } else {
    std::fill_n(sums_.begin(), candidate_count_, 0);
  }
  if (options_.filter == nullptr) return arrow::Status::OK();
  kept_count_ = 0;
  for (size_t i = 0; i < candidate_count_; ++i) {
    const uint64_t word = options_.filter->Word(docs_[i] / kWordBits);
    const bool passes = (word >> (docs_[i] % kWordBits) & 1) != 0;
    if (passes) Keep(i);
  }
  candidate_count_ = kept_count_;
  return arrow::Status::OK();
}

// --- Candidates from windows

arrow::Status RankedScan::RunWindows() {
  MakeRoom(kBlockSize);
  present_bound_.resize(clauses_.size());
  while (true) {
    UpdateCut();
    if (CannotCompete(should_rest_[0])) return arrow::Status::OK();
    if (should_.size() > 1 && CannotCompete(should_rest_[1])) {
      // Only what the first clause matches can still get there, so its blocks lead from here.
      const uint64_t from = started_ ? window_end() : 0;
      if (from >= options_.row_count) return arrow::Status::OK();
      return RunBlocks(should_.front(), static_cast<DocId>(from));
    }
    const uint64_t from = started_ ? window_end() : 0;
    ChooseWindowSize();
    ARROW_ASSIGN_OR_RAISE(const bool more, MoveToNextWindow(from));
    if (!more) return arrow::Status::OK();
    if (PlanWindow()) ARROW_RETURN_NOT_OK(RankWindow());
  }
}

/// Sparse clauses share a wide window, dense ones get one whose sums stay close to the processor.
void RankedScan::ChooseWindowSize() {
  double expected = 0;  // of a document
  for (size_t i = 0; i < should_.size() && !CannotCompete(should_rest_[i]); ++i) {
    expected += clauses_[should_[i]].cursor->document_count();
  }
  window_size_ = kMinWindowSize;
  const double rows = options_.row_count;
  while (window_size_ < kMaxWindowSize && expected * window_size_ < kWantedInWindow * rows) {
    window_size_ *= 2;
  }
  if (window_sums_.size() >= window_size_) return;
  window_sums_.resize(window_size_);
  bits_.resize(window_size_ / kWordBits);
  words_.resize(window_size_ / kWordBits / kWordBits);
}

/// Moves to the next window, from `from` on, where a document may be one of the best; false if
/// there is none.
arrow::Result<bool> RankedScan::MoveToNextWindow(uint64_t from) {
  started_ = true;
  if (from >= options_.row_count) return false;
  const auto first = static_cast<DocId>(from);
  uint64_t next = std::numeric_limits<uint64_t>::max();
  for (size_t i = 0; i < should_.size() && next >= from + window_size_; ++i) {
    if (CannotCompete(should_rest_[i])) break;
    ClauseCursor& cursor = *clauses_[should_[i]].cursor;
    cursor.SeekBlock(first);
    if (cursor.at_end() || cursor.block_begin() >= next) continue;
    if (cursor.block_last() - cursor.block_begin() < window_size_) {
      next = std::max(first, cursor.block_begin());  // close enough to save decoding
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, cursor.Docs());
    next = std::min<uint64_t>(next, docs[SearchBlock(docs, first)]);
  }
  if (next >= options_.row_count) return false;
  // Closer than a window only one clause was asked.
  const bool skips = next >= from + window_size_;
  begin_ = skips ? static_cast<DocId>(next / kMinWindowSize * kMinWindowSize) : first;
  return true;
}

/// Says which clauses matter in the window; false if nothing there can compete.
bool RankedScan::PlanWindow() {
  present_.clear();
  for (const size_t i : should_) {
    const auto end = static_cast<DocId>(std::min<uint64_t>(window_end(), options_.row_count));
    const double bound = clauses_[i].count * clauses_[i].cursor->BoundWithin(begin_, end);
    if (bound < 0) continue;
    present_bound_[i] = bound;
    present_.push_back(i);
  }
  // Few, and mostly in order already.
  for (size_t i = 1; i < present_.size(); ++i) {
    const size_t clause = present_[i];
    size_t at = i;
    for (; at > 0 && present_bound_[present_[at - 1]] < present_bound_[clause]; --at) {
      present_[at] = present_[at - 1];
    }
    present_[at] = clause;
  }
  present_rest_.assign(present_.size() + 1, 0);
  for (size_t i = present_.size(); i > 0; --i) {
    present_rest_[i - 1] = present_rest_[i] + present_bound_[present_[i - 1]];
  }
  essential_count_ = 0;
  while (essential_count_ < present_.size() && !CannotCompete(present_rest_[essential_count_])) {
    ++essential_count_;
  }
  return essential_count_ > 0;
}

arrow::Status RankedScan::RankWindow() {
  steps_.clear();
  for (size_t i = essential_count_; i < present_.size(); ++i) {
    steps_.push_back({present_[i], Ask::kAdd, present_bound_[present_[i]], present_rest_[i + 1]});
  }
  for (const size_t i : must_not_) steps_.push_back({i, Ask::kExclude, 0, 0});
  if (essential_count_ == 1) {
    return RankOnly(clauses_[present_.front()], present_bound_[present_.front()]);
  }
  for (size_t i = 0; i < essential_count_; ++i) {
    ARROW_RETURN_NOT_OK(AddUp(clauses_[present_[i]], present_bound_[present_[i]]));
  }
  CollectWindow();
  return FinishBatch(steps_);
}

/// Ranks a window to which only one clause can bring candidates.
arrow::Status RankedScan::RankOnly(const RankClause& clause, double bound) {
  ClauseCursor& cursor = *clause.cursor;
  const double others = present_rest_[0] - bound;
  cursor.SeekBlock(begin_);
  for (; !cursor.at_end() && cursor.block_begin() < window_end(); cursor.NextBlock()) {
    if (CannotCompete(others + clause.count * cursor.block_bound())) continue;
    ARROW_RETURN_NOT_OK(TakeBlock(clause, begin_, window_end(), true));
    ARROW_RETURN_NOT_OK(FinishBatch(steps_));
    if (cursor.block_last() >= window_end()) break;
  }
  return arrow::Status::OK();
}

/// Adds what the clause's documents in the window score.
arrow::Status RankedScan::AddUp(const RankClause& clause, double bound) {
  ClauseCursor& cursor = *clause.cursor;
  const double others = present_rest_[0] - bound;
  cursor.SeekBlock(begin_);
  for (; !cursor.at_end() && cursor.block_begin() < window_end(); cursor.NextBlock()) {
    if (CannotCompete(others + clause.count * cursor.block_bound())) continue;
    ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> all, cursor.Docs());
    const auto [from, to] = ClipBlock(all, begin_, window_end());
    if (from == to) continue;
    const std::span<const DocId> docs = all.subspan(from, to - from);
    const std::span<double> scores = std::span(scores_).first(docs.size());
    cursor.Scores(from, scores);
    for (size_t i = 0; i < docs.size(); ++i) {
      const uint32_t place = docs[i] - begin_;
      window_sums_[place] += clause.count * scores[i];
      const uint32_t word = place / kWordBits;
      bits_[word] |= uint64_t{1} << (place % kWordBits);
      words_[word / kWordBits] |= uint64_t{1} << (word % kWordBits);
    }
    if (cursor.block_last() >= window_end()) break;
  }
  return arrow::Status::OK();
}

/// Makes candidates of what was added up, and forgets the sums.
void RankedScan::CollectWindow() {
  candidate_count_ = 0;
  const double least = options_.prune ? cut_ - present_rest_[essential_count_]
                                      : -std::numeric_limits<double>::infinity();
  for (uint32_t group = 0; group < window_size_ / kWordBits / kWordBits; ++group) {
    for (uint64_t words = words_[group]; words != 0; words &= words - 1) {
      CollectWord(group * kWordBits + static_cast<uint32_t>(std::countr_zero(words)), least);
    }
    words_[group] = 0;
  }
}

void RankedScan::MakeRoom(size_t candidates) {
  if (docs_.size() >= candidates) return;
  const size_t room = std::max(candidates, 2 * docs_.size());
  docs_.resize(room);
  sums_.resize(room);
  located_.resize(room);
  places_.resize(room);
}

/// Makes candidates of those documents of a word of the window that sum up to more than `least`.
void RankedScan::CollectWord(uint32_t word, double least) {
  MakeRoom(candidate_count_ + kWordBits);
  const uint64_t passing =
      options_.filter == nullptr ? ~uint64_t{0} : options_.filter->Word(begin_ / kWordBits + word);
  for (uint64_t left = bits_[word]; left != 0; left &= left - 1) {
    const auto bit = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t place = word * kWordBits + bit;
    docs_[candidate_count_] = begin_ + place;
    sums_[candidate_count_] = window_sums_[place];
    candidate_count_ += static_cast<size_t>(window_sums_[place] > least) & (passing >> bit & 1);
    window_sums_[place] = 0;
  }
  bits_[word] = 0;
}

// --- What happens to candidates

arrow::Status RankedScan::FinishBatch(std::span<const Step> steps) {
  for (const Step& step : steps) {
    DropWeak(step.bound + step.rest);
    if (candidate_count_ == 0) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(AskClause(step));
  }
  return OfferAll();
}

void RankedScan::Keep(size_t candidate) {
  docs_[kept_count_] = docs_[candidate];
  sums_[kept_count_] = sums_[candidate];
  ++kept_count_;
}

/// Drops the candidates that can't compete even if they get `rest` on top.
void RankedScan::DropWeak(double rest) {
  if (!options_.prune) return;
  const double least = cut_ - rest;
  size_t kept = 0;
  for (size_t i = 0; i < candidate_count_; ++i) {
    docs_[kept] = docs_[i];
    sums_[kept] = sums_[i];
    kept += sums_[i] > least ? size_t{1} : 0;
  }
  candidate_count_ = kept;
}

arrow::Status RankedScan::AskClause(const Step& step) {
  const RankClause& clause = clauses_[step.clause];
  ClauseCursor& cursor = *clause.cursor;
  kept_count_ = 0;
  found_.Clear();
  for (size_t i = 0; i < candidate_count_;) {
    cursor.SeekBlock(docs_[i]);
    if (cursor.at_end()) {
      if (step.ask != Ask::kRequire) {
        while (i < candidate_count_) Keep(i++);
      }
      break;
    }
    const DocId last = cursor.block_last();
    double best = 0;
    size_t end = i;
    for (; end < candidate_count_ && docs_[end] <= last; ++end) best = std::max(best, sums_[end]);
    const bool can_compete = step.ask == Ask::kExclude ||
                             !CannotCompete(best + clause.count * cursor.block_bound() + step.rest);
    if (can_compete) ARROW_RETURN_NOT_OK(AskBlock(step, i, end));
    i = end;
  }
  candidate_count_ = kept_count_;
  cursor.Finish(found_);
  const std::span<const double> scores = found_.scores();
  for (size_t i = 0; i < scores.size(); ++i) sums_[places_[i]] += clause.count * scores[i];
  return arrow::Status::OK();
}

/// Asks the clause's current block about candidates [begin, end).
arrow::Status RankedScan::AskBlock(const Step& step, size_t begin, size_t end) {
  const RankClause& clause = clauses_[step.clause];
  const std::span<uint8_t> ordinals = std::span(located_).first(end - begin);
  ARROW_RETURN_NOT_OK(
      clause.cursor->Locate(std::span<const DocId>(docs_).subspan(begin, end - begin), ordinals));
  const std::span<uint32_t> places = std::span(places_).subspan(found_.size());
  size_t found = 0;
  const size_t first_kept = kept_count_;
  for (size_t i = begin; i < end; ++i) {
    const uint8_t ordinal = ordinals[i - begin];
    const bool matches = ordinal != kNotInBlock;
    if (matches) {
      if (step.ask == Ask::kExclude) continue;
      ordinals_[found] = ordinal;
      places[found] = static_cast<uint32_t>(kept_count_);
      ++found;
    } else if (step.ask == Ask::kRequire) {
      continue;
    }
    Keep(i);
  }
  if (found == 0) return arrow::Status::OK();
  // Where the clause must match, what was kept is what was found.
  std::span<const DocId> found_docs = std::span<const DocId>(docs_).subspan(first_kept, found);
  if (step.ask != Ask::kRequire) {
    for (size_t i = 0; i < found; ++i) found_docs_[i] = docs_[places[i]];
    found_docs = std::span(found_docs_).first(found);
  }
  clause.cursor->Find(std::span(ordinals_).first(found), found_docs, found_);
  return arrow::Status::OK();
}

arrow::Status RankedScan::OfferAll() {
  bool taken = false;
  for (size_t i = 0; i < candidate_count_; ++i) {
    if (CannotCompete(sums_[i])) continue;
    const auto low = static_cast<float>(sums_[i] * (1 - tolerance_));
    float score = static_cast<float>(sums_[i] * (1 + tolerance_));
    if (!(score > top_->threshold()) || score < floor_) continue;
    if (low != score) {
      ARROW_ASSIGN_OR_RAISE(score, options_.exact_score(docs_[i]));
    }
    if (!(score > top_->threshold()) || score < floor_) continue;
    top_->Offer({.doc = docs_[i], .score = score});
    taken = true;
  }
  candidate_count_ = 0;
  if (!taken) return arrow::Status::OK();
  if (options_.floor != nullptr && top_->full()) options_.floor->Raise(top_->threshold());
  UpdateCut();
  return arrow::Status::OK();
}

}  // namespace infino::text
