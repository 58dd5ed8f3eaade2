#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace infino {

/// The ordinal of the first of a block's numbers that is at least `number`; the last ordinal if
/// there is none. Without a branch to mispredict. REQUIRES: ascending, not empty.
[[nodiscard]] inline size_t SearchBlock(std::span<const uint32_t> block, uint32_t number) {
  const uint32_t* base = block.data();
  for (size_t left = block.size(); left > 1;) {
    const size_t half = left / 2;
    base += base[half - 1] < number ? half : 0;
    left -= half;
  }
  return static_cast<size_t>(base - block.data());
}

/// What LocateInBlock says of a number that the block does not have.
inline constexpr uint8_t kNotInBlock = 0xFF;

/// Sets ordinals[i] to the ordinal of numbers[i] in the block, or to kNotInBlock. The same on
/// every processor. REQUIRES: both ascending and below 2^31, `block` not empty and of at most 128
/// numbers, as many ordinals as numbers.
void LocateInBlock(std::span<const uint32_t> block, std::span<const uint32_t> numbers,
                   std::span<uint8_t> ordinals);

/// The same where the block is a bitmap: its bit i, the lowest of a byte first, stands for the
/// number first + i. REQUIRES: at most 255 bits are set, no number is less than `first`.
void LocateInBitmap(std::span<const uint8_t> bitmap, uint32_t first,
                    std::span<const uint32_t> numbers, std::span<uint8_t> ordinals);

/// Those of a block's numbers that lie in [begin, end), as ordinals [first, last).
/// REQUIRES: ascending, not empty.
[[nodiscard]] inline std::pair<size_t, size_t> ClipBlock(std::span<const uint32_t> block,
                                                         uint32_t begin, uint64_t end) {
  const uint32_t* const first = block.data();
  const uint32_t* const last = first + block.size();
  const uint32_t* const from =
      block.front() >= begin ? first : std::lower_bound(first, last, begin);
  const uint32_t* const to = block.back() < end ? last : std::lower_bound(from, last, end);
  return {static_cast<size_t>(from - first), static_cast<size_t>(to - first)};
}

}  // namespace infino
