#include "infino/index/vector/code_scan_internal.h"

#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

#include "infino/index/vector/code_scan.h"

#define INFINO_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2"), always_inline))

namespace infino::vector::internal {
namespace {

/// As the kernel for AVX2, two bytes of every code at a time.
INFINO_AVX512 inline __m512i Entries(__m512i codes, __m512i low_table, __m512i high_table) {
  const __m512i nibble = _mm512_set1_epi8(0x0F);
  const __m512i low = _mm512_and_si512(codes, nibble);
  const __m512i high = _mm512_and_si512(_mm512_srli_epi16(codes, 4), nibble);
  return _mm512_add_epi8(_mm512_shuffle_epi8(low_table, low),
                         _mm512_shuffle_epi8(high_table, high));
}

INFINO_AVX512 inline __m512i Load64(const uint8_t* at) {
  return _mm512_loadu_si512(at);
}

/// 32 bytes, and zeros above.
INFINO_AVX512 inline __m512i Load32(const uint8_t* at) {
  return _mm512_zextsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}

INFINO_AVX512 inline __m256i FoldHalves(__m512i words) {
  return _mm256_add_epi16(_mm512_castsi512_si256(words), _mm512_extracti64x4_epi64(words, 1));
}

/// 32 sums of 16 bits, in order.
INFINO_AVX512 inline __m512i SumEntries(const uint8_t* block, const ScanTable& table) {
  __m512i words = _mm512_setzero_si512();
  __m512i odd = _mm512_setzero_si512();
  const size_t code_bytes = table.code_bytes();
  const uint8_t* entry = table.low(0);
  constexpr size_t kEntry = ScanTable::kTableBytes;
  size_t group = 0;
  for (; group + 2 <= code_bytes; group += 2, entry += 4 * kEntry, block += 2 * kBlockCodes) {
    const __m512i entries = Entries(Load64(block), Load64(entry), Load64(entry + 2 * kEntry));
    words = _mm512_add_epi16(words, entries);
    odd = _mm512_add_epi16(odd, _mm512_srli_epi16(entries, 8));
  }
  if (group < code_bytes) {
    // The upper halves of the tables are zero: whatever is looked up there adds nothing.
    const __m512i entries = Entries(Load32(block), Load32(entry), Load32(entry + kEntry));
    words = _mm512_add_epi16(words, entries);
    odd = _mm512_add_epi16(odd, _mm512_srli_epi16(entries, 8));
  }
  const __m256i odds = FoldHalves(odd);
  const __m256i evens = _mm256_sub_epi16(FoldHalves(words), _mm256_slli_epi16(odds, 8));
  const __m256i low = _mm256_unpacklo_epi16(evens, odds);
  const __m256i high = _mm256_unpackhi_epi16(evens, odds);
  const __m256i first = _mm256_permute2x128_si256(low, high, 0x20);
  const __m256i second = _mm256_permute2x128_si256(low, high, 0x31);
  return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
}

}  // namespace

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2"))) uint32_t
ScanBlockAvx512(const uint8_t* block, const ScanTable& table, const ScanTerms& terms,
                const BlockTerms& points, float limit, BlockEstimates& out) {
  const __m512i sums = SumEntries(block, table);
  const __m256i halves[2] = {_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64(sums, 1)};
  const BlockFactors factors(block, table.code_bytes());
  const __m512 slope = _mm512_set1_ps(terms.slope);
  const __m512 noise = _mm512_set1_ps(terms.noise);
  const __m512 limits = _mm512_set1_ps(limit);
  const __m512i bias = _mm512_set1_epi32(table.bias());
  uint32_t passing = 0;
  for (size_t half = 0; half < 2; ++half) {
    const size_t first = 16 * half;
    const __m512 sum =
        _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_cvtepu16_epi32(halves[half]), bias));
    const __m512 offset = _mm512_loadu_ps(factors.offsets + 4 * first);
    const __m256i briefs =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(factors.scales + 2 * first));
    const __m512 scale = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(briefs), 16));
    const __m128i bytes =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(factors.spreads + first));
    const __m512 spread = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
    const __m512 sloped = _mm512_mul_ps(slope, _mm512_mul_ps(scale, sum));
    const __m512 based = _mm512_add_ps(_mm512_load_ps(points.base.data() + first), offset);
    const __m512 spreads = _mm512_mul_ps(spread, _mm512_load_ps(points.spread.data() + first));
    const __m512 error = _mm512_mul_ps(scale, _mm512_add_ps(spreads, noise));
    const __m512 distance = _mm512_add_ps(based, sloped);
    const __m512 lowest = _mm512_sub_ps(distance, error);
    _mm512_store_ps(out.distance.data() + first, distance);
    _mm512_store_ps(out.lowest.data() + first, lowest);
    const auto bits = static_cast<uint32_t>(_mm512_cmp_ps_mask(lowest, limits, _CMP_NGT_UQ));
    passing |= bits << first;
  }
  return passing;
}

}  // namespace infino::vector::internal

#endif
