#include "infino/index/top_k.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/index/shared_floor.h"
#include "support/seed.h"

namespace infino {
namespace {

TEST(TopK, KeepsTheBestInOrderWhateverIsOffered) {
  Random random(TestSeed());
  for (int round = 0; round < 200; ++round) {
    const uint64_t count = random.Below(600);
    const uint64_t k = random.Below(130);
    TopK top(k);
    std::vector<ScoredDoc> all;
    for (uint32_t doc = 0; doc < count; ++doc) {
      const ScoredDoc offered{.doc = doc, .score = static_cast<float>(random.Below(20))};
      all.push_back(offered);
      top.Offer(offered);
    }
    std::ranges::sort(all, RanksBefore);
    if (all.size() > k) all.resize(k);
    EXPECT_THAT(top.Finish(), ::testing::ElementsAreArray(all));
  }
}

TEST(TopK, AnyKTakesNoMoreMemoryThanTheDocuments) {
  TopK top(std::numeric_limits<uint64_t>::max());
  top.Offer({.doc = 1, .score = 1});
  top.Offer({.doc = 2, .score = 2});
  EXPECT_FALSE(top.full());
  EXPECT_EQ(top.threshold(), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(top.Finish().front().doc, 2);
}

TEST(TopK, ItsThresholdIsTheKthBestScore) {
  TopK top(2);
  top.Offer({.doc = 1, .score = 5});
  EXPECT_EQ(top.threshold(), -std::numeric_limits<float>::infinity());
  top.Offer({.doc = 2, .score = 3});
  EXPECT_EQ(top.threshold(), 3);
  top.Offer({.doc = 3, .score = 4});
  EXPECT_EQ(top.threshold(), 4);
}

TEST(SharedFloor, OnlyRises) {
  SharedFloor floor;
  EXPECT_EQ(floor.score(), -std::numeric_limits<float>::infinity());
  floor.Raise(2);
  floor.Raise(1);
  EXPECT_EQ(floor.score(), 2);
}

}  // namespace
}  // namespace infino
