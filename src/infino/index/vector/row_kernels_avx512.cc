#include "infino/index/vector/row_kernels_internal.h"

#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

#include "infino/index/vector/row_kernels.h"

#define INFINO_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2"), always_inline))
#define INFINO_AVX512_ENTRY __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2")))

namespace infino::vector::internal {
namespace {

/// 32 numbers, lane 0 first.
struct Run {
  __m512 part0;
  __m512 part1;
};

INFINO_AVX512 inline __m256i Load32(const uint8_t* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

INFINO_AVX512 inline Run LoadFloats(const float* at) {
  return {_mm512_loadu_ps(at), _mm512_loadu_ps(at + 16)};
}

INFINO_AVX512 inline Run FloatsOf(__m512i words) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm512_castsi512_si256(words))),
          _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(words, 1)))};
}

template <NumberEncoding kEncoding>
INFINO_AVX512 inline Run LoadRun(const uint8_t* numbers, size_t dimension, size_t begin) {
  if constexpr (kEncoding == NumberEncoding::kFp32) {
    return LoadFloats(reinterpret_cast<const float*>(numbers + 4 * begin));
  } else if constexpr (kEncoding == NumberEncoding::kFp16) {
    const uint8_t* const at = numbers + 2 * begin;
    return {_mm512_cvtph_ps(Load32(at)), _mm512_cvtph_ps(Load32(at + 32))};
  } else if constexpr (kEncoding == NumberEncoding::kSq8) {
    return FloatsOf(_mm512_cvtepi8_epi16(Load32(numbers + begin)));
  } else {
    const uint8_t* const high = numbers + begin;
    const __m512i low = _mm512_cvtepi8_epi16(Load32(high + dimension));
    return FloatsOf(
        _mm512_add_epi16(_mm512_slli_epi16(_mm512_cvtepi8_epi16(Load32(high)), 8), low));
  }
}

INFINO_AVX512 inline void AddProducts(const Run& left, const Run& right, Run& sums) {
  sums.part0 = _mm512_add_ps(sums.part0, _mm512_mul_ps(left.part0, right.part0));
  sums.part1 = _mm512_add_ps(sums.part1, _mm512_mul_ps(left.part1, right.part1));
}

INFINO_AVX512 inline void AddSquares(const Run& query, const Run& stored, __m512 scale, Run& sums) {
  const Run apart = {_mm512_sub_ps(query.part0, _mm512_mul_ps(scale, stored.part0)),
                     _mm512_sub_ps(query.part1, _mm512_mul_ps(scale, stored.part1))};
  AddProducts(apart, apart, sums);
}

INFINO_AVX512 inline float SumLanes(const Run& sums) {
  const __m512 sixteen = _mm512_add_ps(sums.part0, sums.part1);
  const __m256 eight =
      _mm256_add_ps(_mm512_castps512_ps256(sixteen), _mm512_extractf32x8_ps(sixteen, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

template <NumberEncoding kEncoding>
INFINO_AVX512_ENTRY float Dot(const float* query, const uint8_t* numbers, size_t dimension) {
  Run sums = {_mm512_setzero_ps(), _mm512_setzero_ps()};
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
INFINO_AVX512_ENTRY float Squared(const float* query, const uint8_t* numbers, size_t dimension,
                                  float scale) {
  Run sums = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  const __m512 scales = _mm512_set1_ps(scale);
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

const RowKernels kAvx512RowKernels[4] = {
    Kernels<NumberEncoding::kFp32>(), Kernels<NumberEncoding::kFp16>(),
    Kernels<NumberEncoding::kSq8>(), Kernels<NumberEncoding::kSq8Residual>()};

}  // namespace infino::vector::internal

#endif
