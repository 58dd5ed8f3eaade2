#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace infino::vector {

/// A random rotation of any number of dimensions, drawn from a seed: the one of a column, so that
/// all its codes can be compared with one rotated query. Lengths and angles stay, up to rounding,
/// and what was in a few coordinates is spread over all.
///
/// Three times: random signs; a Hadamard transform of the first coordinates, of as many as are the
/// largest power of two that fits; a rotation by 45 degrees of each pair of coordinates that are
/// equally far from the two ends; random signs; the same transform of the last coordinates. Every
/// operation is rounded by itself, so the result is the same on every machine. Immutable,
/// thread-safe.
class Rotation {
 public:
  /// REQUIRES: dimension is 2 to kDimensionMax.
  Rotation(size_t dimension, uint64_t seed);

  [[nodiscard]] size_t dimension() const { return dimension_; }

  [[nodiscard]] uint64_t seed() const { return seed_; }

  /// REQUIRES: in.size() == out.size() == dimension(). `in` may be `out`.
  void Apply(std::span<const float> in, std::span<float> out) const;

  /// Turns back what Apply turned. REQUIRES: as Apply.
  void ApplyInverse(std::span<const float> in, std::span<float> out) const;

 private:
  static constexpr size_t kSteps = 6;

  size_t dimension_;
  uint64_t seed_;
  size_t run_;                // coordinates of one transform
  std::vector<float> signs_;  // 1 or -1, for each step and coordinate
};

}  // namespace infino::vector
