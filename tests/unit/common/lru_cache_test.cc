#include "infino/common/lru_cache.h"

#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "support/seed.h"

namespace infino {
namespace {

TEST(LruCache, KeepsWhatWasUsedLastWithinItsBudget) {
  LruCache<int, int> cache(10);
  cache.Keep(1, 100, 4);
  cache.Keep(2, 200, 4);
  EXPECT_EQ(cache.Find(1), 100);
  cache.Keep(3, 300, 4);
  EXPECT_EQ(cache.Find(2), std::nullopt);
  EXPECT_EQ(cache.Find(1), 100);
  EXPECT_EQ(cache.Find(3), 300);
  EXPECT_EQ(cache.size_bytes(), 8);
  cache.Keep(1, 101, 10);
  EXPECT_EQ(cache.Find(3), std::nullopt);
  EXPECT_EQ(cache.Find(1), 101);
}

TEST(LruCache, WhatIsLargerThanTheBudgetChangesNothing) {
  LruCache<int, int> cache(10);
  cache.Keep(1, 100, 10);
  cache.Keep(2, 200, 11);
  cache.Keep(1, 101, 11);
  EXPECT_EQ(cache.Find(1), 100);
  EXPECT_EQ(cache.Find(2), std::nullopt);
}

TEST(LruCache, WhatIsThereDecidesWhetherItGivesWay) {
  LruCache<int, int> cache(10);
  const auto if_smaller_than = [](int value) {
    return [value](int known) { return known < value; };
  };
  cache.Keep(1, 5, 1, if_smaller_than(5));
  cache.Keep(1, 4, 2, if_smaller_than(4));
  EXPECT_EQ(cache.Find(1), 5);
  cache.Keep(1, 6, 3, if_smaller_than(6));
  EXPECT_EQ(cache.Find(1), 6);
  EXPECT_EQ(cache.size_bytes(), 3);
}

TEST(LruCache, AgreesWithAPlainList) {
  constexpr int64_t kBudget = 40;
  Random random(TestSeed());
  LruCache<uint64_t, uint64_t> cache(kBudget);

  struct Known {
    uint64_t key = 0;
    uint64_t value = 0;
    int64_t bytes = 0;
  };

  std::vector<Known> known;  // The one used last is at the end.
  const auto take = [&](uint64_t key) -> std::optional<Known> {
    for (size_t i = 0; i < known.size(); ++i) {
      if (known[i].key != key) continue;
      const Known found = known[i];
      known.erase(known.begin() + static_cast<int64_t>(i));
      return found;
    }
    return std::nullopt;
  };
  for (uint64_t step = 0; step < 20'000; ++step) {
    const uint64_t key = random.Below(12);
    if (random.Below(2) == 0) {
      const auto found = take(key);
      ASSERT_EQ(cache.Find(key), found ? std::optional(found->value) : std::nullopt) << step;
      if (found) known.push_back(*found);
      continue;
    }
    const auto bytes = static_cast<int64_t>(1 + random.Below(15));
    cache.Keep(key, step, bytes);
    take(key);
    int64_t total = bytes;
    for (const Known& each : known) total += each.bytes;
    while (total > kBudget) {
      total -= known.front().bytes;
      known.erase(known.begin());
    }
    known.push_back({.key = key, .value = step, .bytes = bytes});
    ASSERT_EQ(cache.size_bytes(), total) << step;
  }
}

}  // namespace
}  // namespace infino
