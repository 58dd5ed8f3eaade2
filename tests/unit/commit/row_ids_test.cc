#include "infino/commit/row_ids.h"

#include <chrono>
#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"

namespace infino {
namespace {

constexpr int64_t kNowMs = 1'700'000'000'000;

TEST(RowIdSource, HoldsTimeWriterAndCounter) {
  RowIdSource ids(std::make_shared<ManualClock>(kNowMs), std::make_shared<Random>(1));
  const RowId first = ids.Begin();
  EXPECT_EQ(first.high, static_cast<uint64_t>(kNowMs));
  EXPECT_EQ(first.low & 0xffffff, 0U);
  EXPECT_NE(first.low >> 24, 0U);
}

TEST(RowIdSource, GoesOnWhereTheLastAppendOfTheSameMillisecondEnded) {
  RowIdSource ids(std::make_shared<ManualClock>(kNowMs), std::make_shared<Random>(1));
  const RowId first = ids.Begin();
  ids.End(first, 1000);
  EXPECT_EQ(ids.Begin(), first.Plus(1000));
}

TEST(RowIdSource, NeverGoesBackWithTheClock) {
  const auto clock = std::make_shared<ManualClock>(kNowMs);
  RowIdSource ids(clock, std::make_shared<Random>(1));
  RowId last = ids.Begin();
  ids.End(last, 10);
  for (const int step : {-5000, 3, -1, 6000, 0}) {
    clock->Advance(std::chrono::milliseconds(step));
    const RowId next = ids.Begin();
    EXPECT_GE(next, last.Plus(10));
    ids.End(next, 10);
    last = next;
  }
}

TEST(RowIdSource, CarriesIntoTheWriterWhenTheCounterIsFull) {
  const auto clock = std::make_shared<ManualClock>(kNowMs);
  RowIdSource ids(clock, std::make_shared<Random>(1));
  const RowId first = ids.Begin();
  ids.End(first, uint64_t{1} << 25);
  EXPECT_EQ(ids.Begin(), first.Plus(uint64_t{1} << 25));
  EXPECT_GT(ids.Begin(), first);
}

TEST(RowIdSource, DrawsAnotherWriterForEachHandle) {
  const auto clock = std::make_shared<ManualClock>(kNowMs);
  const auto random = std::make_shared<Random>(1);
  RowIdSource one(clock, random);
  RowIdSource other(clock, random);
  EXPECT_NE(one.Begin(), other.Begin());
}

}  // namespace
}  // namespace infino
