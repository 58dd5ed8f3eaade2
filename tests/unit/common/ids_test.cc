#include "infino/common/ids.h"

#include <cstdint>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/error.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

TEST(RandomId, IsReadBackFromItsDigits) {
  Random random(TestSeed());
  for (int i = 0; i < 100; ++i) {
    const auto id = random.NextId<SuperfileId>();
    EXPECT_EQ(id.ToHex().size(), 32U);
    EXPECT_THAT(SuperfileId::FromHex(id.ToHex()), HasValue(id));
  }
}

TEST(RandomId, RejectsWhatItDoesNotPrint) {
  const std::string digits(32, 'a');
  EXPECT_THAT(CommitId::FromHex(digits), IsOk());
  EXPECT_THAT(CommitId::FromHex(digits.substr(1)), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(CommitId::FromHex(digits + "a"), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(CommitId::FromHex(""), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(CommitId::FromHex(std::string(32, 'A')), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(CommitId::FromHex("g" + digits.substr(1)), IsError(ErrorKind::kCorrupt));
}

TEST(RowId, CarriesIntoTheHighHalf) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const RowId last{.high = 5, .low = kMax};
  EXPECT_EQ(last.Plus(0), last);
  EXPECT_EQ(last.Plus(1), (RowId{.high = 6, .low = 0}));
  EXPECT_EQ(last.Plus(10).Minus(last), 10U);
  EXPECT_LT(last, last.Plus(1));
}

TEST(RowId, MinusUndoesPlus) {
  Random random(TestSeed());
  for (int i = 0; i < 1000; ++i) {
    const RowId first{.high = random.Next() >> 1, .low = random.Next()};
    const uint64_t count = random.Next() >> random.Below(64);
    EXPECT_EQ(first.Plus(count).Minus(first), count);
  }
}

}  // namespace
}  // namespace infino
