#include "infino/index/top_k.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

namespace infino {

TopK::TopK(uint64_t k) : k_(k), next_trim_(k) {}

/// Looks for the k-th best, which costs about as much as there are: so that is done after every few
/// documents, an eighth of k, where k is not small.
void TopK::Trim() {
  const auto end = keys_.begin() + static_cast<ptrdiff_t>(k_);
  std::nth_element(keys_.begin(), end - 1, keys_.end(), std::greater());
  keys_.erase(end, keys_.end());
  threshold_ = DocOf(keys_.back()).score;
  constexpr uint64_t kSmall = 16;
  next_trim_ = k_ + 1 + (k_ < kSmall ? 0 : k_ / 8);
}

std::span<const ScoredDoc> TopK::Finish() {
  if (keys_.size() > k_) Trim();
  std::ranges::sort(keys_, std::greater());
  docs_.reserve(keys_.size());
  for (const uint64_t key : keys_) docs_.push_back(DocOf(key));
  return docs_;
}

}  // namespace infino
