#include "infino/index/vector/nearest_docs.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "infino/common/ids.h"
#include "infino/index/top_k.h"

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

void NearestDocs::Offer(float distance, DocId doc) {
  const std::pair offered(distance, doc);
  if (k_ == 0) return;
  if (heap_.size() == k_) {
    if (!(offered < heap_.front())) return;
    std::ranges::pop_heap(heap_);
    heap_.back() = offered;
  } else {
    heap_.push_back(offered);
  }
  std::ranges::push_heap(heap_);
  if (heap_.size() == k_) bound_ = heap_.front().first;
}

std::span<const ScoredDoc> NearestDocs::Finish() {
  std::ranges::sort(heap_);
  docs_.reserve(heap_.size());
  for (const auto& [distance, doc] : heap_) docs_.push_back({.doc = doc, .score = -distance});
  return docs_;
}

}  // namespace infino::vector
