#pragma once

#include <span>

#include "infino/common/bytes.h"

namespace infino::vector {

/// The bytes of floats, little-endian as the machines this is for.
[[nodiscard]] ByteSpan BytesOf(std::span<const float> numbers);

/// The inner product of two vectors in memory, added in the order of RowKernels. REQUIRES: the same
/// size.
[[nodiscard]] float Dot(std::span<const float> left, std::span<const float> right);

/// The same in doubles, in four interleaved sums.
[[nodiscard]] double PreciseDot(std::span<const float> left, std::span<const float> right);

/// The largest number in size.
[[nodiscard]] float LargestOf(std::span<const float> numbers);

}  // namespace infino::vector
