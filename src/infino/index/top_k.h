#pragma once

#include <bit>
#include <cstddef>
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
/// up to 2^64 - 1: at most a quarter more than the k best. Single-threaded.
class TopK {
 public:
  explicit TopK(uint64_t k);

  /// Takes the document if it may be among the k best. REQUIRES: documents come in ascending order
  /// of id (so one that only ties with the k-th best is worse), and no score is NaN.
  void Offer(ScoredDoc candidate) {
    const uint64_t key = KeyOf(candidate);
    if (!(candidate.score > threshold_) || k_ == 0) return;
    if (is_heap_) {
      ReplaceWorst(key);
      return;
    }
    keys_.push_back(key);
    if (keys_.size() >= next_trim_) Trim();
  }

  /// A document must score more than this to be taken: the score of the k-th best, for large k when
  /// that was last looked at, or minus infinity while fewer than k are held. With k = 0 nothing is
  /// ever taken.
  [[nodiscard]] float threshold() const { return threshold_; }

  [[nodiscard]] bool full() const { return keys_.size() >= k_; }

  /// Sorts what is held, best first, and returns it. Offer may not be called afterwards.
  [[nodiscard]] std::span<const ScoredDoc> Finish();

 private:
  /// A number that is the greater the better the document ranks.
  static uint64_t KeyOf(ScoredDoc candidate) {
    const auto bits = std::bit_cast<uint32_t>(candidate.score + 0.0F);  // no negative zero
    const uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x8000'0000U;
    return uint64_t{ordered} << 32 | (~candidate.doc & 0xFFFF'FFFFU);
  }

  static ScoredDoc DocOf(uint64_t key) {
    const auto ordered = static_cast<uint32_t>(key >> 32);
    const uint32_t bits = (ordered >> 31) != 0 ? ordered & 0x7FFF'FFFFU : ~ordered;
    return {.doc = ~static_cast<uint32_t>(key), .score = std::bit_cast<float>(bits)};
  }

  void Trim();
  void ReplaceWorst(uint64_t key);

  uint64_t k_;
  uint64_t next_trim_;  // when so many are held, all but the k best are dropped
  float threshold_ = -std::numeric_limits<float>::infinity();
  bool is_heap_ = false;  // whether keys_ are the k best, the worst of them first
  std::vector<uint64_t> keys_;
  std::vector<ScoredDoc> docs_;
};

}  // namespace infino
