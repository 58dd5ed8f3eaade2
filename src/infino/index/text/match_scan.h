#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/index/text/clause_cursor.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_query.h"

namespace infino::text {

/// One clause of a query that matches something here.
struct MatchClause {
  Occur occur = Occur::kShould;
  ClauseCursor* cursor = nullptr;  ///< Its own: no other clause moves it.
};

/// Finds or counts all documents of one superfile that match, in windows of 4,096 documents, each a
/// bitmap: a clause sets its documents' bits, or clears what it does not match, and a block that is
/// stored as a bitmap is never unpacked. Where the rarest clause that must match is sparse, its
/// documents are looked up in the others block by block instead. Where the commonest of clauses
/// that need not match has most of the documents, these are counted by the dictionary, and only
/// those of the others are looked up in it. Single-threaded; used once.
class MatchScan {
 public:
  /// At least one clause must be positive. `filter` may be null.
  MatchScan(std::span<const MatchClause> clauses, uint32_t row_count, const DocFilter* filter);

  /// Appends every matching document to `matches`, in order.
  [[nodiscard]] arrow::Status Match(std::vector<DocId>& matches);

  /// How many documents match.
  [[nodiscard]] arrow::Result<uint64_t> Count();

 private:
  static constexpr uint32_t kWindowSize = 4096;
  static constexpr uint32_t kWindowWords = kWindowSize / 64;
  using Bits = std::array<uint64_t, kWindowWords>;

  template <typename TakeBits, typename TakeDocs>
  [[nodiscard]] arrow::Status Run(const TakeBits& take_bits, const TakeDocs& take_docs);

  [[nodiscard]] bool LeadIsSparse() const;
  [[nodiscard]] bool OnlyOneIsDense() const;
  [[nodiscard]] arrow::Result<uint64_t> CountBesideDensest();
  [[nodiscard]] static arrow::Status MarkWide(ClauseCursor& cursor, DocId begin,
                                              std::span<uint64_t> bits);
  [[nodiscard]] static arrow::Result<uint64_t> CountMarked(ClauseCursor& cursor, DocId begin,
                                                           std::span<const uint64_t> bits);
  [[nodiscard]] arrow::Result<bool> NextBlock();
  [[nodiscard]] arrow::Status Retain(ClauseCursor& cursor, bool matching);

  [[nodiscard]] arrow::Result<bool> NextWindow();
  [[nodiscard]] arrow::Result<uint64_t> NextDoc(ClauseCursor& cursor, DocId from,
                                                uint64_t limit) const;
  [[nodiscard]] arrow::Status Mark(ClauseCursor& cursor, const Bits* within, Bits& bits);
  void MarkDocs(std::span<const DocId> docs, Bits& bits);
  void TakeMarks(Bits& bits);
  void MarkBitmap(ByteSpan bitmap, DocId first, DocId last, Bits& bits) const;
  [[nodiscard]] arrow::Status FindMatches();
  [[nodiscard]] bool ApplyFilter();
  [[nodiscard]] bool AnyWithin(const Bits& bits, DocId first, DocId last) const;

  [[nodiscard]] uint64_t window_end() const { return uint64_t{begin_} + kWindowSize; }

  uint32_t row_count_;
  const DocFilter* filter_;
  std::vector<ClauseCursor*> must_;    // rarest first
  std::vector<ClauseCursor*> should_;  // most documents first
  std::vector<ClauseCursor*> must_not_;

  bool started_ = false;
  DocId begin_ = 0;         // of the current window
  Bits bits_{};             // what matches there
  bool is_marked_ = false;  // whether marks_ has any
  std::array<uint8_t, kWindowSize> marks_{};
  std::vector<DocId> docs_;  // what matches in the lead's current block
  std::vector<uint8_t> located_;
};

}  // namespace infino::text
