#include "infino/codec/sorted_block_kernels.h"

#if defined(__x86_64__)

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <immintrin.h>

#include "infino/codec/bit_packing.h"
#include "infino/codec/sorted_block.h"

namespace infino::internal {

/// Of a full block: first the group of eight that may have the number, by comparing with the last
/// ones of all sixteen at once, then its place among the eight. Numbers are below 2^31, so that
/// signed comparisons do.
__attribute__((target("avx2,popcnt"))) void LocateAvx2(std::span<const uint32_t> block,
                                                       std::span<const uint32_t> numbers,
                                                       std::span<uint8_t> ordinals) {
  constexpr int kGroup = 8;
  if (block.size() != kPackedBlockCount) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      const size_t ordinal = SearchBlock(block, numbers[i]);
      ordinals[i] = block[ordinal] == numbers[i] ? static_cast<uint8_t>(ordinal) : kNotInBlock;
    }
    return;
  }
  const uint32_t* const docs = block.data();
  const auto last = [docs](int group) {
    return static_cast<int>(docs[group * kGroup + kGroup - 1]);
  };
  const __m256i low =
      _mm256_setr_epi32(last(0), last(1), last(2), last(3), last(4), last(5), last(6), last(7));
  const __m256i high = _mm256_setr_epi32(last(8), last(9), last(10), last(11), last(12), last(13),
                                         last(14), last(15));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const __m256i wanted = _mm256_set1_epi32(static_cast<int>(numbers[i]));
    const auto below_low = static_cast<uint32_t>(
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(wanted, low))));
    const auto below_high = static_cast<uint32_t>(
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(wanted, high))));
    // The last group stands for those past the end as well: they are not in it.
    const int group = std::min(std::popcount(below_low | (below_high << 8U)), 15);
    const __m256i eight = _mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(docs + static_cast<ptrdiff_t>(group) * kGroup));
    const auto equal = static_cast<uint32_t>(
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(eight, wanted))));
    const auto place = static_cast<uint32_t>(group * kGroup + std::countr_zero(equal));
    ordinals[i] = equal == 0 ? kNotInBlock : static_cast<uint8_t>(place);
  }
}

__attribute__((target("avx2,popcnt"))) void LocateBitsAvx2(std::span<const uint8_t> bitmap,
                                                           uint32_t first,
                                                           std::span<const uint32_t> numbers,
                                                           std::span<uint8_t> ordinals) {
  LocateBits(bitmap, first, numbers, ordinals);
}

}  // namespace infino::internal

#endif
