#include "infino/index/vector/row_kernels.h"

#include <cstddef>
#include <cstdint>

#include "infino/index/vector/instruction_set.h"
#include "infino/index/vector/row_kernels_internal.h"

namespace infino::vector {
namespace {

using internal::kLanes;
using internal::NumberOf;

float SumLanes(float* lanes) {
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

template <NumberEncoding kEncoding>
float DotPlain(const float* query, const uint8_t* numbers, size_t dimension) {
  float lanes[kLanes] = {};
  for (size_t i = 0; i < dimension; ++i) {
    lanes[i % kLanes] += query[i] * NumberOf<kEncoding>(numbers, dimension, i);
  }
  return SumLanes(lanes);
}

template <NumberEncoding kEncoding>
float SquaredPlain(const float* query, const uint8_t* numbers, size_t dimension, float scale) {
  float lanes[kLanes] = {};
  for (size_t i = 0; i < dimension; ++i) {
    const float scaled = scale * NumberOf<kEncoding>(numbers, dimension, i);
    const float difference = query[i] - scaled;
    lanes[i % kLanes] += difference * difference;
  }
  return SumLanes(lanes);
}

template <NumberEncoding kEncoding>
constexpr RowKernels PlainKernels() {
  return {.dot = &DotPlain<kEncoding>, .squared = &SquaredPlain<kEncoding>};
}

}  // namespace

namespace internal {

const RowKernels kPlainRowKernels[4] = {
    PlainKernels<NumberEncoding::kFp32>(), PlainKernels<NumberEncoding::kFp16>(),
    PlainKernels<NumberEncoding::kSq8>(), PlainKernels<NumberEncoding::kSq8Residual>()};

}  // namespace internal

size_t NumbersSize(NumberEncoding encoding, size_t dimension) {
  switch (encoding) {
    case NumberEncoding::kFp32:
      return 4 * dimension;
    case NumberEncoding::kFp16:
    case NumberEncoding::kSq8Residual:
      return 2 * dimension;
    case NumberEncoding::kSq8:
      break;
  }
  return dimension;
}

float NumberAt(NumberEncoding encoding, const uint8_t* numbers, size_t dimension, size_t ordinal) {
  switch (encoding) {
    case NumberEncoding::kFp32:
      return NumberOf<NumberEncoding::kFp32>(numbers, dimension, ordinal);
    case NumberEncoding::kFp16:
      return NumberOf<NumberEncoding::kFp16>(numbers, dimension, ordinal);
    case NumberEncoding::kSq8Residual:
      return NumberOf<NumberEncoding::kSq8Residual>(numbers, dimension, ordinal);
    case NumberEncoding::kSq8:
      break;
  }
  return NumberOf<NumberEncoding::kSq8>(numbers, dimension, ordinal);
}

const RowKernels& RowKernelsOf(InstructionSet set, NumberEncoding encoding) {
  const auto ordinal = static_cast<size_t>(encoding);
  switch (set) {
#if defined(__x86_64__)
    case InstructionSet::kAvx2:
      return internal::kAvx2RowKernels[ordinal];
    case InstructionSet::kAvx512:
      return internal::kAvx512RowKernels[ordinal];
#endif
#if defined(__aarch64__)
    case InstructionSet::kNeon:
      return internal::kNeonRowKernels[ordinal];
#endif
    default:
      return internal::kPlainRowKernels[ordinal];
  }
}

const RowKernels& RowKernelsOf(NumberEncoding encoding) {
  static const InstructionSet kBest = BestInstructionSet();
  return RowKernelsOf(kBest, encoding);
}

}  // namespace infino::vector
