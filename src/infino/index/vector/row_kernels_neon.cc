#include "infino/index/vector/row_kernels_internal.h"

#if defined(__aarch64__)

#include <cstddef>
#include <cstdint>

#include <arm_neon.h>

#include "infino/index/vector/row_kernels.h"

namespace infino::vector::internal {
namespace {

constexpr size_t kParts = 8;

/// 32 numbers, lane 0 first.
struct Run {
  float32x4_t parts[kParts];
};

inline Run LoadFloats(const float* at) {
  Run run;
  for (size_t i = 0; i < kParts; ++i) run.parts[i] = vld1q_f32(at + 4 * i);
  return run;
}

/// 16 numbers to four parts.
inline void FloatsOf(int16x8_t first, int16x8_t second, float32x4_t* parts) {
  parts[0] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(first)));
  parts[1] = vcvtq_f32_s32(vmovl_s16(vget_high_s16(first)));
  parts[2] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(second)));
  parts[3] = vcvtq_f32_s32(vmovl_s16(vget_high_s16(second)));
}

inline int8x16_t LoadBytes(const uint8_t* at) {
  return vreinterpretq_s8_u8(vld1q_u8(at));
}

template <NumberEncoding kEncoding>
inline Run LoadRun(const uint8_t* numbers, size_t dimension, size_t begin) {
  Run run;
  if constexpr (kEncoding == NumberEncoding::kFp32) {
    for (size_t i = 0; i < kParts; ++i) {
      run.parts[i] = vreinterpretq_f32_u8(vld1q_u8(numbers + 4 * begin + 16 * i));
    }
  } else if constexpr (kEncoding == NumberEncoding::kFp16) {
    for (size_t i = 0; i < kParts; ++i) {
      run.parts[i] = vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(numbers + 2 * begin + 8 * i)));
    }
  } else {
    for (size_t half = 0; half < 2; ++half) {
      const uint8_t* const at = numbers + begin + 16 * half;
      const int8x16_t high = LoadBytes(at);
      int16x8_t first = vmovl_s8(vget_low_s8(high));
      int16x8_t second = vmovl_s8(vget_high_s8(high));
      if constexpr (kEncoding == NumberEncoding::kSq8Residual) {
        const int8x16_t low = LoadBytes(at + dimension);
        first = vaddq_s16(vshlq_n_s16(first, 8), vmovl_s8(vget_low_s8(low)));
        second = vaddq_s16(vshlq_n_s16(second, 8), vmovl_s8(vget_high_s8(low)));
      }
      FloatsOf(first, second, run.parts + 4 * half);
    }
  }
  return run;
}

inline void AddProducts(const Run& left, const Run& right, Run& sums) {
  for (size_t i = 0; i < kParts; ++i) {
    sums.parts[i] = vaddq_f32(sums.parts[i], vmulq_f32(left.parts[i], right.parts[i]));
  }
}

inline void AddSquares(const Run& query, const Run& stored, float32x4_t scale, Run& sums) {
  Run apart;
  for (size_t i = 0; i < kParts; ++i) {
    apart.parts[i] = vsubq_f32(query.parts[i], vmulq_f32(scale, stored.parts[i]));
  }
  AddProducts(apart, apart, sums);
}

inline float SumLanes(const Run& sums) {
  float32x4_t parts[4];
  for (size_t i = 0; i < 4; ++i) parts[i] = vaddq_f32(sums.parts[i], sums.parts[i + 4]);
  const float32x4_t low = vaddq_f32(parts[0], parts[2]);
  const float32x4_t four = vaddq_f32(low, vaddq_f32(parts[1], parts[3]));
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

inline Run Zeros() {
  Run run;
  for (float32x4_t& part : run.parts) part = vdupq_n_f32(0);
  return run;
}

template <NumberEncoding kEncoding>
float Dot(const float* query, const uint8_t* numbers, size_t dimension) {
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
float Squared(const float* query, const uint8_t* numbers, size_t dimension, float scale) {
  Run sums = Zeros();
  const float32x4_t scales = vdupq_n_f32(scale);
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

const RowKernels kNeonRowKernels[4] = {
    Kernels<NumberEncoding::kFp32>(), Kernels<NumberEncoding::kFp16>(),
    Kernels<NumberEncoding::kSq8>(), Kernels<NumberEncoding::kSq8Residual>()};

}  // namespace infino::vector::internal

#endif
