#include "infino/superfile/id_map.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

std::vector<uint8_t> Encoded(const IdMapBuilder& builder) {
  ByteWriter out;
  builder.Encode(out);
  return out.Take();
}

arrow::Result<IdMap> Parsed(const std::vector<uint8_t>& bytes, int64_t row_count) {
  ByteReader in(bytes, "id map of the test");
  return IdMap::Parse(in, row_count);
}

TEST(IdMap, OneRunTakesAFewBytesHoweverLong) {
  IdMapBuilder builder;
  INFINO_ASSERT_OK(builder.Add({.high = 1'700'000'000'000, .low = 5}, 600'000));
  INFINO_ASSERT_OK(builder.Add({.high = 1'700'000'000'000, .low = 600'005}, 400'000));
  const std::vector<uint8_t> bytes = Encoded(builder);
  EXPECT_LT(bytes.size(), 16U);
  INFINO_ASSERT_OK_AND_ASSIGN(const IdMap map, Parsed(bytes, 1'000'000));
  EXPECT_EQ(map.IdOf(999'999), (RowId{.high = 1'700'000'000'000, .low = 1'000'004}));
  EXPECT_EQ(map.Find({.high = 1'700'000'000'000, .low = 700'005}), DocId{700'000});
  EXPECT_EQ(map.Find({.high = 1'700'000'000'000, .low = 4}), std::nullopt);
  EXPECT_EQ(map.Find({.high = 1'700'000'000'001, .low = 5}), std::nullopt);
}

TEST(IdMap, FindsEveryIdOfRandomRuns) {
  Random random(TestSeed());
  for (int round = 0; round < 20; ++round) {
    IdMapBuilder builder;
    std::vector<RowId> ids;
    RowId next{.high = random.Below(3), .low = random.Next()};
    const uint64_t run_count = 1 + random.Below(300);
    for (uint64_t i = 0; i < run_count; ++i) {
      if (random.Below(3) == 0) {
        next = {.high = next.high + 1 + random.Below(5), .low = random.Next()};
      } else {
        next = next.Plus(1 + random.Below(1000));
      }
      const auto length = static_cast<int64_t>(1 + random.Below(random.Below(2) == 0 ? 1 : 20));
      INFINO_ASSERT_OK(builder.Add(next, length));
      for (int64_t j = 0; j < length; ++j, next = next.Plus(1)) ids.push_back(next);
    }
    const std::vector<uint8_t> bytes = Encoded(builder);
    INFINO_ASSERT_OK_AND_ASSIGN(const IdMap map, Parsed(bytes, builder.row_count()));
    EXPECT_EQ(builder.min_id(), ids.front());
    EXPECT_EQ(builder.max_id(), ids.back());
    for (size_t doc = 0; doc < ids.size(); ++doc) {
      ASSERT_EQ(map.IdOf(static_cast<DocId>(doc)), ids[doc]);
      ASSERT_EQ(map.Find(ids[doc]), static_cast<DocId>(doc));
      const RowId after = ids[doc].Plus(1);
      if (doc + 1 == ids.size() || ids[doc + 1] != after) {
        ASSERT_EQ(map.Find(after), std::nullopt);
      }
    }
  }
}

TEST(IdMap, RunsCarryIntoTheUpperHalf) {
  IdMapBuilder builder;
  const RowId first{.high = 7, .low = std::numeric_limits<uint64_t>::max() - 1};
  INFINO_ASSERT_OK(builder.Add(first, 4));
  INFINO_ASSERT_OK(builder.Add({.high = 8, .low = 100}, 1));
  const std::vector<uint8_t> bytes = Encoded(builder);
  INFINO_ASSERT_OK_AND_ASSIGN(const IdMap map, Parsed(bytes, 5));
  EXPECT_EQ(map.IdOf(3), (RowId{.high = 8, .low = 1}));
  EXPECT_EQ(map.Find({.high = 8, .low = 0}), DocId{2});
  EXPECT_EQ(map.Find({.high = 8, .low = 100}), DocId{4});
  EXPECT_EQ(map.Find({.high = 8, .low = 2}), std::nullopt);
}

TEST(IdMap, IdsThatDoNotAscendAreRefused) {
  IdMapBuilder builder;
  INFINO_ASSERT_OK(builder.Add({.high = 1, .low = 10}, 5));
  EXPECT_THAT(builder.Add({.high = 1, .low = 14}, 1), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(builder.Add({.high = 0, .low = 99}, 1), IsError(ErrorKind::kInvalidArgument));
  INFINO_EXPECT_OK(builder.Add({.high = 1, .low = 15}, 1));
}

TEST(IdMap, DamagedBytesAreCorruptOrAMapOfThatManyRows) {
  IdMapBuilder builder;
  Random random(TestSeed());
  RowId next{.high = 3, .low = 1};
  for (int i = 0; i < 70; ++i) {
    INFINO_ASSERT_OK(builder.Add(next, 2));
    next = next.Plus(3 + random.Below(100));
  }
  const std::vector<uint8_t> bytes = Encoded(builder);
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const uint8_t flip : std::vector<uint8_t>{0x01, 0x80, 0xFF}) {
      std::vector<uint8_t> damaged = bytes;
      damaged[i] ^= flip;
      const auto map = Parsed(damaged, 140);
      if (!map.ok()) {
        EXPECT_THAT(map, IsError(ErrorKind::kCorrupt));
        continue;
      }
      for (DocId doc = 1; doc < 140; ++doc) ASSERT_LT(map->IdOf(doc - 1), map->IdOf(doc));
    }
  }
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(Parsed({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)}, 140),
                IsError(ErrorKind::kCorrupt));
  }
}

}  // namespace
}  // namespace infino
