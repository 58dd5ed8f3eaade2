#include "infino/index/top_k.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

namespace infino {

TopK::TopK(uint64_t k) : k_(k), next_trim_(k) {}

/// Few are kept as a heap. Of many the k-th best is looked for, which costs about as much as there
/// are: after every few documents, an eighth of k.
void TopK::Trim() {
  constexpr uint64_t kFew = 64;
  if (k_ <= kFew) {
    std::ranges::make_heap(keys_, std::greater());
    is_heap_ = true;
    threshold_ = DocOf(keys_.front()).score;
    return;
  }
  const auto end = keys_.begin() + static_cast<ptrdiff_t>(k_);
  std::nth_element(keys_.begin(), end - 1, keys_.end(), std::greater());
  keys_.erase(end, keys_.end());
  threshold_ = DocOf(keys_.back()).score;
  next_trim_ = k_ + 1 + k_ / 8;
}

void TopK::ReplaceWorst(uint64_t key) {
  std::ranges::pop_heap(keys_, std::greater());
  keys_.back() = key;
  std::ranges::push_heap(keys_, std::greater());
  threshold_ = DocOf(keys_.front()).score;
}

std::span<const ScoredDoc> TopK::Finish() {
  if (keys_.size() > k_) Trim();
  std::ranges::sort(keys_, std::greater());
  docs_.reserve(keys_.size());
  for (const uint64_t key : keys_) docs_.push_back(DocOf(key));
  return docs_;
}

}  // namespace infino
