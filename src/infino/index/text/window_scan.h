#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

/// One clause of a query whose term occurs here.
struct ScanClause {
  Occur occur = Occur::kShould;
  PostingsCursor* cursor = nullptr;  ///< Clauses of one term share a cursor.
  double idf = 0;
  double bound = 0;  ///< No posting of the term contributes more.
};

struct ScanOptions {
  uint32_t row_count = 0;
  const DocFilter* filter = nullptr;  ///< Null: every document passes.
  bool prune = true;
  SharedFloor* floor = nullptr;  ///< May be null.
};

/// Walks the documents of one superfile in windows of 4,096, the documents of a chunk of lengths.
///
/// In a window every clause is worked off for itself: it marks its documents in a bitmap, or adds
/// its contributions to an array of sums. So the inner loops run over decoded blocks and nothing is
/// decided per document, and the sums come about in the order of the clauses, whatever is skipped.
///
/// What is skipped, once k documents are known: windows that the sum of the clauses' bounds rules
/// out; blocks that their own bound plus the others' rules out; and, where some clauses together
/// can't make a document one of the k best, whatever only these match. Single-threaded; used once.
class WindowScan {
 public:
  /// `clauses` in query order, at least one of them positive.
  WindowScan(std::vector<ScanClause> clauses, const ScanOptions& options);

  /// Offers every matching document that may be one of the k best to `top`, with its exact score.
  /// `lengths` may be null if no clause needs it: those of one block don't, and nobody with b = 0.
  [[nodiscard]] arrow::Status Rank(const Bm25& bm25, LengthReader* lengths, TopK& top);

  /// Appends every matching document to `matches`, in order.
  [[nodiscard]] arrow::Status Match(std::vector<DocId>& matches);

  /// How many documents match.
  [[nodiscard]] arrow::Result<uint64_t> Count();

 private:
  static constexpr uint32_t kWindowSize = kLengthChunkSize;
  static constexpr uint32_t kWindowWords = kWindowSize / 64;
  using Bits = std::array<uint64_t, kWindowWords>;

  /// What the current window's bounds allow to leave out.
  struct WindowPlan {
    bool skip = false;
    double total = 0;  ///< The sum of all bounds.
  };

  [[nodiscard]] arrow::Result<bool> MoveToNextWindow();
  [[nodiscard]] arrow::Result<DocId> NextDoc(PostingsCursor& cursor, DocId from, DocId limit);
  [[nodiscard]] bool ApplyFilter(Bits& bits) const;

  [[nodiscard]] arrow::Status Mark(PostingsCursor& cursor, const Bits* within, Bits& bits);
  [[nodiscard]] arrow::Status Exclude(Bits& bits);
  [[nodiscard]] arrow::Result<bool> FindMatches(bool ranked);
  template <typename Visit>
  [[nodiscard]] arrow::Status ForEachMatchingWindow(const Visit& visit);

  [[nodiscard]] arrow::Result<WindowPlan> PlanWindow();
  [[nodiscard]] arrow::Result<double> WindowBound(PostingsCursor& cursor) const;
  [[nodiscard]] arrow::Status RankWindow(const WindowPlan& plan);
  [[nodiscard]] arrow::Status Accumulate(size_t ordinal, const WindowPlan& plan, bool only_matches);
  [[nodiscard]] arrow::Status AccumulateBlock(const ScanClause& clause, bool only_matches);
  void PickAll(std::span<const DocId> docs);
  [[nodiscard]] size_t PickMatches(std::span<const DocId> docs);
  void TakeNumbers(std::span<const uint32_t> frequencies, std::span<const uint32_t> lengths,
                   size_t count);
  void OfferWindow();
  [[nodiscard]] bool CannotCompete(double bound) const;
  [[nodiscard]] bool AnyWithin(const Bits& bits, DocId first, DocId last) const;

  [[nodiscard]] DocId end() const { return begin_ + kWindowSize; }

  std::vector<ScanClause> clauses_;
  ScanOptions options_;
  std::vector<size_t> positive_;  // kMust and kShould, in query order
  std::vector<size_t> must_;      // rarest first
  std::vector<size_t> must_not_;
  std::vector<size_t> by_bound_;  // positive_, lowest bound first

  // Of ranking.
  Bm25 bm25_;
  LengthReader* lengths_ = nullptr;
  TopK* top_ = nullptr;
  float floor_ = 0;

  // Of the current window.
  DocId begin_ = 0;
  bool started_ = false;
  Bits matches_{};
  std::vector<double> bounds_;      // by clause
  std::vector<uint8_t> essential_;  // by clause: whether it alone may bring a document in
  std::array<double, kWindowSize> sums_;

  // Of the current block: the documents picked, as offsets in the window and as ordinals in the
  // block, and what they add.
  std::array<uint16_t, kBlockSize> picked_{};
  std::array<uint8_t, kBlockSize> ordinals_{};
  std::array<int32_t, kBlockSize> frequencies_{};
  std::array<int32_t, kBlockSize> doc_lengths_{};
  std::array<double, kBlockSize> contributions_{};
};

}  // namespace infino::text
