#include "infino/superfile/page_encodings.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/random.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

// The bytes are those of the examples in Parquet's own document of encodings, or follow from it.

std::vector<uint32_t> Runs(const std::vector<uint8_t>& bytes, uint32_t width, size_t count) {
  ByteReader in(bytes, "test");
  std::vector<uint32_t> numbers;
  INFINO_EXPECT_OK(ReadRuns(in, width, count, numbers));
  return numbers;
}

std::vector<uint64_t> Deltas(const std::vector<uint8_t>& bytes, size_t count, size_t limit,
                             size_t bytes_left = 0) {
  ByteReader in(bytes, "test");
  std::vector<uint64_t> numbers;
  INFINO_EXPECT_OK(ReadDeltas(in, count, limit, numbers));
  EXPECT_EQ(in.remaining(), bytes_left);
  return numbers;
}

TEST(PageEncodings, ReadsPackedGroupsAndRuns) {
  EXPECT_EQ(Runs({0x03, 0x88, 0xC6, 0xFA}, 3, 8), (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(Runs({0x03, 0x88, 0xC6, 0xFA}, 3, 5), (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(Runs({0x06, 0x01, 0x04, 0x00}, 1, 5), (std::vector<uint32_t>{1, 1, 1, 0, 0}));
  EXPECT_EQ(Runs({0x04, 0x34, 0x12}, 13, 2), (std::vector<uint32_t>{0x1234, 0x1234}));
  EXPECT_EQ(Runs({0x08}, 0, 3), (std::vector<uint32_t>{0, 0, 0}));
  EXPECT_EQ(Runs({}, 7, 0), std::vector<uint32_t>());
}

TEST(PageEncodings, RunsThatBreakOffAreCorrupt) {
  for (const std::vector<uint8_t>& bytes : std::vector<std::vector<uint8_t>>{
           {}, {0x03, 0x88, 0xC6}, {0x06}, {0x04, 0x34}, {0x00}, {0x01}, {0x02, 0x09}}) {
    ByteReader in(bytes, "test");
    std::vector<uint32_t> numbers;
    EXPECT_THAT(ReadRuns(in, 3, 8, numbers), IsError(ErrorKind::kCorrupt));
  }
}

TEST(PageEncodings, ReadsDifferences) {
  // 1 to 5: block of 128 in four groups, five numbers, the first is 1, all differences are 1.
  EXPECT_EQ(Deltas({0x80, 0x01, 0x04, 0x05, 0x02, 0x02, 0, 0, 0, 0}, 5, 5),
            (std::vector<uint64_t>{1, 2, 3, 4, 5}));
  // 7, 5, 3, 1, 2, 3, 4, 5: the least difference is -2, the others have two bits above it.
  EXPECT_EQ(
      Deltas({0x80, 0x01, 0x04, 0x08, 0x0E, 0x03, 2, 0, 0, 0, 0xC0, 0x3F, 0, 0, 0, 0, 0, 0}, 8, 8),
      (std::vector<uint64_t>{7, 5, 3, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Deltas({0x80, 0x01, 0x04, 0x01, 0x09, 0x77}, 1, 1, 1),
            (std::vector<uint64_t>{static_cast<uint64_t>(-5)}));
  EXPECT_EQ(Deltas({0x80, 0x01, 0x04, 0x00, 0x00}, 0, 0), std::vector<uint64_t>());
}

TEST(PageEncodings, DifferencesThatBreakOffOrLieAreCorrupt) {
  const std::vector<uint8_t> whole = {0x80, 0x01, 0x04, 0x08, 0x0E, 0x03, 2, 0, 0,
                                      0,    0xC0, 0x3F, 0,    0,    0,    0, 0, 0};
  std::vector<uint64_t> numbers;
  for (size_t length = 0; length < whole.size(); ++length) {
    ByteReader in(ByteSpan(whole).first(length), "test");
    EXPECT_THAT(ReadDeltas(in, 8, 8, numbers), IsError(ErrorKind::kCorrupt)) << length;
  }

  struct Lie {
    size_t at;
    uint8_t byte;
  };

  for (const Lie lie : {Lie{0, 0x81}, Lie{1, 0x00}, Lie{2, 0}, Lie{2, 3}, Lie{3, 9}, Lie{6, 65}}) {
    std::vector<uint8_t> bytes = whole;
    bytes[lie.at] = lie.byte;
    ByteReader in(bytes, "test");
    EXPECT_THAT(ReadDeltas(in, 8, 8, numbers), IsError(ErrorKind::kCorrupt)) << lie.at;
  }
}

TEST(PageEncodings, AnyBytesAreNumbersOrCorrupt) {
  Random random(TestSeed());
  for (int round = 0; round < 20'000; ++round) {
    std::vector<uint8_t> bytes(random.Below(60));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Below(256));
    const size_t count = random.Below(300);
    ByteReader runs(bytes, "test");
    std::vector<uint32_t> numbers;
    if (ReadRuns(runs, static_cast<uint32_t>(random.Below(33)), count, numbers).ok()) {
      EXPECT_EQ(numbers.size(), count);
    }
    std::vector<uint8_t> deltas = {0x80, 0x01, 0x04, static_cast<uint8_t>(count & 0x7F)};
    deltas.insert(deltas.end(), bytes.begin(), bytes.end());
    ByteReader in(deltas, "test");
    std::vector<uint64_t> wide;
    if (ReadDeltas(in, count & 0x7F, count & 0x7F, wide).ok()) {
      EXPECT_EQ(wide.size(), count & 0x7F);
    }
  }
}

}  // namespace
}  // namespace infino
