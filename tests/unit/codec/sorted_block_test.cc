#include "infino/codec/sorted_block.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/random.h"
#include "support/seed.h"

namespace infino {
namespace {

/// Ascending numbers from `first` on, at distances of up to `gap`.
std::vector<uint32_t> RandomBlock(Random& random, size_t count, uint32_t first, uint64_t gap) {
  std::vector<uint32_t> block;
  uint32_t next = first;
  for (size_t i = 0; i < count; ++i) {
    next += 1 + static_cast<uint32_t>(random.Below(gap));
    block.push_back(next);
  }
  return block;
}

/// Some numbers round the block, ascending: half of them its own.
std::vector<uint32_t> RandomNumbers(Random& random, const std::vector<uint32_t>& block,
                                    uint32_t least) {
  std::vector<uint32_t> numbers;
  for (const uint32_t number : block) {
    if (random.Below(2) == 0) numbers.push_back(number);
    if (random.Below(3) == 0) numbers.push_back(number + 1);
  }
  if (least < block.front() && random.Below(2) == 0) numbers.push_back(least);
  numbers.push_back(block.back() + 5);
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
  return numbers;
}

std::vector<uint8_t> Expected(const std::vector<uint32_t>& block,
                              const std::vector<uint32_t>& numbers) {
  std::vector<uint8_t> ordinals;
  for (const uint32_t number : numbers) {
    const auto found = std::ranges::find(block, number);
    ordinals.push_back(found == block.end() ? kNotInBlock
                                            : static_cast<uint8_t>(found - block.begin()));
  }
  return ordinals;
}

TEST(SortedBlock, FindsEachNumberThatItHas) {
  Random random(TestSeed());
  for (int round = 0; round < 2000; ++round) {
    const size_t count = round % 2 == 0 ? kPackedBlockCount : 1 + random.Below(kPackedBlockCount);
    const auto first = static_cast<uint32_t>(random.Below(uint64_t{1} << 30));
    const std::vector<uint32_t> block =
        RandomBlock(random, count, first, uint64_t{1} << random.Below(20));
    const std::vector<uint32_t> numbers = RandomNumbers(random, block, first);
    std::vector<uint8_t> ordinals(numbers.size());
    LocateInBlock(block, numbers, ordinals);
    ASSERT_EQ(ordinals, Expected(block, numbers));
    for (const uint32_t number : numbers) {
      const size_t ordinal = SearchBlock(block, number);
      const auto at_least = std::ranges::lower_bound(block, number);
      ASSERT_EQ(ordinal, std::min(static_cast<size_t>(at_least - block.begin()), count - 1));
    }
  }
}

TEST(SortedBlock, FindsEachNumberOfABitmap) {
  Random random(TestSeed() + 1);
  for (int round = 0; round < 2000; ++round) {
    const auto first = static_cast<uint32_t>(random.Below(uint64_t{1} << 30));
    const std::vector<uint32_t> block =
        RandomBlock(random, 1 + random.Below(kPackedBlockCount), first, 1 + random.Below(8));
    std::vector<uint8_t> bitmap((block.back() - first) / 8 + 1);
    for (const uint32_t number : block) {
      bitmap[(number - first) / 8] |= static_cast<uint8_t>(1U << ((number - first) % 8));
    }
    const std::vector<uint32_t> numbers = RandomNumbers(random, block, first);
    std::vector<uint8_t> ordinals(numbers.size());
    LocateInBitmap(bitmap, first, numbers, ordinals);
    ASSERT_EQ(ordinals, Expected(block, numbers));
  }
}

TEST(SortedBlock, ClipsToWhatLiesBetween) {
  const std::vector<uint32_t> block = {3, 5, 9};
  EXPECT_EQ(ClipBlock(block, 0, 100), (std::pair<size_t, size_t>{0, 3}));
  EXPECT_EQ(ClipBlock(block, 4, 9), (std::pair<size_t, size_t>{1, 2}));
  EXPECT_EQ(ClipBlock(block, 5, 10), (std::pair<size_t, size_t>{1, 3}));
  EXPECT_EQ(ClipBlock(block, 10, 20), (std::pair<size_t, size_t>{3, 3}));
}

TEST(BitPacking, OneNumberOfABlockIsWhatTheWholeBlockHas) {
  Random random(TestSeed() + 2);
  for (uint32_t width = 0; width <= kPackedWidthMax; ++width) {
    std::vector<uint8_t> packed(PackedBlockBytes(width));
    for (uint8_t& byte : packed) byte = static_cast<uint8_t>(random.Next());
    std::vector<uint32_t> all(kPackedBlockCount);
    UnpackBlock(packed, width, BlockSpan(all));
    for (size_t i = 0; i < kPackedBlockCount; ++i) {
      ASSERT_EQ(UnpackAtOfBlock(packed, width, i), all[i]) << "width " << width << " at " << i;
    }
  }
}

}  // namespace
}  // namespace infino
