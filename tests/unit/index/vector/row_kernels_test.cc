#include "infino/index/vector/row_kernels.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <arrow/util/float16.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/index/vector/instruction_set.h"
#include "infino/index/vector/small_floats.h"
#include "support/seed.h"

namespace infino::vector {
namespace {

constexpr std::array<NumberEncoding, 4> kEncodings = {NumberEncoding::kFp32, NumberEncoding::kFp16,
                                                      NumberEncoding::kSq8,
                                                      NumberEncoding::kSq8Residual};

float Draw(Random& random) {
  return static_cast<float>(random.Unit() * 4 - 2);
}

/// Numbers of that encoding, at an odd address.
std::vector<uint8_t> RandomNumbers(Random& random, NumberEncoding encoding, size_t dimension) {
  std::vector<uint8_t> bytes(1);
  for (size_t i = 0; i < NumbersSize(encoding, dimension); ++i) {
    bytes.push_back(static_cast<uint8_t>(random.Next()));
  }
  uint8_t* const numbers = bytes.data() + 1;
  for (size_t i = 0; i < dimension; ++i) {
    if (encoding == NumberEncoding::kFp32) {
      const auto bits = std::bit_cast<uint32_t>(Draw(random));
      for (size_t b = 0; b < 4; ++b) numbers[4 * i + b] = static_cast<uint8_t>(bits >> (8 * b));
    } else if (encoding == NumberEncoding::kFp16) {
      const uint16_t bits = FloatToHalf(Draw(random));
      numbers[2 * i] = static_cast<uint8_t>(bits);
      numbers[2 * i + 1] = static_cast<uint8_t>(bits >> 8U);
    } else if (numbers[i] == 0x80) {
      numbers[i] = 0x81;
    }
  }
  return bytes;
}

TEST(RowKernels, GiveTheSameBitsOnEveryInstructionSet) {
  Random random(TestSeed());
  for (int round = 0; round < 400; ++round) {
    const size_t dimension = round < 100 ? static_cast<size_t>(round) + 1 : 1 + random.Below(600);
    std::vector<float> query(dimension);
    for (float& number : query) number = Draw(random);
    for (const NumberEncoding encoding : kEncodings) {
      const std::vector<uint8_t> bytes = RandomNumbers(random, encoding, dimension);
      const uint8_t* const numbers = bytes.data() + 1;
      const float scale = Draw(random);
      const RowKernels& plain = RowKernelsOf(InstructionSet::kPlain, encoding);
      const float dot = plain.dot(query.data(), numbers, dimension);
      const float squared = plain.squared(query.data(), numbers, dimension, scale);
      for (const InstructionSet set : kInstructionSets) {
        if (!HasInstructionSet(set)) continue;
        const RowKernels& kernels = RowKernelsOf(set, encoding);
        ASSERT_EQ(std::bit_cast<uint32_t>(kernels.dot(query.data(), numbers, dimension)),
                  std::bit_cast<uint32_t>(dot))
            << dimension;
        ASSERT_EQ(std::bit_cast<uint32_t>(kernels.squared(query.data(), numbers, dimension, scale)),
                  std::bit_cast<uint32_t>(squared))
            << dimension;
      }
    }
  }
}

TEST(RowKernels, AreWithinRoundingOfTheSumInDoubles) {
  Random random(TestSeed() + 1);
  for (const size_t dimension : {size_t{1}, size_t{17}, size_t{384}, size_t{4096}}) {
    std::vector<float> query(dimension);
    for (float& number : query) number = Draw(random);
    for (const NumberEncoding encoding : kEncodings) {
      const std::vector<uint8_t> bytes = RandomNumbers(random, encoding, dimension);
      const uint8_t* const numbers = bytes.data() + 1;
      const float scale = 0.01F;
      double dot = 0;
      double dot_size = 0;
      double squared = 0;
      for (size_t i = 0; i < dimension; ++i) {
        const double number = NumberAt(encoding, numbers, dimension, i);
        dot += query[i] * number;
        dot_size += std::abs(query[i] * number);
        squared += std::pow(query[i] - double{scale} * number, 2);
      }
      const RowKernels& kernels = RowKernelsOf(encoding);
      EXPECT_NEAR(kernels.dot(query.data(), numbers, dimension), dot, 1e-5 * dot_size);
      EXPECT_NEAR(kernels.squared(query.data(), numbers, dimension, scale), squared,
                  1e-5 * squared);
    }
  }
}

TEST(RowKernels, AResidualCountsWholeNumbersOf16Bits) {
  const std::array<uint8_t, 4> numbers = {127, 0x81, 127, 0x80};  // 127 and -127; 127 and -128
  EXPECT_EQ(NumberAt(NumberEncoding::kSq8Residual, numbers.data(), 2, 0), 32639);
  EXPECT_EQ(NumberAt(NumberEncoding::kSq8Residual, numbers.data(), 2, 1), -32640);
}

TEST(SmallFloats, HalvesAreThoseOfArrow) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float expected = arrow::util::Float16::FromBits(half).ToFloat();
    if (std::isnan(expected)) continue;
    ASSERT_EQ(std::bit_cast<uint32_t>(HalfToFloat(half)), std::bit_cast<uint32_t>(expected));
    if (std::isfinite(expected)) {
      ASSERT_EQ(FloatToHalf(expected), half);
    }
  }
  Random random(TestSeed() + 2);
  for (int i = 0; i < 100'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random.Next()));
    if (!(std::abs(value) < 65520)) continue;
    ASSERT_EQ(FloatToHalf(value), arrow::util::Float16::FromFloat(value).bits()) << value;
  }
}

TEST(SmallFloats, ABriefFloatIsTheNearestAndNeverInfinite) {
  EXPECT_EQ(BriefToFloat(FloatToBrief(1.0F)), 1.0F);
  EXPECT_EQ(BriefToFloat(FloatToBrief(0.0F)), 0.0F);
  EXPECT_TRUE(std::isfinite(BriefToFloat(FloatToBrief(std::numeric_limits<float>::max()))));
  Random random(TestSeed() + 3);
  for (int i = 0; i < 10'000; ++i) {
    const float value = Draw(random);
    ASSERT_NEAR(BriefToFloat(FloatToBrief(value)), value, std::abs(value) / 256);
  }
}

}  // namespace
}  // namespace infino::vector
