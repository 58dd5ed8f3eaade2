#include "infino/codec/bit_marks.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "support/seed.h"

namespace infino {
namespace {

TEST(BitMarks, BecomeBitsOnceAndBeingMarkedTwiceIsNoDifference) {
  Random random(TestSeed());
  for (int round = 0; round < 300; ++round) {
    const size_t words = random.Below(70);
    std::vector<uint8_t> marks(words * 64);
    std::vector<uint64_t> bits(words);
    std::vector<bool> expected(words * 64);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (random.Below(5) == 0) {
        marks[i] = kMark;
        expected[i] = true;
      }
      if (random.Below(9) == 0) {
        bits[i / 64] |= uint64_t{1} << (i % 64);
        expected[i] = true;
      }
    }
    FoldMarks(marks, bits);
    uint64_t count = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ((bits[i / 64] >> (i % 64) & 1) != 0, expected[i]) << i;
      ASSERT_EQ(marks[i], 0) << i;
      count += expected[i] ? uint64_t{1} : 0;
    }
    EXPECT_EQ(CountBits(bits), count);
  }
}

}  // namespace
}  // namespace infino
