#include "infino/common/random.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/ids.h"
#include "support/seed.h"

namespace infino {
namespace {

TEST(Random, OneSeedGivesOneSequence) {
  Random a(7);
  Random b(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.Next(), b.Next());
  EXPECT_EQ(a.NextId<CommitId>(), b.NextId<CommitId>());
  EXPECT_NE(Random::FromSystem()->Next(), Random::FromSystem()->Next());
}

TEST(Random, BelowIsUniformAndInRange) {
  Random random(TestSeed());
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts.at(random.Below(7));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 600);
  EXPECT_EQ(random.Below(1), 0U);
  EXPECT_LT(random.Below((uint64_t{1} << 63) + 1), (uint64_t{1} << 63) + 1);
}

TEST(Random, UnitLiesInTheHalfOpenInterval) {
  Random random(TestSeed());
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double unit = random.Unit();
    EXPECT_GE(unit, 0.0);
    EXPECT_LT(unit, 1.0);
    sum += unit;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.03);
}

TEST(Clock, ManualClockMovesOnlyWhenTold) {
  ManualClock clock(1000);
  EXPECT_EQ(clock.UnixMs(), 1000);
  clock.Sleep(std::chrono::milliseconds(5));
  EXPECT_EQ(clock.UnixMs(), 1005);
  EXPECT_EQ(clock.Monotonic(), std::chrono::milliseconds(1005));
  EXPECT_GT(SystemClock()->UnixMs(), int64_t{1'700'000'000'000});
}

}  // namespace
}  // namespace infino
