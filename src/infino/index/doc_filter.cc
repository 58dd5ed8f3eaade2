#include "infino/index/doc_filter.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "infino/common/ids.h"

namespace infino {
namespace {

constexpr uint32_t kWordBits = 64;

size_t WordsFor(uint32_t row_count) { return (size_t{row_count} + kWordBits - 1) / kWordBits; }

}  // namespace

DocFilter::DocFilter(uint32_t row_count)
    : row_count_(row_count), words_(WordsFor(row_count), ~uint64_t{0}) {
  if (row_count % kWordBits != 0) words_.back() = (uint64_t{1} << (row_count % kWordBits)) - 1;
}

void DocFilter::Exclude(DocId doc) {
  if (doc >= row_count_) return;
  words_[doc / kWordBits] &= ~(uint64_t{1} << (doc % kWordBits));
}

void DocFilter::Exclude(std::span<const DocId> docs) {
  for (const DocId doc : docs) Exclude(doc);
}

void DocFilter::Retain(std::span<const DocId> docs) {
  std::vector<uint64_t> kept(words_.size());
  for (const DocId doc : docs) {
    if (Passes(doc)) kept[doc / kWordBits] |= uint64_t{1} << (doc % kWordBits);
  }
  words_ = std::move(kept);
}

bool DocFilter::Passes(DocId doc) const {
  return ((Word(doc / kWordBits) >> (doc % kWordBits)) & 1) != 0;
}

uint64_t DocFilter::pass_count() const {
  uint64_t count = 0;
  for (const uint64_t word : words_) count += static_cast<uint64_t>(std::popcount(word));
  return count;
}

}  // namespace infino
