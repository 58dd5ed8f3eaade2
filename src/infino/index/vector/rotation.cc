#include "infino/index/vector/rotation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infino/common/random.h"

namespace infino::vector {
namespace {

constexpr uint64_t kWordBits = 64;

/// One step of the transform: pairs that stand `width` apart.
void Butterflies(std::span<float> numbers, size_t width) {
  for (size_t start = 0; start < numbers.size(); start += 2 * width) {
    float* const left = numbers.data() + start;
    float* const right = left + width;
    for (size_t i = 0; i < width; ++i) {
      const float sum = left[i] + right[i];
      const float difference = left[i] - right[i];
      left[i] = sum;
      right[i] = difference;
    }
  }
}

void Hadamard(std::span<float> numbers) {
  for (size_t width = 1; width < numbers.size(); width *= 2) Butterflies(numbers, width);
  const float norm = 1.0F / std::sqrt(static_cast<float>(numbers.size()));
  for (float& number : numbers) number *= norm;
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
