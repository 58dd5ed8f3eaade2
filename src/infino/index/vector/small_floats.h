#pragma once

#include <bit>
#include <cstdint>

namespace infino::vector {

/// The number that a half-precision float is. Exact.
[[nodiscard]] inline float HalfToFloat(uint16_t half) {
  const uint32_t sign = (half & 0x8000U) << 16U;
  const uint32_t exponent = (half >> 10U) & 0x1FU;
  const uint32_t mantissa = half & 0x3FFU;
  if (exponent == 0) {
    // A multiple of 2^-24, which every float operation gets right.
    const float value = static_cast<float>(mantissa) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
  }
  const uint32_t wide = exponent == 0x1FU ? 0xFFU : exponent + (127U - 15U);
  return std::bit_cast<float>(sign | (wide << 23U) | (mantissa << 13U));
}

/// The nearest half-precision float, ties to even. REQUIRES: |value| < 65520, so it is finite.
[[nodiscard]] inline uint16_t FloatToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint32_t>((bits >> 16U) & 0x8000U);
  const float magnitude = std::bit_cast<float>(bits & 0x7FFF'FFFFU);
  if (magnitude < 0x1p-14F) {
    // Added to 0.5, the last bit of the sum is worth 2^-24: the addition rounds as is wanted.
    const float sum = magnitude + 0.5F;
    return static_cast<uint16_t>(sign |
                                 (std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(0.5F)));
  }
  uint32_t rounded = bits & 0x7FFF'FFFFU;
  rounded += 0xFFFU + ((rounded >> 13U) & 1U);
  return static_cast<uint16_t>(sign | ((rounded >> 13U) - ((127U - 15U) << 10U)));
}

/// The first 16 bits of a float, rounded to nearest, ties to even. REQUIRES: value is finite. Does
/// not become infinite.
[[nodiscard]] inline uint16_t FloatToBrief(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  constexpr uint32_t kLargest = 0x7F7F'0000U;
  if ((bits & 0x7FFF'FFFFU) >= kLargest) return static_cast<uint16_t>(bits >> 16U);
  bits += 0x7FFFU + ((bits >> 16U) & 1U);
  return static_cast<uint16_t>(bits >> 16U);
}

[[nodiscard]] inline float BriefToFloat(uint16_t brief) {
  return std::bit_cast<float>(uint32_t{brief} << 16U);
}

}  // namespace infino::vector
