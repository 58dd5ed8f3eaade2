#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "infino/common/content_hash.h"
#include "infino/index/vector/vector_column.h"

namespace infino::vector {

/// A list has at most so many points: a code names one by a byte.
inline constexpr size_t kPointsMax = 256;

/// Up to 256 reference points of one column: what codes of vectors near them are relative to.
/// Immutable, thread-safe. Under cosine they are points among vectors of length 1.
class PointList {
  struct Private {
    explicit Private() = default;
  };

 public:
  /// `values` are the points one after the other. kInvalidArgument unless there are 1 to 256 of
  /// them and every number is finite and at most 1e15 in size.
  [[nodiscard]] static arrow::Result<std::shared_ptr<const PointList>> Make(
      size_t dimension, std::vector<float> values);

  /// For Make.
  PointList(Private tag, size_t dimension, std::vector<float> values);

  /// The hash of dimension and points: equal lists have equal ids, in whatever they are kept.
  [[nodiscard]] const ContentHash& id() const { return id_; }

  [[nodiscard]] size_t dimension() const { return dimension_; }

  [[nodiscard]] size_t size() const { return values_.size() / dimension_; }

  [[nodiscard]] std::span<const float> values() const { return values_; }

  [[nodiscard]] std::span<const float> point(size_t place) const {
    return values().subspan(place * dimension_, dimension_);
  }

  /// The mean of the points, which queries are rounded relative to.
  [[nodiscard]] std::span<const float> centre() const { return centre_; }

 private:
  size_t dimension_;
  std::vector<float> values_;
  std::vector<float> centre_;
  ContentHash id_;
};

struct TrainOptions {
  size_t points_max = kPointsMax;

  /// With fewer rows there are fewer points: one for so many.
  size_t rows_per_point = 32;

  /// No more rows than this many a point are looked at; which ones is drawn.
  size_t sample_rows_per_point = 40;

  size_t iterations = 8;
  uint64_t seed = 0;
};

/// Finds the reference points of vectors like `rows`, which stand one after the other, by k-means
/// on a sample. Equal rows and seeds give equal lists, whatever the instruction set. Rows with a
/// number above 1e15 in size are left out. kInvalidArgument for numbers that are not finite, or if
/// no row is left.
[[nodiscard]] arrow::Result<std::shared_ptr<const PointList>> TrainPoints(
    const VectorColumn& column, std::span<const float> rows, const TrainOptions& options);

/// `row` as the codes see it: under cosine of length 1, unless it is zero. REQUIRES: finite.
void NormalizeFor(VectorMetric metric, std::span<const float> row, std::span<float> out);

/// Numbers above this have squares whose sums floats can't hold.
inline constexpr float kLargestCoded = 1e15F;

/// Whether codes can be made of the vector: no number is above kLargestCoded in size.
[[nodiscard]] bool IsCodable(std::span<const float> row);

}  // namespace infino::vector
