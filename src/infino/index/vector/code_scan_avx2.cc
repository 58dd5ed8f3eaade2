#include "infino/index/vector/code_scan_internal.h"

#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

#include "infino/index/vector/code_scan.h"

#define INFINO_AVX2 __attribute__((target("avx2"), always_inline))

namespace infino::vector::internal {
namespace {

INFINO_AVX2 inline __m256i Load(const uint8_t* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

/// 32 sums of 16 bits, in order.
struct Sums {
  __m256i first;
  __m256i second;
};

/// What is looked up for one byte of 32 codes: both halves' entries, which fit a byte together.
INFINO_AVX2 inline __m256i Entries(__m256i codes, const uint8_t* low, const uint8_t* high) {
  const __m256i nibble = _mm256_set1_epi8(0x0F);
  const __m256i low_bits = _mm256_and_si256(codes, nibble);
  const __m256i high_bits = _mm256_and_si256(_mm256_srli_epi16(codes, 4), nibble);
  return _mm256_add_epi8(_mm256_shuffle_epi8(Load(low), low_bits),
                         _mm256_shuffle_epi8(Load(high), high_bits));
}

/// Codes 2 i are the low, 2 i + 1 the high bytes of words. Words of both are summed up, and so are
/// the high bytes alone; what those put into the words is taken out in the end.
INFINO_AVX2 inline Sums SumEntries(const uint8_t* block, const ScanTable& table) {
  __m256i words = _mm256_setzero_si256();
  __m256i odd = _mm256_setzero_si256();
  const size_t code_bytes = table.code_bytes();
  const uint8_t* entry = table.low(0);
  constexpr size_t kEntry = ScanTable::kTableBytes;
  size_t group = 0;
  for (; group + 2 <= code_bytes; group += 2, entry += 4 * kEntry, block += 2 * kBlockCodes) {
    const __m256i first = Entries(Load(block), entry, entry + 2 * kEntry);
    const __m256i second = Entries(Load(block + kBlockCodes), entry + kEntry, entry + 3 * kEntry);
    words = _mm256_add_epi16(words, _mm256_add_epi16(first, second));
    odd = _mm256_add_epi16(
        odd, _mm256_add_epi16(_mm256_srli_epi16(first, 8), _mm256_srli_epi16(second, 8)));
  }
  if (group < code_bytes) {
    const __m256i last = Entries(Load(block), entry, entry + kEntry);
    words = _mm256_add_epi16(words, last);
    odd = _mm256_add_epi16(odd, _mm256_srli_epi16(last, 8));
  }
  const __m256i even = _mm256_sub_epi16(words, _mm256_slli_epi16(odd, 8));
  const __m256i low = _mm256_unpacklo_epi16(even, odd);
  const __m256i high = _mm256_unpackhi_epi16(even, odd);
  return {_mm256_permute2x128_si256(low, high, 0x20), _mm256_permute2x128_si256(low, high, 0x31)};
}

INFINO_AVX2 inline __m256 EightSums(__m128i words, int32_t bias) {
  return _mm256_cvtepi32_ps(
      _mm256_sub_epi32(_mm256_cvtepu16_epi32(words), _mm256_set1_epi32(bias)));
}

}  // namespace

__attribute__((target("avx2"))) uint32_t ScanBlockAvx2(const uint8_t* block, const ScanTable& table,
                                                       const ScanTerms& terms,
                                                       const BlockTerms& points, float limit,
                                                       BlockEstimates& out) {
  const Sums sums = SumEntries(block, table);
  const __m128i quarters[4] = {
      _mm256_castsi256_si128(sums.first), _mm256_extracti128_si256(sums.first, 1),
      _mm256_castsi256_si128(sums.second), _mm256_extracti128_si256(sums.second, 1)};
  const BlockFactors factors(block, table.code_bytes());
  const __m256 slope = _mm256_set1_ps(terms.slope);
  const __m256 noise = _mm256_set1_ps(terms.noise);
  const __m256 limits = _mm256_set1_ps(limit);
  uint32_t passing = 0;
  for (size_t quarter = 0; quarter < 4; ++quarter) {
    const size_t first = 8 * quarter;
    const __m256 sum = EightSums(quarters[quarter], table.bias());
    const __m256 offset =
        _mm256_loadu_ps(reinterpret_cast<const float*>(factors.offsets + 4 * first));
    const __m128i briefs =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(factors.scales + 2 * first));
    const __m256 scale = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(briefs), 16));
    const __m128i bytes =
        _mm_loadl_epi64(reinterpret_cast<const __m128i*>(factors.spreads + first));
    const __m256 spread = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
    const __m256 sloped = _mm256_mul_ps(slope, _mm256_mul_ps(scale, sum));
    const __m256 based = _mm256_add_ps(_mm256_load_ps(points.base.data() + first), offset);
    const __m256 spreads = _mm256_mul_ps(spread, _mm256_load_ps(points.spread.data() + first));
    const __m256 error = _mm256_mul_ps(scale, _mm256_add_ps(spreads, noise));
    const __m256 distance = _mm256_add_ps(based, sloped);
    const __m256 lowest = _mm256_sub_ps(distance, error);
    _mm256_store_ps(out.distance.data() + first, distance);
    _mm256_store_ps(out.lowest.data() + first, lowest);
    const auto bits =
        static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(lowest, limits, _CMP_NGT_UQ)));
    passing |= bits << first;
  }
  return passing;
}

}  // namespace infino::vector::internal

#endif
