#include "infino/index/text/match_scan.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/bit_marks.h"
#include "infino/codec/sorted_block.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/index/text/clause_cursor.h"
#include "infino/index/text/text_query.h"

namespace infino::text {
namespace {

constexpr uint32_t kWordBits = 64;

constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

/// A clause that matches less than one document in so many is looked up one by one.
constexpr uint32_t kSparse = 32;

/// So many documents in a row are marked by bytes, which are made bits at once afterwards.
constexpr size_t kManyMarks = 16;

/// Of the marks of sparse clauses, a few pages.
constexpr uint32_t kWideWindow = 1 << 17;

/// Whether any of the bits [from, to] is set.
bool AnyBetween(std::span<const uint64_t> bits, uint32_t from, uint32_t to) {
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

}  // namespace

MatchScan::MatchScan(std::span<const MatchClause> clauses, uint32_t row_count,
                     const DocFilter* filter)
    : row_count_(row_count), filter_(filter) {
  for (const MatchClause& clause : clauses) {
    switch (clause.occur) {
      case Occur::kMust:
        must_.push_back(clause.cursor);
        break;
      case Occur::kShould:
        should_.push_back(clause.cursor);
        break;
      case Occur::kMustNot:
        must_not_.push_back(clause.cursor);
        break;
    }
  }
  std::ranges::stable_sort(must_, {}, &ClauseCursor::document_count);
  std::ranges::stable_sort(should_, std::ranges::greater(), &ClauseCursor::document_count);
}

bool MatchScan::LeadIsSparse() const {
  return !must_.empty() && must_.front()->document_count() < row_count_ / kSparse;
}

template <typename TakeBits, typename TakeDocs>
arrow::Status MatchScan::Run(const TakeBits& take_bits, const TakeDocs& take_docs) {
  if (LeadIsSparse()) {
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const bool more, NextBlock());
      if (!more) return arrow::Status::OK();
      take_docs();
    }
  }
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const bool more, NextWindow());
    if (!more) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(FindMatches());
    if (ApplyFilter()) take_bits();
  }
}

arrow::Status MatchScan::Match(std::vector<DocId>& matches) {
  const auto take_bits = [&] {
    for (uint32_t word = 0; word < kWindowWords; ++word) {
      for (uint64_t left = bits_[word]; left != 0; left &= left - 1) {
        matches.push_back(begin_ + word * kWordBits +
                          static_cast<uint32_t>(std::countr_zero(left)));
      }
    }
  };
  return Run(take_bits, [&] { matches.insert(matches.end(), docs_.begin(), docs_.end()); });
}

arrow::Result<uint64_t> MatchScan::Count() {
  if (OnlyOneIsDense()) return CountBesideDensest();
  uint64_t count = 0;
  ARROW_RETURN_NOT_OK(Run([&] { count += CountBits(bits_); }, [&] { count += docs_.size(); }));
  return count;
}

// --- What other clauses add to the commonest

bool MatchScan::OnlyOneIsDense() const {
  if (!must_.empty() || !must_not_.empty() || filter_ != nullptr) return false;
  uint64_t others = 0;
  for (const ClauseCursor* cursor : std::span(should_).subspan(1)) {
    others += cursor->document_count();
  }
  return others <= row_count_ / kSparse;
}

/// By inclusion and exclusion, since the dictionary knows the count of the commonest.
arrow::Result<uint64_t> MatchScan::CountBesideDensest() {
  uint64_t count = should_.front()->document_count();
  if (should_.size() == 1) return count;
  std::vector<uint64_t> bits(kWideWindow / kWordBits);
  for (uint64_t begin = 0; begin < row_count_; begin += kWideWindow) {
    const auto first = static_cast<DocId>(begin);
    for (ClauseCursor* cursor : std::span(should_).subspan(1)) {
      ARROW_RETURN_NOT_OK(MarkWide(*cursor, first, bits));
    }
    count += CountBits(bits);
    ARROW_ASSIGN_OR_RAISE(const uint64_t twice, CountMarked(*should_.front(), first, bits));
    count -= twice;
    std::ranges::fill(bits, 0);
  }
  return count;
}

arrow::Status MatchScan::MarkWide(ClauseCursor& cursor, DocId begin, std::span<uint64_t> bits) {
  const uint64_t end = uint64_t{begin} + kWideWindow;
  cursor.SeekBlock(begin);
  for (; !cursor.at_end() && cursor.block_begin() < end; cursor.NextBlock()) {
    ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, cursor.Docs());
    const auto [from, to] = ClipBlock(docs, begin, end);
    for (const DocId doc : docs.subspan(from, to - from)) {
      bits[(doc - begin) / kWordBits] |= uint64_t{1} << (doc % kWordBits);
    }
    if (cursor.block_last() >= end) break;
  }
  return arrow::Status::OK();
}

