#include "infino/codec/bit_packing.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/codec/bit_packing_kernels.h"
#include "infino/common/cpu.h"
#include "infino/common/random.h"
#include "support/seed.h"

namespace infino {
namespace {

using Block = std::array<uint32_t, kPackedBlockCount>;

uint32_t RandomOfWidth(Random& random, uint32_t width) {
  return width == 0 ? 0 : static_cast<uint32_t>(random.Next() >> (64 - width));
}

Block RandomBlock(Random& random, uint32_t width) {
  Block block{};
  for (uint32_t& value : block) value = RandomOfWidth(random, width);
  return block;
}

std::vector<uint8_t> RandomBytes(Random& random, size_t count) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Next());
  return bytes;
}

/// The layout as the document states it, one bit at a time.
Block UnpackByTheDocument(std::span<const uint8_t> bytes, uint32_t width) {
  Block block{};
  for (size_t i = 0; i < block.size(); ++i) {
    for (uint32_t bit = 0; bit < width; ++bit) {
      const size_t lane = i % 4;
      const size_t lane_bit = (i / 4) * width + bit;
      const size_t byte = 16 * (lane_bit / 32) + 4 * lane + (lane_bit % 32) / 8;
      block[i] |= ((bytes[byte] >> (lane_bit % 8)) & 1U) << bit;
    }
  }
  return block;
}

TEST(PackBlock, IsUndoneAtEveryWidth) {
  Random random(TestSeed());
  for (uint32_t width = 0; width <= kPackedWidthMax; ++width) {
    for (int round = 0; round < 20; ++round) {
      const Block block = RandomBlock(random, width);
      EXPECT_LE(PackedWidth(block), width);
      std::vector<uint8_t> bytes(PackedBlockBytes(width));
      PackBlock(block, width, bytes);
      Block unpacked{};
      UnpackBlock(bytes, width, unpacked);
      EXPECT_EQ(unpacked, block) << "width " << width;
      EXPECT_EQ(UnpackByTheDocument(bytes, width), block) << "width " << width;
    }
  }
}

TEST(PackBlock, KernelsAgreeOnAnyBytes) {
  Random random(TestSeed());
  for (uint32_t width = 0; width <= kPackedWidthMax; ++width) {
    for (int round = 0; round < 20; ++round) {
      const std::vector<uint8_t> bytes = RandomBytes(random, PackedBlockBytes(width));
      const auto base = static_cast<uint32_t>(random.Next());
      Block scalar{};
      internal::UnpackBlockScalar(bytes, width, scalar);
      Block scalar_sums{};
      internal::UnpackSumsScalar(bytes, width, base, scalar_sums);
      EXPECT_EQ(scalar, UnpackByTheDocument(bytes, width));
#if defined(__x86_64__)
      if (!ThisCpu().avx2) GTEST_SKIP() << "this machine has no AVX2";
      Block vector{};
      internal::UnpackBlockAvx2(bytes, width, vector);
      EXPECT_EQ(vector, scalar) << "width " << width;
      internal::UnpackSumsAvx2(bytes, width, base, vector);
      EXPECT_EQ(vector, scalar_sums) << "width " << width;
#endif
    }
  }
}

TEST(PackedWidth, IsTheSmallestThatHoldsAllValues) {
  EXPECT_EQ(PackedWidth({}), 0U);
  EXPECT_EQ(PackedWidth(Block{}), 0U);
  for (uint32_t width = 1; width <= kPackedWidthMax; ++width) {
    Block block{};
    block[77] = uint32_t{1} << (width - 1);
    EXPECT_EQ(PackedWidth(block), width);
  }
}

