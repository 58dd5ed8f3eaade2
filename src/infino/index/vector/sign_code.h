#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {

/// A code and its factors, as they stand alone: the bits, then offset, scale and spread.
[[nodiscard]] constexpr size_t CodeRecordBytes(size_t dimension) {
  return CodeBytes(dimension) + 4 + 2 + 1;
}

/// Makes the code of a vector: the signs of its rotated difference to its reference point, with
/// RaBitQ's factors, from which the distance to any query can be estimated without bias and with
/// a known error. It depends on the rotation, the point and the vector alone. Single-threaded.
class SignEncoder {
 public:
  /// `space` outlives it.
  explicit SignEncoder(const VectorSpace& space);

  /// Encodes a row that went through NormalizeFor. REQUIRES: record has CodeRecordBytes.
  ///
  /// One that is not codable gets a code whose estimate is less than any distance, so that a search
  /// always looks at the vector itself.
  void Encode(std::span<const float> row, PointRef point, std::span<uint8_t> record);

 private:
  const VectorSpace& space_;
  std::vector<float> difference_;
  std::vector<float> rotated_;
};

/// What a distance is made of, by metric: its slope is this times scale and sum.
[[nodiscard]] double SlopeOf(VectorMetric metric);

/// The spread that stands for a byte of 255, times a query's distance to the reference point: one
/// standard deviation of the error.
[[nodiscard]] double SpreadUnit(size_t dimension);

/// Puts up to 32 records, one after the other, into a block's content; zeros behind them.
/// REQUIRES: block has BlockContentBytes.
void PackBlock(std::span<const uint8_t> records, size_t dimension, std::span<uint8_t> block);

/// Undoes it for the code at `ordinal`.
void UnpackRecord(std::span<const uint8_t> block, size_t ordinal, size_t dimension,
                  std::span<uint8_t> record);

/// About the vector that a record's code stands for: as far from its point as it is, in about its
/// direction.
void DecodeSigns(std::span<const uint8_t> record, const VectorSpace& space, PointRef point,
                 std::span<float> vector);

}  // namespace infino::vector