/// How many of the cursor's documents are marked.
arrow::Result<uint64_t> MatchScan::CountMarked(ClauseCursor& cursor, DocId begin,
                                               std::span<const uint64_t> bits) {
  const uint64_t end = uint64_t{begin} + kWideWindow;
  uint64_t count = 0;
  cursor.SeekBlock(begin);
  for (; !cursor.at_end() && cursor.block_begin() < end; cursor.NextBlock()) {
    const DocId last = cursor.block_last();
    const auto from = std::max(cursor.block_begin(), begin) - begin;
    const auto to = static_cast<uint32_t>(std::min<uint64_t>(last, end - 1) - begin);
    if (AnyBetween(bits, from, to)) {
      ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, cursor.Docs());
      const auto [clip_from, clip_to] = ClipBlock(docs, begin, end);
      for (const DocId doc : docs.subspan(clip_from, clip_to - clip_from)) {
        count += bits[(doc - begin) / kWordBits] >> (doc % kWordBits) & 1;
      }
    }
    if (last >= end) break;
  }
  return count;
}

// --- Block by block of the rarest clause

/// Sets docs_ to what matches in the next block of the rarest clause; false if there is none.
arrow::Result<bool> MatchScan::NextBlock() {
  ClauseCursor& lead = *must_.front();
  if (started_) {
    lead.NextBlock();
  } else {
    lead.SeekBlock(0);
  }
  started_ = true;
  if (lead.at_end()) return false;
  ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, lead.Docs());
  docs_.assign(docs.begin(), docs.end());
  if (filter_ != nullptr) {
    std::erase_if(docs_, [this](DocId doc) {
      return (filter_->Word(doc / kWordBits) >> (doc % kWordBits) & 1) == 0;
    });
  }
  for (ClauseCursor* other : std::span(must_).subspan(1)) {
    ARROW_RETURN_NOT_OK(Retain(*other, true));
  }
  for (ClauseCursor* other : must_not_) ARROW_RETURN_NOT_OK(Retain(*other, false));
  return true;
}

/// Keeps those of docs_ that the cursor matches, or those that it does not.
arrow::Status MatchScan::Retain(ClauseCursor& cursor, bool matching) {
  if (located_.size() < docs_.size()) located_.resize(docs_.size());
  size_t kept = 0;
  for (size_t i = 0; i < docs_.size();) {
    cursor.SeekBlock(docs_[i]);
    if (cursor.at_end()) {
      if (!matching) {
        while (i < docs_.size()) docs_[kept++] = docs_[i++];
      }
      break;
    }
    size_t end = i;
    for (const DocId last = cursor.block_last(); end < docs_.size() && docs_[end] <= last;) ++end;
    const std::span<uint8_t> ordinals = std::span(located_).first(end - i);
    ARROW_RETURN_NOT_OK(cursor.Locate(std::span<const DocId>(docs_).subspan(i, end - i), ordinals));
    for (const uint8_t ordinal : ordinals) {
      docs_[kept] = docs_[i++];
      kept += (ordinal != kNotInBlock) == matching ? size_t{1} : 0;
    }
  }
  docs_.resize(kept);
  return arrow::Status::OK();
}

// --- Window by window

/// The first document of the cursor that is at least `from`, or `limit` if that is not below it; or
/// somewhat less, where that is in the same window or saves decoding.
arrow::Result<uint64_t> MatchScan::NextDoc(ClauseCursor& cursor, DocId from, uint64_t limit) const {
  cursor.SeekBlock(from);
  if (cursor.at_end() || cursor.block_begin() >= limit) return limit;
  if (cursor.block_last() - cursor.block_begin() < kWindowSize) {
    return std::max(from, cursor.block_begin());
  }
  ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, cursor.Docs());
  return std::min<uint64_t>(limit, docs[SearchBlock(docs, from)]);
}

/// Moves to the next window where something may match; false if there is none.
arrow::Result<bool> MatchScan::NextWindow() {
  const uint64_t from = started_ ? window_end() : 0;
  started_ = true;
  if (from >= row_count_) return false;
  uint64_t next = from;
  if (must_.empty()) {
    next = kNowhere;
    for (ClauseCursor* cursor : should_) {
      if (next < from + kWindowSize) break;
      ARROW_ASSIGN_OR_RAISE(next, NextDoc(*cursor, static_cast<DocId>(from), next));
    }
  } else {
    for (ClauseCursor* cursor : must_) {
      ARROW_ASSIGN_OR_RAISE(next, NextDoc(*cursor, static_cast<DocId>(next), kNowhere));
      if (next >= row_count_) break;
    }
  }
  if (next >= row_count_) return false;
  begin_ = static_cast<DocId>(next / kWindowSize * kWindowSize);
  return true;
}