TEST(UnpackDeltas, GivesBackIncreasingNumbers) {
  Random random(TestSeed());
  for (uint32_t width = 0; width <= 25; ++width) {
    for (int round = 0; round < 20; ++round) {
      const uint32_t base = round == 0 ? kNoBase : RandomOfWidth(random, 30);
      Block docs{};
      uint32_t last = base;
      for (uint32_t& doc : docs) {
        doc = last + 1 + RandomOfWidth(random, width);
        if (doc <= last && last != kNoBase) break;
        last = doc;
      }
      if (!std::ranges::is_sorted(docs)) continue;
      Block deltas{};
      ComputeDeltas(docs, base, deltas);
      const uint32_t packed_width = PackedWidth(deltas);
      EXPECT_LE(packed_width, width);
      std::vector<uint8_t> bytes(PackedBlockBytes(packed_width));
      PackBlock(deltas, packed_width, bytes);
      Block unpacked{};
      EXPECT_TRUE(UnpackDeltas(bytes, packed_width, base, unpacked));
      EXPECT_EQ(unpacked, docs);
      EXPECT_TRUE(SumDeltas(base, deltas));
      EXPECT_EQ(deltas, docs);
    }
  }
}

TEST(UnpackDeltas, ConsecutiveNumbersNeedNoBytes) {
  Block docs{};
  EXPECT_TRUE(UnpackDeltas({}, 0, kNoBase, docs));
  EXPECT_EQ(docs.front(), 0U);
  EXPECT_EQ(docs.back(), 127U);
}

/// What UnpackDeltas promises, in 64-bit arithmetic.
TEST(UnpackDeltas, NoticesEverySumThatRunsOver) {
  Random random(TestSeed());
  int overruns = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto width = static_cast<uint32_t>(random.Below(kPackedWidthMax + 1));
    Block deltas = RandomBlock(random, width);
    if (random.Below(2) == 0) {
      // Mostly zeros, so that wide blocks have a chance to stay below the limit.
      for (uint32_t& delta : deltas) delta = random.Below(100) == 0 ? delta : 0;
    }
    const uint64_t limit = uint64_t{1} << 32;
    const auto base = random.Below(4) == 0
                          ? kNoBase
                          : static_cast<uint32_t>(limit - 2 - RandomOfWidth(random, 31));
    uint64_t last = base == kNoBase ? 0 : uint64_t{base} + 1;
    for (const uint32_t delta : deltas) last += uint64_t{delta} + 1;
    const bool fits = last <= limit;
    overruns += fits ? 0 : 1;
    std::vector<uint8_t> bytes(PackedBlockBytes(width));
    PackBlock(deltas, width, bytes);
    Block docs{};
    EXPECT_EQ(UnpackDeltas(bytes, width, base, docs), fits) << "width " << width;
    EXPECT_EQ(SumDeltas(base, deltas), fits) << "width " << width;
  }
  EXPECT_GT(overruns, 1000);
  EXPECT_LT(overruns, 19'000);
}

TEST(PackArray, EveryNumberIsReadBackAlone) {
  Random random(TestSeed());
  for (uint32_t width = 0; width <= kPackedWidthMax; ++width) {
    for (const size_t count : {0U, 1U, 2U, 7U, 8U, 9U, 100U, 127U, 130U}) {
      std::vector<uint32_t> values(count);
      for (uint32_t& value : values) value = RandomOfWidth(random, width);
      // Exactly as many bytes as promised, so that a checker of memory sees any access beyond.
      std::vector<uint8_t> bytes(PackedArrayBytes(count, width));
      PackArray(values, width, bytes);
      for (size_t i = 0; i < count; ++i) EXPECT_EQ(UnpackAt(bytes, width, i), values[i]);
      std::vector<uint32_t> unpacked(count);
      UnpackArray(bytes, width, unpacked);
      EXPECT_EQ(unpacked, values);
    }
  }
}

TEST(PackArray, SizeDoesNotOverflowForLargeCounts) {
  EXPECT_EQ(PackedArrayBytes(0, 32), 0U);
  EXPECT_EQ(PackedArrayBytes(3, 3), 2U);
  EXPECT_EQ(PackedArrayBytes(std::numeric_limits<uint32_t>::max(), 32), 4 * uint64_t{4294967295});
}

}  // namespace
}  // namespace infino
