#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "infino/common/ids.h"
#include "infino/index/top_k.h"

namespace infino::vector {

/// The k-th smallest of the numbers offered. Memory follows how many were, at most k. Single-
/// threaded.
class SmallestK {
 public:
  explicit SmallestK(uint64_t k) : k_(k) {}

  /// REQUIRES: a number.
  void Offer(float number);

  /// The k-th smallest so far; infinity before there are k.
  [[nodiscard]] float bound() const { return bound_; }

 private:
  uint64_t k_;
  float bound_ = std::numeric_limits<float>::infinity();
  std::vector<float> heap_;  // the largest first
};

/// The k nearest of the documents offered, in any order; equal distances by document. Memory
/// follows how many were, at most k. Single-threaded.
class NearestDocs {
 public:
  explicit NearestDocs(uint64_t k) : k_(k) {}

  /// REQUIRES: the distance is a number, no document comes twice.
  void Offer(float distance, DocId doc);

  /// The distance of the k-th; infinity before there are k.
  [[nodiscard]] float bound() const { return bound_; }

  /// Sorts what is held, nearest first, with the negated distance as its score. Offer may not be
  /// called afterwards.
  [[nodiscard]] std::span<const ScoredDoc> Finish();

 private:
  uint64_t k_;
  float bound_ = std::numeric_limits<float>::infinity();
  std::vector<std::pair<float, DocId>> heap_;  // the farthest first
  std::vector<ScoredDoc> docs_;
};

}  // namespace infino::vector
