#include "infino/index/vector/code_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/index/vector/instruction_set.h"
#include "infino/index/vector/small_floats.h"
#include "support/seed.h"

namespace infino::vector {
namespace {

float Draw(Random& random) {
  return static_cast<float>(random.Unit() * 2 - 1);
}

std::vector<float> DrawMany(Random& random, size_t count) {
  std::vector<float> numbers(count);
  for (float& number : numbers) number = Draw(random);
  return numbers;
}

/// A block of random codes and factors, at an odd address.
std::vector<uint8_t> RandomBlock(Random& random, size_t dimension) {
  std::vector<uint8_t> bytes(1 + BlockContentBytes(dimension));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Next());
  uint8_t* const offsets = bytes.data() + 1 + kBlockCodes * CodeBytes(dimension);
  for (size_t i = 0; i < kBlockCodes; ++i) {
    const auto offset = std::bit_cast<uint32_t>(Draw(random));
    for (size_t b = 0; b < 4; ++b) offsets[4 * i + b] = static_cast<uint8_t>(offset >> (8 * b));
    const uint16_t scale = FloatToBrief(std::abs(Draw(random)));
    offsets[4 * kBlockCodes + 2 * i] = static_cast<uint8_t>(scale);
    offsets[4 * kBlockCodes + 2 * i + 1] = static_cast<uint8_t>(scale >> 8U);
  }
  return bytes;
}

BlockTerms RandomTerms(Random& random) {
  BlockTerms points{};
  for (size_t i = 0; i < kBlockCodes; ++i) {
    points.base[i] = Draw(random);
    points.spread[i] = std::abs(Draw(random)) / 255;
  }
  return points;
}

TEST(CodeScan, GivesTheSameBitsOnEveryInstructionSet) {
  Random random(TestSeed());
  for (int round = 0; round < 200; ++round) {
    const size_t dimension = round < 64 ? static_cast<size_t>(round) + 2 : 2 + random.Below(4095);
    const ScanTable table(DrawMany(random, dimension));
    const std::vector<uint8_t> block = RandomBlock(random, dimension);
    const BlockTerms points = RandomTerms(random);
    const ScanTerms terms = {.slope = Draw(random), .noise = 0.01F};
    BlockEstimates plain;
    const float limit = Draw(random) * static_cast<float>(dimension);
    const uint32_t passing = ScanFunctionOf(InstructionSet::kPlain)(block.data() + 1, table, terms,
                                                                    points, limit, plain);
    for (const InstructionSet set : kInstructionSets) {
      if (!HasInstructionSet(set)) continue;
      BlockEstimates other;
      ASSERT_EQ(ScanFunctionOf(set)(block.data() + 1, table, terms, points, limit, other), passing);
      ASSERT_EQ(other.distance, plain.distance) << dimension;
      ASSERT_EQ(other.lowest, plain.lowest) << dimension;
    }
  }
}

TEST(CodeScan, SumsTheQueryUnderTheSignsOfTheCode) {
  Random random(TestSeed() + 1);
  for (const size_t dimension :
       {size_t{2}, size_t{16}, size_t{17}, size_t{384}, size_t{2048}, size_t{2049}, size_t{4096}}) {
    const std::vector<float> query = DrawMany(random, dimension);
    const ScanTable table(query);
    const std::vector<uint8_t> block = RandomBlock(random, dimension);
    const uint8_t* const codes = block.data() + 1;
    const uint8_t* const offsets = codes + kBlockCodes * CodeBytes(dimension);
    const BlockTerms points{};
    BlockEstimates estimates;
    const uint32_t passing =
        BestScanFunction()(codes, table, {.slope = table.step(), .noise = 0}, points, 0, estimates);
    for (size_t i = 0; i < kBlockCodes; ++i) {
      double sum = 0;
      for (size_t d = 0; d < dimension; ++d) {
        const bool positive = (codes[d / 8 * kBlockCodes + i] >> (d % 8) & 1) != 0;
        sum += positive ? query[d] : -query[d];
      }
      const double offset = std::bit_cast<float>(LoadU32(offsets + 4 * i));
      const double scale = BriefToFloat(LoadU16(offsets + 4 * kBlockCodes + 2 * i));
      // Each number is at most half a step away.
      EXPECT_NEAR(estimates.distance[i], offset + scale * sum,
                  scale * table.step() / 2 * static_cast<double>(dimension) + 1e-4);
      EXPECT_EQ(estimates.lowest[i], estimates.distance[i]);
      EXPECT_EQ((passing >> i & 1) != 0, estimates.lowest[i] <= 0);
    }
  }
}

TEST(CodeScan, AnEstimateThatIsNoNumberPasses) {
  const size_t dimension = 16;
  std::vector<uint8_t> block(BlockContentBytes(dimension));
  BlockTerms points{};
  points.base[3] = std::numeric_limits<float>::quiet_NaN();
  points.base[4] = 1;
  const ScanTable table(std::vector<float>(dimension, 1.0F));
  for (const InstructionSet set : kInstructionSets) {
    if (!HasInstructionSet(set)) continue;
    BlockEstimates estimates;
    EXPECT_EQ(ScanFunctionOf(set)(block.data(), table, {.slope = 1}, points, 0.5F, estimates),
              ~(uint32_t{1} << 4));
  }
}

TEST(ScanTable, OfZerosGivesZero) {
  const ScanTable table(std::vector<float>(20, 0.0F));
  EXPECT_EQ(table.step(), 0);
  int32_t sum = 0;
  for (size_t group = 0; group < table.code_bytes(); ++group) {
    sum += table.low(group)[5] + table.high(group)[15];
  }
  EXPECT_EQ(sum, table.bias());
}

}  // namespace
}  // namespace infino::vector
