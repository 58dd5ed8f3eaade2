#include "infino/codec/bit_packing_kernels.h"

#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>
#include <utility>

#include <immintrin.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"

// The functions here, and only they, are compiled for AVX2: a flag for the whole file would also
// reach inline functions that the linker may pick for everybody.
#define INFINO_AVX2 __attribute__((target("avx2")))
#define INFINO_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace infino::internal {
namespace {

constexpr int kRowCount = static_cast<int>(kPackedBlockCount / 4);

/// The four numbers of row `Row`, one from each lane. All shifts are constants.
template <int Width, int Row>
INFINO_AVX2_INLINE __m128i LoadRow(const __m128i* in) {
  constexpr int kFirstBit = Width * Row;
  constexpr int kWord = kFirstBit / 32;
  constexpr int kShift = kFirstBit % 32;
  __m128i row = _mm_srli_epi32(_mm_loadu_si128(in + kWord), kShift);
  if constexpr (kShift + Width > 32) {
    row = _mm_or_si128(row, _mm_slli_epi32(_mm_loadu_si128(in + kWord + 1), 32 - kShift));
  }
  if constexpr (Width < 32 && kShift + Width != 32) {
    row = _mm_and_si128(row, _mm_set1_epi32(static_cast<int>((uint32_t{1} << Width) - 1)));
  }
  return row;
}

/// The sums of a row of deltas that follows the row `last`, whose greatest number is its last.
INFINO_AVX2_INLINE __m128i SumRow(__m128i deltas, __m128i last) {
  __m128i steps = _mm_add_epi32(deltas, _mm_set1_epi32(1));
  steps = _mm_add_epi32(steps, _mm_slli_si128(steps, 4));
  steps = _mm_add_epi32(steps, _mm_slli_si128(steps, 8));
  return _mm_add_epi32(steps, _mm_shuffle_epi32(last, 0xff));
}

template <int Width, int... Rows>
INFINO_AVX2_INLINE void UnpackRows(const __m128i* in, __m128i* out,
                                   std::integer_sequence<int, Rows...> /*rows*/) {
  (_mm_storeu_si128(out + Rows, LoadRow<Width, Rows>(in)), ...);
}

template <int Width>
INFINO_AVX2 void UnpackWidth(const __m128i* in, __m128i* out) {
  if constexpr (Width == 0) {
    for (int row = 0; row < kRowCount; ++row) _mm_storeu_si128(out + row, _mm_setzero_si128());
  } else {
    UnpackRows<Width>(in, out, std::make_integer_sequence<int, kRowCount>());
  }
}

/// Adds up a block of deltas in place. A loop of its own: each sum waits for the one before, so
/// there is time for the store and the load.
INFINO_AVX2 void SumBlock(uint32_t base, __m128i* block) {
  __m128i last = _mm_set1_epi32(static_cast<int>(base));
  for (int row = 0; row < kRowCount; ++row) {
    last = SumRow(_mm_loadu_si128(block + row), last);
    _mm_storeu_si128(block + row, last);
  }
}

using UnpackFunction = void (*)(const __m128i* in, __m128i* out);
constexpr size_t kWidthCount = kPackedWidthMax + 1;

/// One function for each width. A plain array: std::array would drop the alignment of __m128i.
struct Table {
  UnpackFunction of_width[kWidthCount];
};

template <int... Widths>
constexpr Table MakeTable(std::integer_sequence<int, Widths...> /*widths*/) {
  return {.of_width = {&UnpackWidth<Widths>...}};
}

constexpr Table kUnpack = MakeTable(std::make_integer_sequence<int, kWidthCount>());

}  // namespace

void UnpackBlockAvx2(ByteSpan in, uint32_t width, BlockSpan out) {
  kUnpack.of_width[width](reinterpret_cast<const __m128i*>(in.data()),
                          reinterpret_cast<__m128i*>(out.data()));
}

void UnpackSumsAvx2(ByteSpan in, uint32_t width, uint32_t base, BlockSpan out) {
  UnpackBlockAvx2(in, width, out);
  SumBlock(base, reinterpret_cast<__m128i*>(out.data()));
}

}  // namespace infino::internal

#endif  // defined(__x86_64__)
