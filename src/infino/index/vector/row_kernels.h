#pragma once

#include <cstddef>
#include <cstdint>

#include "infino/index/vector/instruction_set.h"

namespace infino::vector {

/// How the numbers of a stored vector are written; docs/format/vector-index.md has the bytes.
enum class NumberEncoding : uint8_t {
  kFp32,         ///< 4 bytes each.
  kFp16,         ///< 2 bytes each.
  kSq8,          ///< A signed byte each.
  kSq8Residual,  ///< A plane of signed bytes that count 256, none of them -128, then a plane of
                 ///< signed bytes that count 1.
};

/// The size of `dimension` numbers.
[[nodiscard]] size_t NumbersSize(NumberEncoding encoding, size_t dimension);

/// The number at `ordinal`, as a kernel sees it: before the vector's scale.
[[nodiscard]] float NumberAt(NumberEncoding encoding, const uint8_t* numbers, size_t dimension,
                             size_t ordinal);

/// Exact distances between a query and one stored vector.
///
/// Every kernel adds in one order, so that all give the same bits: term i goes to lane i mod 32;
/// a lane adds its terms in ascending order; then lane l takes lane l + 16, l + 8, l + 4, l + 2 and
/// l + 1 in turn. Each operation is rounded to float by itself. Any alignment will do.
struct RowKernels {
  /// The sum of query[i] * number[i].
  float (*dot)(const float* query, const uint8_t* numbers, size_t dimension);

  /// The sum of (query[i] - scale * number[i])^2. REQUIRES: `scale` is finite, or what comes out is
  /// only known not to be.
  float (*squared)(const float* query, const uint8_t* numbers, size_t dimension, float scale);
};

/// The kernels of one instruction set. REQUIRES: HasInstructionSet(set).
[[nodiscard]] const RowKernels& RowKernelsOf(InstructionSet set, NumberEncoding encoding);

/// The fastest kernels of this machine.
[[nodiscard]] const RowKernels& RowKernelsOf(NumberEncoding encoding);

}  // namespace infino::vector
