#include "infino/index/vector/vector_math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infino/common/bytes.h"
#include "infino/index/vector/row_kernels.h"

namespace infino::vector {

ByteSpan BytesOf(std::span<const float> numbers) {
  return {reinterpret_cast<const uint8_t*>(numbers.data()), numbers.size_bytes()};
}

float Dot(std::span<const float> left, std::span<const float> right) {
  static const RowKernels& kKernels = RowKernelsOf(NumberEncoding::kFp32);
  return kKernels.dot(left.data(), BytesOf(right).data(), left.size());
}

double PreciseDot(std::span<const float> left, std::span<const float> right) {
  constexpr size_t kSums = 4;
  std::array<double, kSums> sums{};
  const size_t whole = left.size() / kSums * kSums;
  for (size_t i = 0; i < whole; i += kSums) {
    for (size_t lane = 0; lane < kSums; ++lane) {
      sums[lane] += double{left[i + lane]} * double{right[i + lane]};
    }
  }
  for (size_t i = whole; i < left.size(); ++i) sums[0] += double{left[i]} * double{right[i]};
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

float LargestOf(std::span<const float> numbers) {
  float largest = 0;
  for (const float number : numbers) largest = std::max(largest, std::abs(number));
  return largest;
}

}  // namespace infino::vector
