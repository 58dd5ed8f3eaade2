#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "infino/index/vector/row_kernels.h"
#include "infino/index/vector/vector_column.h"

namespace infino::vector {

/// How a column's vectors are kept for reranking and for being read again: a scale, a length, the
/// numbers, a checksum. The bytes depend on the vector alone. Thread-safe.
class RowFormat {
 public:
  /// REQUIRES: the column's tier is not kNone.
  explicit RowFormat(const VectorColumn& column);

  [[nodiscard]] const VectorColumn& column() const { return column_; }

  [[nodiscard]] NumberEncoding encoding() const { return encoding_; }

  /// With the checksum.
  [[nodiscard]] size_t row_bytes() const { return row_bytes_; }

  /// REQUIRES: finite, of the column's dimension; out has row_bytes().
  void Encode(std::span<const float> vector, std::span<uint8_t> out) const;

  /// The vector that a row stands for.
  void Decode(std::span<const uint8_t> row, std::span<float> vector) const;

  [[nodiscard]] bool ChecksumIsRight(std::span<const uint8_t> row) const;

 private:
  VectorColumn column_;
  NumberEncoding encoding_;
  size_t row_bytes_;
};

/// The size of a row of the column, 0 for the tier kNone.
[[nodiscard]] size_t RowBytesOf(const VectorColumn& column);

/// The distances of stored rows to one query. A distance depends on the two alone, never on the
/// machine; it is finite, 0 to 2 under cosine, and not negative under squared L2. `query` went
/// through NormalizeFor. Thread-safe.
class RowScorer {
 public:
  /// Both outlive it.
  RowScorer(const RowFormat& format, std::span<const float> query);

  /// REQUIRES: row has the format's row_bytes().
  [[nodiscard]] float DistanceOf(const uint8_t* row) const;

 private:
  [[nodiscard]] float PreciseDistance(const uint8_t* row) const;

  const RowFormat& format_;
  std::span<const float> query_;
  const RowKernels& kernels_;
};

/// A distance as a score: finite, and in its metric's range.
[[nodiscard]] float ClampDistance(VectorMetric metric, double distance);

}  // namespace infino::vector
