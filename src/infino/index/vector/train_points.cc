#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/vector/nearest_point.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/vector_column.h"

namespace infino::vector {
namespace {

/// k-means on rows that stand one after the other.
class KMeans {
 public:
  KMeans(std::vector<float> rows, size_t dimension)
      : rows_(std::move(rows)), dimension_(dimension), count_(rows_.size() / dimension) {}

  /// REQUIRES: 1 <= points <= rows.
  std::vector<float> Run(size_t points, size_t iterations) {
    Centre();
    // The sample is in random order: its first rows are a random choice.
    points_.assign(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(points * dimension_));
    nearest_.resize(count_);
    scores_.resize(count_);
    for (size_t i = 0; i < iterations; ++i) {
      NearestPoint(points_, dimension_).Assign(rows_, nearest_, scores_);
      Update();
    }
    DropEmpty();
    for (size_t i = 0; i < points_.size(); ++i) points_[i] += mean_[i % dimension_];
    return std::move(points_);
  }

 private:
  /// Differences to the mean are what keeps its digits.
  void Centre() {
    std::vector<double> sums(dimension_);
    for (size_t i = 0; i < rows_.size(); ++i) sums[i % dimension_] += rows_[i];
    mean_.resize(dimension_);
    for (size_t i = 0; i < dimension_; ++i) {
      mean_[i] = static_cast<float>(sums[i] / static_cast<double>(count_));
    }
    for (size_t i = 0; i < rows_.size(); ++i) rows_[i] -= mean_[i % dimension_];
  }

  void Update() {
    const size_t points = points_.size() / dimension_;
    std::vector<double> sums(points_.size());
    sizes_.assign(points, 0);
    for (size_t row = 0; row < count_; ++row) {
      ++sizes_[nearest_[row]];
      double* const sum = sums.data() + nearest_[row] * dimension_;
      for (size_t i = 0; i < dimension_; ++i) sum[i] += rows_[row * dimension_ + i];
    }
    for (size_t point = 0; point < points; ++point) {
      if (sizes_[point] == 0) continue;
      for (size_t i = 0; i < dimension_; ++i) {
        points_[point * dimension_ + i] =
            static_cast<float>(sums[point * dimension_ + i] / static_cast<double>(sizes_[point]));
      }
    }
  }

  /// Of rows that are all alike, all but one of their points stay empty.
  void DropEmpty() {
    size_t kept = 0;
    for (size_t point = 0; point < sizes_.size(); ++point) {
      if (sizes_[point] == 0) continue;
      std::copy_n(points_.begin() + static_cast<ptrdiff_t>(point * dimension_), dimension_,
                  points_.begin() + static_cast<ptrdiff_t>(kept * dimension_));
      ++kept;
    }
    points_.resize(kept * dimension_);
  }

  std::vector<float> rows_;
  size_t dimension_;
  size_t count_;
  std::vector<float> mean_;
  std::vector<float> points_;
  std::vector<uint32_t> nearest_;
  std::vector<float> scores_;
  std::vector<size_t> sizes_;
};

/// The ordinals of up to `count` rows, drawn without repetition, in the order drawn.
std::vector<size_t> DrawRows(size_t row_count, size_t count, uint64_t seed) {
  std::vector<size_t> ordinals(row_count);
  std::iota(ordinals.begin(), ordinals.end(), size_t{0});
  Random random(seed);
  count = std::min(count, row_count);
  for (size_t i = 0; i < count; ++i) {
    std::swap(ordinals[i], ordinals[i + random.Below(row_count - i)]);
  }
  ordinals.resize(count);
  return ordinals;
}

}  // namespace

arrow::Result<std::shared_ptr<const PointList>> TrainPoints(const VectorColumn& column,
                                                            std::span<const float> rows,
                                                            const TrainOptions& options) {
  const size_t dimension = column.dimension;
  if (dimension == 0 || rows.size() % dimension != 0 ||
      !std::ranges::all_of(rows, [](float number) { return std::isfinite(number); })) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "train reference points: rows have another dimension, or a number that is not "
                     "finite");
  }
  const size_t points_max = std::clamp<size_t>(options.points_max, 1, kPointsMax);
  std::vector<float> sample;
  std::vector<float> row(dimension);
  for (const size_t ordinal : DrawRows(rows.size() / dimension,
                                       points_max * options.sample_rows_per_point, options.seed)) {
    NormalizeFor(column.metric, rows.subspan(ordinal * dimension, dimension), row);
    if (IsCodable(row)) sample.insert(sample.end(), row.begin(), row.end());
  }
  if (sample.empty()) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "train reference points: there is no row without numbers above 1e15");
  }
  const size_t wanted = sample.size() / dimension / std::max<size_t>(options.rows_per_point, 1);
  KMeans training(std::move(sample), dimension);
  return PointList::Make(dimension, training.Run(std::clamp<size_t>(wanted, 1, points_max),
                                                 std::max<size_t>(options.iterations, 1)));
}

}  // namespace infino::vector
