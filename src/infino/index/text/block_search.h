#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "infino/common/ids.h"

namespace infino::text {

/// The ordinal of the first of a block's documents that is at least `doc`; the last ordinal if
/// there is none. Without a branch to mispredict. REQUIRES: ascending, not empty.
[[nodiscard]] inline size_t SearchBlock(std::span<const DocId> docs, DocId doc) {
  const DocId* base = docs.data();
  for (size_t left = docs.size(); left > 1;) {
    const size_t half = left / 2;
    base += base[half - 1] < doc ? half : 0;
    left -= half;
  }
  return static_cast<size_t>(base - docs.data());
}

/// Those of a block's documents that lie in [begin, end), as ordinals [first, last).
/// REQUIRES: ascending, not empty.
[[nodiscard]] inline std::pair<size_t, size_t> ClipBlock(std::span<const DocId> docs, DocId begin,
                                                         uint64_t end) {
  const DocId* const first = docs.data();
  const DocId* const last = first + docs.size();
  const DocId* const from = docs.front() >= begin ? first : std::lower_bound(first, last, begin);
  const DocId* const to = docs.back() < end ? last : std::lower_bound(from, last, end);
  return {static_cast<size_t>(from - first), static_cast<size_t>(to - first)};
}

}  // namespace infino::text
