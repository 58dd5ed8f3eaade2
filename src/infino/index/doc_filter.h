#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "infino/codec/row_bitmap.h"
#include "infino/common/ids.h"

namespace infino {

/// Which documents of one superfile a search may return: tombstones and predicates in one bitmap.
/// Immutable once built, then shared by threads. Holds a bit per document.
class DocFilter {
 public:
  /// Lets every document of a file of `row_count` rows pass.
  explicit DocFilter(uint32_t row_count);

  /// Lets just `docs` pass, all below `row_count`.
  [[nodiscard]] static DocFilter Of(uint32_t row_count, std::span<const DocId> docs);

  /// Shuts out one document, or many: tombstones. Documents past the row count are ignored.
  void Exclude(DocId doc);
  void Exclude(const RowBitmap& docs);

  /// Shuts out all documents that are not in `docs`: those that a predicate selects.
  void Retain(const RowBitmap& docs);
  void Retain(const DocFilter& docs);

  /// Calls `visit` for each document that passes, in order.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    constexpr uint32_t kWordBits = 64;
    for (uint32_t word = 0; word < words_.size(); ++word) {
      for (uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
        visit(word * kWordBits + static_cast<uint32_t>(std::countr_zero(bits)));
      }
    }
  }

  [[nodiscard]] bool Passes(DocId doc) const;

  /// 64 documents from 64 * `word` on, the first in the lowest bit; 0 past the row count.
  [[nodiscard]] uint64_t Word(uint32_t word) const {
    return word < words_.size() ? words_[word] : 0;
  }

  [[nodiscard]] uint32_t row_count() const { return row_count_; }

  /// How many documents pass.
  [[nodiscard]] uint64_t pass_count() const;

 private:
  uint32_t row_count_;
  std::vector<uint64_t> words_;
};

}  // namespace infino
