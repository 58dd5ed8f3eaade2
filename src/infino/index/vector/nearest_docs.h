#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "infino/common/ids.h"

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

/// A document whose distance to a query was computed, with what its code had said of it.
struct ComparedDoc {
  DocId doc = 0;
  float distance = 0;
  float lowest = 0;   ///< The least that the code allows; minus infinity if it was not asked.
  float bounded = 0;  ///< The distance, moved to the nearest that the code allows.
};

/// The k-th smallest bounded distance; infinity if there are fewer.
[[nodiscard]] float BoundOf(std::span<const ComparedDoc> compared, uint64_t k);

/// The documents compared with one query, of which the k nearest of one or of several indexes are
/// chosen: with the k-th smallest bounded distance as the bound, the nearest of those whose lowest
/// distance is not above it. So the choice is the same whatever else was compared and in whatever
/// order: a bound known early is never below the final one, and what it leaves out stays out.
/// Memory follows what was kept. Single-threaded.
class NearestDocs {
 public:
  explicit NearestDocs(uint64_t k) : k_(k), bounded_(k) {}

  /// REQUIRES: numbers, no document comes twice.
  void Offer(const ComparedDoc& compared);

  /// The k-th smallest bounded distance; infinity before there are k.
  [[nodiscard]] float bound() const { return bounded_.bound(); }

  /// What may be chosen when another index knows of `bound`, in no order. Offer may not be called
  /// afterwards.
  [[nodiscard]] std::span<const ComparedDoc> Finish(float bound);

 private:
  void Trim(float bound);

  uint64_t k_;
  SmallestK bounded_;
  std::vector<ComparedDoc> docs_;
  size_t next_trim_ = 1024;  // when so many are held, what cannot be chosen any more is dropped
};

}  // namespace infino::vector
