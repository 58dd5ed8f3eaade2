#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace infino::vector {

/// Finds the nearest of a few points, by Euclidean distance. The same on every machine.
class NearestPoint {
 public:
  /// `points` stand one after the other, and outlive this.
  NearestPoint(std::span<const float> points, size_t dimension);

  [[nodiscard]] size_t size() const { return half_squares_.size(); }

  /// For each of `rows`, which stand one after the other: its nearest point, the first of several,
  /// and half the squared distance less half the row's own square.
  void Assign(std::span<const float> rows, std::span<uint32_t> nearest,
              std::span<float> scores) const;

 private:
  std::span<const float> points_;
  size_t dimension_;
  std::vector<float> half_squares_;
};

}  // namespace infino::vector
