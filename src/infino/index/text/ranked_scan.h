#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/index/shared_floor.h"
#include "infino/index/text/clause_cursor.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_query.h"
#include "infino/index/top_k.h"

namespace infino::text {

/// One or more equal clauses of a query that match something here.
struct RankClause {
  Occur occur = Occur::kShould;
  ClauseCursor* cursor = nullptr;  ///< Its own: no other clause moves it.
  double count = 1;                ///< How often the query has the clause; it counts each time.
};

struct RankOptions {
  uint32_t row_count = 0;
  const DocFilter* filter = nullptr;  ///< Null: every document passes.
  bool prune = true;
  SharedFloor* floor = nullptr;  ///< May be null.

  /// How many clauses the query has: what bounds the rounding of a sum.
  size_t clause_count = 1;

  /// The score of a document by the definition, its clauses added up in the query's order. Asked
  /// only where another order might have rounded otherwise.
  std::function<arrow::Result<float>(DocId)> exact_score;
};

/// Finds the best documents of one superfile.
///
/// Candidates come from the clauses that can bring a document among the best (one that all must
/// match, or those which the others together can't make up for), in batches: a block of the only
/// one, or a window of 4,096 documents in which several are summed up. The other clauses are asked
/// about the candidates, one clause after the other over the whole batch, and after each those that
/// can't get there any more are dropped, so that fewer and fewer blocks are unpacked. This is
/// MAXSCORE (Turtle and Flood, 1995) with block-max bounds (Ding and Suel, 2011), batch by batch.
///
/// Without a filter and with clauses that need not match, as many documents as are wanted are known
/// beforehand to score at least so much (ClauseCursor::ReachedBy): that is where the floor starts.
///
/// Sums are kept in double in whatever order is quickest; where that could make another float than
/// the definition's order does, the exact score is asked for. Single-threaded; used once.
class RankedScan {
 public:
  /// At least one clause must be positive.
  RankedScan(std::vector<RankClause> clauses, RankOptions options);

  /// Offers to `top` every matching document that may be one of its k best, ascending, with its
  /// exact score.
  [[nodiscard]] arrow::Status Run(uint64_t k, TopK& top);

 private:
  static constexpr uint32_t kMinWindowSize = 4096;
  static constexpr uint32_t kMaxWindowSize = kMinWindowSize * 16;
  static constexpr uint32_t kWordBits = 64;

  /// What asking a clause about the candidates does with them.
  enum class Ask : uint8_t { kAdd, kRequire, kExclude };

  struct Step {
    size_t clause = 0;
    Ask ask = Ask::kAdd;
    double bound = 0;  ///< What the clause adds at most.
    double rest = 0;   ///< What those after it add at most.
  };

  void SeedFloor(uint64_t k);
  void UpdateCut();

  [[nodiscard]] arrow::Status RunBlocks(size_t lead, DocId from);
  [[nodiscard]] arrow::Status TakeBlock(const RankClause& clause, DocId begin, uint64_t end,
                                        bool score);
  [[nodiscard]] arrow::Status ScoreLead(const RankClause& lead);

  [[nodiscard]] arrow::Status RunWindows();
  [[nodiscard]] arrow::Result<bool> MoveToNextWindow(uint64_t from);
  void ChooseWindowSize();
  [[nodiscard]] bool PlanWindow();
  [[nodiscard]] arrow::Status RankWindow();
  [[nodiscard]] arrow::Status RankOnly(const RankClause& clause, double bound);
  [[nodiscard]] arrow::Status AddUp(const RankClause& clause, double bound);
  void CollectWindow();
  void MakeRoom(size_t candidates);
  void CollectWord(uint32_t word, double least);

  [[nodiscard]] arrow::Status FinishBatch(std::span<const Step> steps);
  [[nodiscard]] arrow::Status AskClause(const Step& step);
  [[nodiscard]] arrow::Status AskBlock(const Step& step, size_t begin, size_t end);
  void Keep(size_t candidate);
  void DropWeak(double rest);
  [[nodiscard]] arrow::Status OfferAll();

  /// Whether documents that score `bound` or less are none of the best.
  [[nodiscard]] bool CannotCompete(double bound) const { return options_.prune && bound <= cut_; }

  [[nodiscard]] static double MaxOf(const RankClause& clause) {
    return clause.count * clause.cursor->highest();
  }

  [[nodiscard]] uint64_t window_end() const { return uint64_t{begin_} + window_size_; }

  std::vector<RankClause> clauses_;
  RankOptions options_;
  std::vector<size_t> must_;    // rarest first
  std::vector<size_t> should_;  // highest first
  std::vector<size_t> must_not_;
  std::vector<double> should_rest_;  // by place in should_: the sum of the maxima from there on
  double tolerance_ = 0;

  TopK* top_ = nullptr;
  float floor_ = -std::numeric_limits<float>::infinity();
  double cut_ = -std::numeric_limits<double>::infinity();  // no more than this can't compete

  // Of a batch: the candidates, ascending, with what is known of their sums, and what is to be done
  // with them.
  size_t candidate_count_ = 0;
  size_t kept_count_ = 0;
  std::vector<DocId> docs_;
  std::vector<double> sums_;
  std::vector<Step> steps_;

  // Of the current window.
  DocId begin_ = 0;
  bool started_ = false;
  size_t essential_count_ = 0;         // of present_, from its start
  std::vector<size_t> present_;        // clauses with a document here, highest bound first
  std::vector<double> present_bound_;  // by clause
  std::vector<double> present_rest_;   // by place in present_: the sum of the bounds from there on
  uint32_t window_size_ = kMinWindowSize;  // a power of two
  std::vector<double> window_sums_;
  std::vector<uint64_t> bits_;   // of the window's matches
  std::vector<uint64_t> words_;  // which of bits_ are not zero

  // Of the clause that is asked: which candidates it matches, and what they score.
  FoundDocs found_;
  std::vector<uint32_t> places_;

  // Of its current block: where the candidates are in it, and those that it matches.
  std::vector<uint8_t> located_;
  std::array<uint8_t, kBlockSize> ordinals_;
  std::array<DocId, kBlockSize> found_docs_;
  std::array<double, kBlockSize> scores_;
};

}  // namespace infino::text
