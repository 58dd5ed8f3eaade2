#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "infino/common/bytes.h"
#include "infino/index/vector/row_kernels.h"
#include "infino/index/vector/small_floats.h"

// What the kernels of row_kernels.h share.

namespace infino::vector::internal {

inline constexpr size_t kLanes = 32;

template <NumberEncoding kEncoding>
[[nodiscard]] inline float NumberOf(const uint8_t* numbers, size_t dimension, size_t ordinal) {
  if constexpr (kEncoding == NumberEncoding::kFp32) {
    return std::bit_cast<float>(LoadU32(numbers + 4 * ordinal));
  } else if constexpr (kEncoding == NumberEncoding::kFp16) {
    return HalfToFloat(LoadU16(numbers + 2 * ordinal));
  } else if constexpr (kEncoding == NumberEncoding::kSq8) {
    return static_cast<float>(static_cast<int8_t>(numbers[ordinal]));
  } else {
    const int high = static_cast<int8_t>(numbers[ordinal]);
    const int low = static_cast<int8_t>(numbers[dimension + ordinal]);
    return static_cast<float>(256 * high + low);
  }
}

/// What is left behind the last whole run of 32, with zeros behind it: they add nothing.
template <NumberEncoding kEncoding>
struct Tail {
  Tail(const float* query_numbers, const uint8_t* numbers, size_t dimension, size_t begin) {
    for (size_t i = begin; i < dimension; ++i) {
      query[i - begin] = query_numbers[i];
      stored[i - begin] = NumberOf<kEncoding>(numbers, dimension, i);
    }
  }

  float query[kLanes] = {};
  float stored[kLanes] = {};
};

/// One per NumberEncoding, in its order.
extern const RowKernels kPlainRowKernels[4];
#if defined(__x86_64__)
extern const RowKernels kAvx2RowKernels[4];
extern const RowKernels kAvx512RowKernels[4];
#endif
#if defined(__aarch64__)
extern const RowKernels kNeonRowKernels[4];
#endif

}  // namespace infino::vector::internal
