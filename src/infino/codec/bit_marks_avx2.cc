#include "infino/codec/bit_marks.h"

#if defined(__x86_64__)

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <immintrin.h>

namespace infino::internal {

__attribute__((target("avx2,popcnt"))) uint64_t CountBitsAvx2(std::span<const uint64_t> words) {
  uint64_t count = 0;
  for (const uint64_t word : words) count += static_cast<uint64_t>(std::popcount(word));
  return count;
}

__attribute__((target("avx2"))) void FoldMarksAvx2(std::span<uint8_t> marks,
                                                   std::span<uint64_t> bits) {
  uint8_t* at = marks.data();
  for (uint64_t& word : bits) {
    auto* const low = reinterpret_cast<__m256i*>(at);
    auto* const high = reinterpret_cast<__m256i*>(at + 32);
    const auto low_bits = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_loadu_si256(low)));
    const auto high_bits = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_loadu_si256(high)));
    word |= uint64_t{high_bits} << 32 | low_bits;
    _mm256_storeu_si256(low, _mm256_setzero_si256());
    _mm256_storeu_si256(high, _mm256_setzero_si256());
    at += 64;
  }
}

}  // namespace infino::internal

#endif
