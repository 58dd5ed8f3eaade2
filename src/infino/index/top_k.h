#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "infino/common/ids.h"

namespace infino {

/// A document a search found.
struct ScoredDoc {
  DocId doc = 0;
  float score = 0.0F;  ///< Higher is better, for every kind of index.

  friend bool operator==(const ScoredDoc&, const ScoredDoc&) = default;
};

/// Whether `left` comes before `right` in a result: the higher score, at equal scores the lower id.
[[nodiscard]] inline bool RanksBefore(const ScoredDoc& left, const ScoredDoc& right) {
  return left.score != right.score ? left.score > right.score : left.doc < right.doc;
}

/// The k best of the documents offered. Memory follows what was kept, not k, which may be anything
/// up to 2^64 - 1. Single-threaded.
class TopK {
 public:
  explicit TopK(uint64_t k) : k_(k) {}

  /// Takes the document if it is among the k best so far. REQUIRES: documents come in ascending
  /// order of id (so one that only ties with the k-th best is worse), and no score is NaN.
  void Offer(ScoredDoc candidate);

  /// A document must score more than this to be taken: the k-th best score, or minus infinity while
  /// fewer than k are held. With k = 0 nothing is ever taken.
  [[nodiscard]] float threshold() const { return threshold_; }

  [[nodiscard]] bool full() const { return docs_.size() >= k_; }

  /// Sorts what is held, best first, and returns it. Offer may not be called afterwards.
  [[nodiscard]] std::span<const ScoredDoc> Finish();

 private:
  uint64_t k_;
  float threshold_ = -std::numeric_limits<float>::infinity();
  std::vector<ScoredDoc> docs_;  // a heap with the worst on top once there are k
};

}  // namespace infino
