#include "infino/index/top_k.h"

#include <algorithm>
#include <span>

namespace infino {

void TopK::Offer(ScoredDoc candidate) {
  if (docs_.size() < k_) {
    docs_.push_back(candidate);
    if (docs_.size() < k_) return;
    std::ranges::make_heap(docs_, RanksBefore);
    threshold_ = docs_.front().score;
    return;
  }
  if (k_ == 0 || !(candidate.score > threshold_)) return;
  std::ranges::pop_heap(docs_, RanksBefore);
  docs_.back() = candidate;
  std::ranges::push_heap(docs_, RanksBefore);
  threshold_ = docs_.front().score;
}

std::span<const ScoredDoc> TopK::Finish() {
  std::ranges::sort(docs_, RanksBefore);
  return docs_;
}

}  // namespace infino
