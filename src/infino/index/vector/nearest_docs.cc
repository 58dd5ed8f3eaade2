#include "infino/index/vector/nearest_docs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "infino/common/ids.h"

namespace infino::vector {

void SmallestK::Offer(float number) {
  if (k_ == 0) return;
  if (heap_.size() == k_) {
    if (!(number < heap_.front())) return;
    std::ranges::pop_heap(heap_);
    heap_.back() = number;
  } else {
    heap_.push_back(number);
  }
  std::ranges::push_heap(heap_);
  if (heap_.size() == k_) bound_ = heap_.front();
}

float BoundOf(std::span<const ComparedDoc> compared, uint64_t k) {
  SmallestK bounded(k);
  for (const ComparedDoc& one : compared) bounded.Offer(one.bounded);
  return bounded.bound();
}

void NearestDocs::Offer(const ComparedDoc& compared) {
  bounded_.Offer(compared.bounded);
  docs_.push_back(compared);
  if (docs_.size() < next_trim_) return;
  Trim(bound());
  next_trim_ = std::max(next_trim_, 2 * docs_.size());
}

/// Of those whose codes were not asked, no more than k can be chosen.
void NearestDocs::Trim(float bound) {
  std::erase_if(docs_, [bound](const ComparedDoc& compared) { return compared.lowest > bound; });
  const auto unasked = std::ranges::partition(docs_, [](const ComparedDoc& compared) {
    return compared.lowest != -std::numeric_limits<float>::infinity();
  });
  if (unasked.size() <= k_) return;
  const auto end = unasked.begin() + static_cast<std::ptrdiff_t>(k_);
  std::ranges::nth_element(unasked, end, {}, [](const ComparedDoc& compared) {
    return std::pair(compared.distance, compared.doc);
  });
  docs_.erase(end, docs_.end());
}

std::span<const ComparedDoc> NearestDocs::Finish(float bound) {
  Trim(std::min(bound, this->bound()));
  return docs_;
}

}  // namespace infino::vector
