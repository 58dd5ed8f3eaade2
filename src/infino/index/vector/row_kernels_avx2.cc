#include "infino/index/vector/row_kernels_internal.h"

#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

#include "infino/index/vector/row_kernels.h"

#define INFINO_AVX2 __attribute__((target("avx2,f16c"), always_inline))
#define INFINO_AVX2_ENTRY __attribute__((target("avx2,f16c")))

namespace infino::vector::internal {
namespace {

/// 32 numbers, lane 0 first.
struct Run {
  __m256 part0;
  __m256 part1;
  __m256 part2;
  __m256 part3;
};

INFINO_AVX2 inline __m128i Load16(const uint8_t* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

INFINO_AVX2 inline Run LoadFloats(const float* at) {
  return {_mm256_loadu_ps(at), _mm256_loadu_ps(at + 8), _mm256_loadu_ps(at + 16),
          _mm256_loadu_ps(at + 24)};
}

INFINO_AVX2 inline __m256 LowToFloats(__m256i words) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm256_castsi256_si128(words)));
}

INFINO_AVX2 inline __m256 HighToFloats(__m256i words) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm256_extracti128_si256(words, 1)));
}

INFINO_AVX2 inline Run FloatsOf(__m256i first, __m256i second) {
  return {LowToFloats(first), HighToFloats(first), LowToFloats(second), HighToFloats(second)};
}

template <NumberEncoding kEncoding>
INFINO_AVX2 inline Run LoadRun(const uint8_t* numbers, size_t dimension, size_t begin) {
  if constexpr (kEncoding == NumberEncoding::kFp32) {
    return LoadFloats(reinterpret_cast<const float*>(numbers + 4 * begin));
  } else if constexpr (kEncoding == NumberEncoding::kFp16) {
    const uint8_t* const at = numbers + 2 * begin;
    return {_mm256_cvtph_ps(Load16(at)), _mm256_cvtph_ps(Load16(at + 16)),
            _mm256_cvtph_ps(Load16(at + 32)), _mm256_cvtph_ps(Load16(at + 48))};
  } else if constexpr (kEncoding == NumberEncoding::kSq8) {
    const uint8_t* const at = numbers + begin;
    return FloatsOf(_mm256_cvtepi8_epi16(Load16(at)), _mm256_cvtepi8_epi16(Load16(at + 16)));
  } else {
    const uint8_t* const high = numbers + begin;
    const uint8_t* const low = high + dimension;
    const __m256i first = _mm256_slli_epi16(_mm256_cvtepi8_epi16(Load16(high)), 8);
    const __m256i second = _mm256_slli_epi16(_mm256_cvtepi8_epi16(Load16(high + 16)), 8);
    return FloatsOf(_mm256_add_epi16(first, _mm256_cvtepi8_epi16(Load16(low))),
                    _mm256_add_epi16(second, _mm256_cvtepi8_epi16(Load16(low + 16))));
  }
}

INFINO_AVX2 inline void AddProducts(const Run& left, const Run& right, Run& sums) {
  sums.part0 = _mm256_add_ps(sums.part0, _mm256_mul_ps(left.part0, right.part0));
  sums.part1 = _mm256_add_ps(sums.part1, _mm256_mul_ps(left.part1, right.part1));
  sums.part2 = _mm256_add_ps(sums.part2, _mm256_mul_ps(left.part2, right.part2));
  sums.part3 = _mm256_add_ps(sums.part3, _mm256_mul_ps(left.part3, right.part3));
}

INFINO_AVX2 inline void AddSquares(const Run& query, const Run& stored, __m256 scale, Run& sums) {
  const Run apart = {_mm256_sub_ps(query.part0, _mm256_mul_ps(scale, stored.part0)),
                     _mm256_sub_ps(query.part1, _mm256_mul_ps(scale, stored.part1)),
                     _mm256_sub_ps(query.part2, _mm256_mul_ps(scale, stored.part2)),
                     _mm256_sub_ps(query.part3, _mm256_mul_ps(scale, stored.part3))};
  AddProducts(apart, apart, sums);
}

INFINO_AVX2 inline float SumLanes(const Run& sums) {
  const __m256 low = _mm256_add_ps(sums.part0, sums.part2);
  const __m256 high = _mm256_add_ps(sums.part1, sums.part3);
  const __m256 eight = _mm256_add_ps(low, high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

INFINO_AVX2 inline Run Zeros() {
  return {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
}

template <NumberEncoding kEncoding>
INFINO_AVX2_ENTRY float Dot(const float* query, const uint8_t* numbers, size_t dimension) {
  Run sums = Zeros();
  size_t i = 0;
  for (; i + kLanes <= dimension; i += kLanes) {
    AddProducts(LoadFloats(query + i), LoadRun<kEncoding>(numbers, dimension, i), sums);
  }
  if (i < dimension) {
    const Tail<kEncoding> tail(query, numbers, dimension, i);
    AddProducts(LoadFloats(tail.query), LoadFloats(tail.stored), sums);
  }
  return SumLanes(sums);
}

template <NumberEncoding kEncoding>
INFINO_AVX2_ENTRY float Squared(const float* query, const uint8_t* numbers, size_t dimension,
                                float scale) {
  Run sums = Zeros();
  const __m256 scales = _mm256_set1_ps(scale);
  size_t i = 0;
  for (; i + kLanes <= dimension; i += kLanes) {
    AddSquares(LoadFloats(query + i), LoadRun<kEncoding>(numbers, dimension, i), scales, sums);
  }
  if (i < dimension) {
    const Tail<kEncoding> tail(query, numbers, dimension, i);
    AddSquares(LoadFloats(tail.query), LoadFloats(tail.stored), scales, sums);
  }
  return SumLanes(sums);
}

template <NumberEncoding kEncoding>
constexpr RowKernels Kernels() {
  return {.dot = &Dot<kEncoding>, .squared = &Squared<kEncoding>};
}

}  // namespace

const RowKernels kAvx2RowKernels[4] = {
    Kernels<NumberEncoding::kFp32>(), Kernels<NumberEncoding::kFp16>(),
    Kernels<NumberEncoding::kSq8>(), Kernels<NumberEncoding::kSq8Residual>()};

}  // namespace infino::vector::internal

#endif
