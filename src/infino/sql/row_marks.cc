#include "infino/sql/row_marks.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "duckdb/common/types/selection_vector.hpp"
#include "infino/index/doc_filter.h"

namespace infino::sql {
namespace {

constexpr uint32_t kWordBits = 64;

size_t WordsOf(size_t rows) {
  return (rows + kWordBits - 1) / kWordBits;
}

/// The lowest `count` bits.
uint64_t LowBits(uint32_t count) {
  return count >= kWordBits ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

/// Calls `visit` with each word that rows touch, and the bits of it that do, until it returns true.
template <typename Visit>
bool VisitWords(uint32_t first, uint32_t end, const Visit& visit) {
  while (first < end) {
    const uint32_t bit = first % kWordBits;
    const uint32_t count = std::min(kWordBits - bit, end - first);
    if (visit(first / kWordBits, LowBits(count) << bit)) return true;
    first += count;
  }
  return false;
}

}  // namespace

void RowMarks::Materialize() {
  if (!words_.empty()) return;
  words_.assign(WordsOf(row_count_), ~uint64_t{0});
  const uint32_t rest = row_count_ % kWordBits;
  if (rest > 0) words_.back() = LowBits(rest);
}

bool RowMarks::Any(uint32_t first, uint32_t end) const {
  if (all()) return first < end;
  return VisitWords(first, end,
                    [&](size_t word, uint64_t bits) { return (words_[word] & bits) != 0; });
}

void RowMarks::Clear(uint32_t first, uint32_t end) {
  Materialize();
  VisitWords(first, end, [&](size_t word, uint64_t bits) {
    words_[word] &= ~bits;
    return false;
  });
}

void RowMarks::Retain(const DocFilter& live, DocId first_doc) {
  Materialize();
  const uint32_t shift = first_doc % kWordBits;
  uint32_t from = first_doc / kWordBits;
  for (uint64_t& word : words_) {
    uint64_t bits = live.Word(from) >> shift;
    ++from;
    if (shift > 0) bits |= live.Word(from) << (kWordBits - shift);
    word &= bits;
  }
}

void RowMarks::Retain(uint32_t first, size_t length, const duckdb::SelectionVector& selected,
                      size_t count) {
  if (all() && count == length) return;
  Materialize();
  const size_t first_word = first / kWordBits;
  std::fill_n(words_.begin() + static_cast<ptrdiff_t>(first_word), WordsOf(length), uint64_t{0});
  for (size_t i = 0; i < count; ++i) {
    const size_t at = selected.get_index(i);
    words_[first_word + (at / kWordBits)] |= uint64_t{1} << (at % kWordBits);
  }
}

size_t RowMarks::Select(uint32_t first, size_t length, duckdb::SelectionVector& selected) const {
  if (all()) return length;
  const size_t first_word = first / kWordBits;
  size_t count = 0;
  for (size_t i = 0; i < WordsOf(length); ++i) {
    count += static_cast<size_t>(std::popcount(words_[first_word + i]));
  }
  if (count == length || count == 0) return count;
  selected.Initialize(count);
  size_t place = 0;
  for (size_t i = 0; i < WordsOf(length); ++i) {
    for (uint64_t bits = words_[first_word + i]; bits != 0; bits &= bits - 1) {
      selected.set_index(place++, (i * kWordBits) + static_cast<size_t>(std::countr_zero(bits)));
    }
  }
  return count;
}

}  // namespace infino::sql
