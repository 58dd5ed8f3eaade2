#include "infino/index/doc_filter.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "infino/codec/row_bitmap.h"
#include "infino/common/ids.h"

namespace infino {
namespace {

constexpr uint32_t kWordBits = 64;

size_t WordsFor(uint32_t row_count) {
  return (size_t{row_count} + kWordBits - 1) / kWordBits;
}

}  // namespace

DocFilter::DocFilter(uint32_t row_count)
    : row_count_(row_count), words_(WordsFor(row_count), ~uint64_t{0}) {
  if (row_count % kWordBits != 0) words_.back() = (uint64_t{1} << (row_count % kWordBits)) - 1;
}

DocFilter DocFilter::Of(uint32_t row_count, std::span<const DocId> docs) {
  DocFilter filter(row_count);
  std::ranges::fill(filter.words_, uint64_t{0});
  for (const DocId doc : docs) filter.words_[doc / kWordBits] |= uint64_t{1} << (doc % kWordBits);
  return filter;
}

void DocFilter::Exclude(DocId doc) {
  if (doc >= row_count_) return;
  words_[doc / kWordBits] &= ~(uint64_t{1} << (doc % kWordBits));
}

void DocFilter::Exclude(const RowBitmap& docs) {
  docs.ForEach([this](DocId doc) {
    Exclude(doc);
    return true;
  });
}

void DocFilter::Retain(const RowBitmap& docs) {
  std::vector<uint64_t> kept(words_.size());
  docs.ForEach([&](DocId doc) {
    if (Passes(doc)) kept[doc / kWordBits] |= uint64_t{1} << (doc % kWordBits);
    return true;
  });
  words_ = std::move(kept);
}

void DocFilter::Retain(const DocFilter& docs) {
  for (uint32_t word = 0; word < words_.size(); ++word) words_[word] &= docs.Word(word);
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