bool MatchScan::AnyWithin(const Bits& bits, DocId first, DocId last) const {
  return AnyBetween(bits, std::max(first, begin_) - begin_,
                    std::min(last - begin_, kWindowSize - 1));
}

/// Sets the bits of a block that is stored as a bitmap of documents [first, last].
void MatchScan::MarkBitmap(ByteSpan bitmap, DocId first, DocId last, Bits& bits) const {
  for (size_t at = 0; at < bitmap.size(); at += sizeof(uint64_t)) {
    const uint64_t base = uint64_t{first} + at * 8;
    if (base >= window_end()) break;
    if (base + kWordBits <= begin_) continue;
    uint64_t word = 0;
    if (bitmap.size() - at >= sizeof(uint64_t)) {
      word = LoadU64(bitmap.data() + at);
    } else {
      for (size_t i = 0; at + i < bitmap.size(); ++i) word |= uint64_t{bitmap[at + i]} << (8 * i);
    }
    if (base + kWordBits - 1 > last) word &= ~uint64_t{0} >> (base + kWordBits - 1 - last);
    if (base < begin_) {
      bits[0] |= word >> (begin_ - base);
      continue;
    }
    const auto place = static_cast<uint32_t>(base - begin_);
    const uint32_t shift = place % kWordBits;
    bits[place / kWordBits] |= word << shift;
    if (shift != 0 && place / kWordBits + 1 < kWindowWords) {
      bits[place / kWordBits + 1] |= word >> (kWordBits - shift);
    }
  }
}

void MatchScan::MarkDocs(std::span<const DocId> docs, Bits& bits) {
  if (docs.size() < kManyMarks) {
    for (const DocId doc : docs) {
      const uint32_t bit = doc - begin_;
      bits[bit / kWordBits] |= uint64_t{1} << (bit % kWordBits);
    }
    return;
  }
  for (const DocId doc : docs) marks_[doc - begin_] = kMark;
  is_marked_ = true;
}

void MatchScan::TakeMarks(Bits& bits) {
  if (is_marked_) FoldMarks(marks_, bits);
  is_marked_ = false;
}

/// Sets the bits of the cursor's documents, at least of those `within` if it isn't null; some only
/// with TakeMarks.
arrow::Status MatchScan::Mark(ClauseCursor& cursor, const Bits* within, Bits& bits) {
  cursor.SeekBlock(begin_);
  for (; !cursor.at_end() && cursor.block_begin() < window_end(); cursor.NextBlock()) {
    const DocId last = cursor.block_last();
    if (within == nullptr || AnyWithin(*within, cursor.block_begin(), last)) {
      const ByteSpan bitmap = cursor.Bitmap();
      if (!bitmap.empty()) {
        MarkBitmap(bitmap, cursor.block_begin(), last, bits);
      } else {
        ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, cursor.Docs());
        const auto [from, to] = ClipBlock(docs, begin_, window_end());
        MarkDocs(docs.subspan(from, to - from), bits);
      }
    }
    if (last >= window_end()) break;
  }
  return arrow::Status::OK();
}

/// Sets bits_ to what matches in the window.
arrow::Status MatchScan::FindMatches() {
  bits_.fill(0);
  if (must_.empty()) {
    for (ClauseCursor* cursor : should_) ARROW_RETURN_NOT_OK(Mark(*cursor, nullptr, bits_));
    TakeMarks(bits_);
  } else {
    ARROW_RETURN_NOT_OK(Mark(*must_.front(), nullptr, bits_));
    TakeMarks(bits_);
    for (ClauseCursor* cursor : std::span(must_).subspan(1)) {
      Bits found{};
      ARROW_RETURN_NOT_OK(Mark(*cursor, &bits_, found));
      TakeMarks(found);
      for (uint32_t word = 0; word < kWindowWords; ++word) bits_[word] &= found[word];
    }
  }
  for (ClauseCursor* cursor : must_not_) {
    Bits excluded{};
    ARROW_RETURN_NOT_OK(Mark(*cursor, &bits_, excluded));
    TakeMarks(excluded);
    for (uint32_t word = 0; word < kWindowWords; ++word) bits_[word] &= ~excluded[word];
  }
  return arrow::Status::OK();
}

/// Keeps the documents that pass; false if none is left.
bool MatchScan::ApplyFilter() {
  uint64_t any = 0;
  for (uint32_t word = 0; word < kWindowWords; ++word) {
    if (filter_ != nullptr) bits_[word] &= filter_->Word(begin_ / kWordBits + word);
    any |= bits_[word];
  }
  return any != 0;
}

}  // namespace infino::text
