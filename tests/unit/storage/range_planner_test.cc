#include "infino/storage/range_planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/random.h"
#include "support/seed.h"

namespace infino {
namespace {

using testing::ElementsAre;

TEST(RangePlanner, NeighboursAndOverlapsBecomeOneRequest) {
  const std::vector<ByteRange> wanted = {{20, 10}, {0, 10}, {10, 10}, {25, 15}};
  const RangePlan plan = PlanRanges(wanted, {.hole_bytes = 0, .request_bytes = 1000});
  EXPECT_THAT(plan.requests, ElementsAre(ByteRange{0, 40}));
  EXPECT_EQ(plan.places[0].offset, 20);
  EXPECT_EQ(plan.places[3].offset, 25);
}

TEST(RangePlanner, AHoleIsReadAlongUpToItsLimit) {
  const PlanLimits limits{.hole_bytes = 5, .request_bytes = 1000};
  EXPECT_THAT(PlanRanges(std::vector<ByteRange>{{0, 10}, {15, 10}}, limits).requests,
              ElementsAre(ByteRange{0, 25}));
  EXPECT_THAT(PlanRanges(std::vector<ByteRange>{{0, 10}, {16, 10}}, limits).requests,
              ElementsAre(ByteRange{0, 10}, ByteRange{16, 10}));
}

TEST(RangePlanner, MergingEndsAtTheRequestLimitButOneRangeMayBeLonger) {
  const PlanLimits limits{.hole_bytes = 100, .request_bytes = 30};
  EXPECT_THAT(PlanRanges(std::vector<ByteRange>{{0, 20}, {20, 10}, {30, 10}}, limits).requests,
              ElementsAre(ByteRange{0, 30}, ByteRange{30, 10}));
  EXPECT_THAT(PlanRanges(std::vector<ByteRange>{{0, 500}, {10, 10}}, limits).requests,
              ElementsAre(ByteRange{0, 500}));
}

TEST(RangePlanner, AnEmptyRangeCostsNoRequest) {
  const RangePlan plan =
      PlanRanges(std::vector<ByteRange>{{7, 0}}, {.hole_bytes = 10, .request_bytes = 10});
  EXPECT_TRUE(plan.requests.empty());
  EXPECT_EQ(plan.places.at(0).request, PlannedRange::kNoRequest);
}

TEST(RangePlanner, ASlowerLinkReadsLargerHoles) {
  const PlanLimits local = LimitsFor(kLocalLink);
  const PlanLimits cloud = LimitsFor(kCloudLink);
  EXPECT_LT(local.hole_bytes, cloud.hole_bytes);
  EXPECT_LE(local.request_bytes, cloud.request_bytes);
  EXPECT_GT(local.hole_bytes, 0);
}

TEST(RangePlanner, EveryPlanCoversItsRangesWithinItsLimits) {
  Random random(TestSeed());
  for (int round = 0; round < 2000; ++round) {
    const PlanLimits limits{.hole_bytes = static_cast<int64_t>(random.Below(20)),
                            .request_bytes = static_cast<int64_t>(random.Below(200))};
    std::vector<ByteRange> wanted(random.Below(12));
    for (ByteRange& range : wanted) {
      range = {.offset = static_cast<int64_t>(random.Below(300)),
               .length = static_cast<int64_t>(random.Below(60))};
    }
    const RangePlan plan = PlanRanges(wanted, limits);
    ASSERT_EQ(plan.places.size(), wanted.size());
    std::vector<bool> is_wanted(400);
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].length == 0) continue;
      const ByteRange& request = plan.requests.at(plan.places[i].request);
      EXPECT_EQ(request.offset + plan.places[i].offset, wanted[i].offset);
      EXPECT_LE(wanted[i].end(), request.end());
      for (int64_t at = wanted[i].offset; at < wanted[i].end(); ++at) {
        is_wanted[static_cast<size_t>(at)] = true;
      }
    }
    for (size_t r = 0; r < plan.requests.size(); ++r) {
      const ByteRange& request = plan.requests[r];
      int64_t hole = 0;
      int64_t largest_hole = 0;
      for (int64_t at = request.offset; at < request.end(); ++at) {
        hole = is_wanted[static_cast<size_t>(at)] ? 0 : hole + 1;
        largest_hole = std::max(largest_hole, hole);
      }
      EXPECT_LE(largest_hole, limits.hole_bytes);
      EXPECT_EQ(hole, 0) << "a request ends with what is wanted";
      EXPECT_TRUE(is_wanted[static_cast<size_t>(request.offset)]);
      bool is_single = false;
      for (const ByteRange& range : wanted) is_single = is_single || range == request;
      EXPECT_TRUE(is_single || request.length <= limits.request_bytes);
      if (r > 0) {
        EXPECT_LT(plan.requests[r - 1].offset, request.offset);
      }
    }
  }
}

}  // namespace
}  // namespace infino
