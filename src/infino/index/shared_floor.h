#pragma once

#include <atomic>
#include <limits>

namespace infino {

/// The k-th best score that any search of one query has found so far, over all superfiles. It only
/// rises. Thread-safe.
///
/// A search raises it once it holds k documents of its own, and leaves out whatever scores strictly
/// less: k documents that are better exist. What only ties is kept, because order among equal
/// scores is by `_id`, which a search does not know. So the floor changes how much work is done,
/// never the merged result.
class SharedFloor {
 public:
  /// Minus infinity until somebody raises it.
  [[nodiscard]] float score() const { return score_.load(std::memory_order_relaxed); }

  /// Raises the floor to `score` if it is lower.
  void Raise(float score) {
    float seen = score_.load(std::memory_order_relaxed);
    while (seen < score && !score_.compare_exchange_weak(seen, score, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<float> score_{-std::numeric_limits<float>::infinity()};
};

}  // namespace infino
