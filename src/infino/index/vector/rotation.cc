#include "infino/index/vector/rotation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infino/common/random.h"
#include "infino/index/vector/vector_column.h"

namespace infino::vector {
namespace {

constexpr uint64_t kWordBits = 64;

/// One step: the sums and differences of both halves, in turn. After as many steps as the size has
/// bits, every number is where the usual order of butterflies has it; and a step is one loop over
/// neighbours, however near the end.
void SumHalves(const float* in, float* out, size_t half) {
  for (size_t i = 0; i < half; ++i) {
    const float sum = in[i] + in[i + half];
    const float difference = in[i] - in[i + half];
    out[2 * i] = sum;
    out[2 * i + 1] = difference;
  }
}

/// REQUIRES: the size is a power of two, and not above kDimensionMax.
void Hadamard(std::span<float> numbers) {
  std::array<float, kDimensionMax> other;  // filled before it is read
  const size_t half = numbers.size() / 2;
  bool moved = false;
  for (size_t width = numbers.size(); width > 1; width /= 2) {
    if (moved) {
      SumHalves(other.data(), numbers.data(), half);
    } else {
      SumHalves(numbers.data(), other.data(), half);
    }
    moved = !moved;
  }
  const float norm = 1.0F / std::sqrt(static_cast<float>(numbers.size()));
  const float* const from = moved ? other.data() : numbers.data();
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = from[i] * norm;
}

/// Each coordinate with the one as far from the other end. Were they half the length apart, this
/// would undo the last step of a transform of all coordinates.
void RotatePairs(std::span<float> numbers) {
  constexpr float kCosine = 0.70710678F;
  const size_t last = numbers.size() - 1;
  for (size_t i = 0; i < numbers.size() / 2; ++i) {
    const float sum = numbers[i] + numbers[last - i];
    const float difference = numbers[i] - numbers[last - i];
    numbers[i] = sum * kCosine;
    numbers[last - i] = difference * kCosine;
  }
}

}  // namespace

Rotation::Rotation(size_t dimension, uint64_t seed)
    : dimension_(dimension),
      seed_(seed),
      run_(std::bit_floor(dimension)),
      signs_(kSteps * dimension) {
  Random random(seed);
  uint64_t bits = 0;
  for (size_t i = 0; i < signs_.size(); ++i) {
    if (i % kWordBits == 0) bits = random.Next();
    signs_[i] = (bits >> (i % kWordBits) & 1) != 0 ? 1.0F : -1.0F;
  }
}

void Rotation::Apply(std::span<const float> in, std::span<float> out) const {
  std::ranges::copy(in, out.begin());
  for (size_t step = 0; step < kSteps; ++step) {
    const float* const signs = signs_.data() + step * dimension_;
    for (size_t i = 0; i < dimension_; ++i) out[i] *= signs[i];
    const bool at_front = step % 2 == 0;
    Hadamard(at_front ? out.first(run_) : out.last(run_));
    if (at_front) RotatePairs(out);
  }
}

/// Every part of a step undoes itself.
void Rotation::ApplyInverse(std::span<const float> in, std::span<float> out) const {
  std::ranges::copy(in, out.begin());
  for (size_t step = kSteps; step-- > 0;) {
    const bool at_front = step % 2 == 0;
    if (at_front) RotatePairs(out);
    Hadamard(at_front ? out.first(run_) : out.last(run_));
    const float* const signs = signs_.data() + step * dimension_;
    for (size_t i = 0; i < dimension_; ++i) out[i] *= signs[i];
  }
}

}  // namespace infino::vector
