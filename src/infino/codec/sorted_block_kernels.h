#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infino/codec/sorted_block.h"
#include "infino/common/bytes.h"

// What the kernels of sorted_block.h share.

namespace infino::internal {

/// How often bits are set below `bit` of the bitmap comes from whole words and the rest of one; the
/// words passed are counted once, since the numbers ascend.
[[gnu::always_inline]] inline void LocateBits(std::span<const uint8_t> bitmap, uint32_t first,
                                              std::span<const uint32_t> numbers,
                                              std::span<uint8_t> ordinals) {
  constexpr size_t kWordBytes = sizeof(uint64_t);
  constexpr size_t kWordBits = 64;
  const auto load = [bitmap](size_t word) {
    const size_t at = word * kWordBytes;
    if (bitmap.size() - at >= kWordBytes) return LoadU64(bitmap.data() + at);
    uint64_t bits = 0;
    for (size_t i = at; i < bitmap.size(); ++i) bits |= uint64_t{bitmap[i]} << (8 * (i - at));
    return bits;
  };
  size_t word = 0;
  uint64_t bits = load(0);
  int before = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t bit = numbers[i] - first;
    if (bit >= bitmap.size() * 8) {
      ordinals[i] = kNotInBlock;
      continue;
    }
    while (word < bit / kWordBits) {
      before += std::popcount(bits);
      bits = load(++word);
    }
    const uint64_t below = (uint64_t{1} << (bit % kWordBits)) - 1;
    const bool is_set = (bits >> (bit % kWordBits) & 1) != 0;
    ordinals[i] = is_set ? static_cast<uint8_t>(before + std::popcount(bits & below)) : kNotInBlock;
  }
}

#if defined(__x86_64__)
/// As LocateInBlock and LocateInBitmap. REQUIRES: ThisCpu().avx2.
void LocateAvx2(std::span<const uint32_t> block, std::span<const uint32_t> numbers,
                std::span<uint8_t> ordinals);
void LocateBitsAvx2(std::span<const uint8_t> bitmap, uint32_t first,
                    std::span<const uint32_t> numbers, std::span<uint8_t> ordinals);
#endif

}  // namespace infino::internal
