#include "infino/index/text/impacts.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/random.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/text_format.h"
#include "support/seed.h"

namespace infino::text {
namespace {

using ::testing::ElementsAre;

Impacts ReduceAll(std::span<const Impact> postings) {
  ImpactCollector collector;
  collector.Add(postings);
  const std::span<const Impact> impacts = collector.Finish();
  return {impacts.begin(), impacts.end()};
}

Bm25 RandomBm25(Random& random) {
  const auto pick = [&random](double end) {
    const uint64_t kind = random.Below(5);
    return kind == 0 ? 0 : kind == 1 ? end : random.Unit() * end;
  };
  return {.k1 = pick(10), .b = pick(1), .average_length = 1 + random.Unit() * 1000};
}

std::vector<Impact> RandomPostings(Random& random) {
  std::vector<Impact> postings(1 + random.Below(300));
  const uint64_t frequency_max = 1 + random.Below(random.Below(2) == 0 ? 5 : 500);
  const uint64_t length_max = 1 + random.Below(2000);
  for (Impact& posting : postings) {
    posting.frequency = static_cast<uint32_t>(1 + random.Below(frequency_max));
    posting.length = posting.frequency + static_cast<uint32_t>(random.Below(length_max));
  }
  return postings;
}

TEST(Impacts, GiveTheExactMaximumUnderAnyParameters) {
  Random random(TestSeed());
  for (int round = 0; round < 2000; ++round) {
    const std::vector<Impact> postings = RandomPostings(random);
    const Impacts impacts = ReduceAll(postings);
    ASSERT_LE(impacts.size(), kImpactsMax);
    for (int i = 0; i < 20; ++i) {
      const Bm25 bm25 = RandomBm25(random);
      const double best = MaxContribution(postings, bm25, 2.5);
      const double bound = MaxContribution(impacts, bm25, 2.5);
      ASSERT_GE(bound * kBoundSlack, best);
      ASSERT_LE(bound, best * (1 + 1e-12)) << "not attained by any posting";
    }
  }
}

TEST(Impacts, OfImpactsAreTheImpactsOfAll) {
  Random random(TestSeed() + 1);
  for (int round = 0; round < 500; ++round) {
    const std::vector<Impact> left = RandomPostings(random);
    const std::vector<Impact> right = RandomPostings(random);
    std::vector<Impact> all = left;
    all.insert(all.end(), right.begin(), right.end());
    std::vector<Impact> parts = ReduceAll(left);
    const Impacts of_right = ReduceAll(right);
    parts.insert(parts.end(), of_right.begin(), of_right.end());
    EXPECT_EQ(ReduceAll(parts), ReduceAll(all));
  }
}

TEST(Impacts, LeaveOutWhatIsNeverBest) {
  // The second is dominated, the third lies under the line from the first to the last.
  EXPECT_THAT(ReduceAll(std::vector<Impact>{{2, 10}, {1, 10}, {3, 30}, {9, 40}}),
              ElementsAre(Impact{9, 40}));
  EXPECT_THAT(ReduceAll(std::vector<Impact>{{2, 2}, {5, 30}, {3, 29}}),
              ElementsAre(Impact{2, 2}, Impact{5, 30}));
}

TEST(Impacts, AreFewAndStillBoundsWhenTheHullHasManyCorners) {
  std::vector<Impact> postings;
  uint32_t length = 1;
  for (uint32_t step = 0; step < 400; ++step) {
    length += step;
    postings.push_back({.frequency = step + 1, .length = length});
  }
  const Impacts impacts = ReduceAll(postings);
  EXPECT_LE(impacts.size(), kImpactsMax);
  Random random(TestSeed() + 2);
  for (int i = 0; i < 1000; ++i) {
    const Bm25 bm25 = RandomBm25(random);
    EXPECT_GE(MaxContribution(impacts, bm25, 1) * kBoundSlack, MaxContribution(postings, bm25, 1));
  }
}

TEST(Impacts, AreReadAsTheyWereWritten) {
  Random random(TestSeed() + 3);
  for (int round = 0; round < 300; ++round) {
    const Impacts impacts = ReduceAll(RandomPostings(random));
    ByteWriter out;
    WriteImpacts(impacts, out);
    BlockReader in(out.bytes());
    Impacts read;
    ReadImpacts(in, read);
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.remaining(), 0);
    EXPECT_EQ(read, impacts);
  }
}

}  // namespace
}  // namespace infino::text
