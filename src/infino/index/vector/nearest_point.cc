#include "infino/index/vector/nearest_point.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "infino/index/vector/row_kernels.h"
#include "infino/index/vector/vector_math.h"

namespace infino::vector {

NearestPoint::NearestPoint(std::span<const float> points, size_t dimension)
    : points_(points), dimension_(dimension), half_squares_(points.size() / dimension) {
  for (size_t i = 0; i < half_squares_.size(); ++i) {
    half_squares_[i] =
        Dot(points.subspan(i * dimension, dimension), points.subspan(i * dimension, dimension)) / 2;
  }
}

/// A few rows at a time: they stay in the first cache while all points pass by.
void NearestPoint::Assign(std::span<const float> rows, std::span<uint32_t> nearest,
                          std::span<float> scores) const {
  constexpr size_t kTile = 8;
  const size_t count = rows.size() / dimension_;
  for (size_t begin = 0; begin < count; begin += kTile) {
    const size_t tile = std::min(kTile, count - begin);
    std::fill_n(scores.begin() + static_cast<ptrdiff_t>(begin), tile,
                std::numeric_limits<float>::infinity());
    std::fill_n(nearest.begin() + static_cast<ptrdiff_t>(begin), tile, 0);
    for (uint32_t place = 0; place < half_squares_.size(); ++place) {
      const auto point = points_.subspan(place * dimension_, dimension_);
      for (size_t i = begin; i < begin + tile; ++i) {
        const float score =
            half_squares_[place] - Dot(rows.subspan(i * dimension_, dimension_), point);
        if (score < scores[i]) {
          scores[i] = score;
          nearest[i] = place;
        }
      }
    }
  }
}

}  // namespace infino::vector
