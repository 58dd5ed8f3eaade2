#include "infino/codec/sorted_block.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"
#include "infino/common/cpu.h"

namespace infino {
namespace {

using LocateFunction = void (*)(std::span<const uint32_t>, std::span<const uint32_t>,
                                std::span<uint8_t>);

void LocatePlain(std::span<const uint32_t> block, std::span<const uint32_t> numbers,
                 std::span<uint8_t> ordinals) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t ordinal = SearchBlock(block, numbers[i]);
    ordinals[i] = block[ordinal] == numbers[i] ? static_cast<uint8_t>(ordinal) : kNotInBlock;
  }
}

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

void LocateBitsPlain(std::span<const uint8_t> bitmap, uint32_t first,
                     std::span<const uint32_t> numbers, std::span<uint8_t> ordinals) {
  LocateBits(bitmap, first, numbers, ordinals);
}

#if defined(__x86_64__)
/// Of a full block: first the group of eight that may have the number, by comparing with the last
/// ones of all sixteen at once, then its place among the eight. Numbers are below 2^31, so that
/// signed comparisons do.
__attribute__((target("avx2,popcnt"))) void LocateAvx2(std::span<const uint32_t> block,
                                                       std::span<const uint32_t> numbers,
                                                       std::span<uint8_t> ordinals) {
  constexpr int kGroup = 8;
  if (block.size() != kPackedBlockCount) {
    LocatePlain(block, numbers, ordinals);
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
#endif

using LocateBitsFunction = void (*)(std::span<const uint8_t>, uint32_t, std::span<const uint32_t>,
                                    std::span<uint8_t>);

LocateBitsFunction ChooseLocateBits() {
#if defined(__x86_64__)
  if (ThisCpu().avx2) return &LocateBitsAvx2;
#endif
  return &LocateBitsPlain;
}

LocateFunction ChooseLocate() {
#if defined(__x86_64__)
  if (ThisCpu().avx2) return &LocateAvx2;
#endif
  return &LocatePlain;
}

}  // namespace

void LocateInBlock(std::span<const uint32_t> block, std::span<const uint32_t> numbers,
                   std::span<uint8_t> ordinals) {
  static const LocateFunction kFunction = ChooseLocate();
  kFunction(block, numbers, ordinals);
}

void LocateInBitmap(std::span<const uint8_t> bitmap, uint32_t first,
                    std::span<const uint32_t> numbers, std::span<uint8_t> ordinals) {
  static const LocateBitsFunction kFunction = ChooseLocateBits();
  kFunction(bitmap, first, numbers, ordinals);
}

}  // namespace infino
