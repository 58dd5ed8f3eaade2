#include "infino/index/vector/vector_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/codec/row_bitmap.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/index/shared_floor.h"
#include "infino/index/top_k.h"
#include "infino/index/vector/cluster_choice.h"
#include "infino/index/vector/vector_cache.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_row.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/vector/vector_fixture.h"

namespace infino::vector {
namespace {

constexpr std::array<VectorMetric, 3> kMetrics = {VectorMetric::kCosine, VectorMetric::kL2Squared,
                                                  VectorMetric::kNegativeDot};

VectorColumn ColumnOf(uint32_t dimension, VectorMetric metric = VectorMetric::kL2Squared,
                      RerankTier tier = RerankTier::kSq8Residual) {
  return {.dimension = dimension, .metric = metric, .tier = tier, .rotation_seed = TestSeed()};
}

std::vector<DocId> DocsOf(const std::vector<ScoredDoc>& hits) {
  std::vector<DocId> docs;
  for (const ScoredDoc& hit : hits) docs.push_back(hit.doc);
  return docs;
}

DocFilter RandomFilter(Random& random, uint32_t row_count, double share) {
  DocFilter filter(row_count);
  for (DocId doc = 0; doc < row_count; ++doc) {
    if (random.Unit() >= share) filter.Exclude(doc);
  }
  return filter;
}

TEST(VectorSearch, FindsTheTrueNeighboursOfGaussianNoise) {
  Random random(TestSeed());
  for (const uint32_t dimension : {64U, 128U, 384U}) {
    const Vectors rows = GaussianVectors(random, 4000, dimension);
    const Vectors queries = GaussianVectors(random, 25, dimension);
    for (const VectorMetric metric : kMetrics) {
      const auto space = SpaceOf(ColumnOf(dimension, metric), rows, 64);
      const BuiltVectors built = BuildVectors(space, rows);
      EXPECT_GE(MeasureRecall(built, *space, rows, queries, {}), 0.99)
          << dimension << ' ' << NameOf(metric);
    }
  }
}

TEST(VectorSearch, FindsTheTrueNeighboursInClustersFarApart) {
  Random random(TestSeed() + 1);
  Vectors rows = ClusteredVectors(random, 5000, 96, 50, 0.05);
  for (auto& row : rows) row[0] += 20;
  Vectors queries = ClusteredVectors(random, 5, 96, 5, 0.05);
  for (int i = 0; i < 20; ++i) {
    queries.push_back(rows[random.Below(rows.size())]);
    queries.back()[5] += 0.01F;
  }
  for (const VectorMetric metric : kMetrics) {
    const auto space = SpaceOf(ColumnOf(96, metric), rows, 32);
    EXPECT_GE(MeasureRecall(BuildVectors(space, rows), *space, rows, queries, {}), 0.99)
        << NameOf(metric);
  }
}

TEST(VectorSearch, EveryTierThatKeepsVectorsReachesItsRecall) {
  Random random(TestSeed() + 2);
  const Vectors rows = GaussianVectors(random, 4000, 64);
  const Vectors queries = GaussianVectors(random, 40, 64);
  const auto recall = [&](RerankTier tier) {
    const auto space = SpaceOf(ColumnOf(64, VectorMetric::kCosine, tier), rows, 32);
    return MeasureRecall(BuildVectors(space, rows), *space, rows, queries, {});
  };
  EXPECT_GE(recall(RerankTier::kFp32), 0.99);
  EXPECT_GE(recall(RerankTier::kFp16), 0.99);
  EXPECT_GE(recall(RerankTier::kSq8Residual), 0.99);
  EXPECT_GE(recall(RerankTier::kSq8), 0.95);
  EXPECT_GE(recall(RerankTier::kNone), 0.2);
}

TEST(VectorSearch, ScoresAreTheNegatedDistancesInOrder) {
  Random random(TestSeed() + 3);
  const Vectors rows = GaussianVectors(random, 900, 40);
  const std::vector<float> query = GaussianVectors(random, 1, 40)[0];
  for (const VectorMetric metric : kMetrics) {
    for (const RerankTier tier : {RerankTier::kFp32, RerankTier::kFp16, RerankTier::kSq8Residual}) {
      const auto space = SpaceOf(ColumnOf(40, metric, tier), rows, 8);
      INFINO_ASSERT_OK_AND_ASSIGN(
          const auto hits, Ask(BuildVectors(space, rows), *space, query, {.search = {.k = 50}}));
      ASSERT_EQ(hits.size(), 50);
      for (size_t i = 0; i < hits.size(); ++i) {
        const double exact = ExactDistance(metric, query, rows[hits[i].doc]);
        EXPECT_NEAR(-hits[i].score, exact, 1e-3 * std::max(1.0, std::abs(exact)));
        if (i > 0) {
          EXPECT_TRUE(RanksBefore(hits[i - 1], hits[i]));
        }
      }
    }
  }
}

TEST(VectorSearch, AnyKGivesAsManyAsThereAre) {
  Random random(TestSeed() + 4);
  for (const size_t count : {size_t{1}, size_t{2}, size_t{5}, size_t{33}, size_t{700}}) {
    const Vectors rows = GaussianVectors(random, count, 16);
    const auto space = SpaceOf(ColumnOf(16, VectorMetric::kL2Squared, RerankTier::kFp32), rows, 16);
    const BuiltVectors built = BuildVectors(space, rows);
    for (const uint64_t k : {uint64_t{0}, uint64_t{1}, uint64_t{count}, uint64_t{2000},
                             uint64_t{1'000'000'000'000'000'000}}) {
      INFINO_ASSERT_OK_AND_ASSIGN(const auto hits,
                                  Ask(built, *space, rows[0], {.search = {.k = k}}));
      ASSERT_EQ(hits.size(), std::min<uint64_t>(k, count));
      if (k < count) continue;
      EXPECT_EQ(DocsOf(hits), NearestOf(VectorMetric::kL2Squared, rows, rows[0], count));
    }
  }
}

TEST(VectorSearch, AnEmptyIndexHasNothing) {
  Random random(TestSeed() + 5);
  const Vectors rows = GaussianVectors(random, 10, 16);
  const auto space = SpaceOf(ColumnOf(16), rows, 4);
  const BuiltVectors built = BuildVectors(space, {});
  EXPECT_EQ(built.reader->row_count(), 0);
  EXPECT_THAT(Ask(built, *space, rows[0], {}), HasValue(::testing::IsEmpty()));
}

TEST(VectorSearch, EqualDistancesComeInTheOrderOfDocuments) {
  Vectors rows;
  for (int i = 0; i < 600; ++i) rows.emplace_back(16, i % 3 == 0 ? 1.0F : -1.0F);
  for (const VectorMetric metric : kMetrics) {
    const auto space = SpaceOf(ColumnOf(16, metric), rows, 8);
    const BuiltVectors built = BuildVectors(space, rows);
    INFINO_ASSERT_OK_AND_ASSIGN(
        const auto hits, Ask(built, *space, std::vector<float>(16, 1.0F), {.search = {.k = 200}}));
    ASSERT_EQ(hits.size(), 200);
    for (DocId i = 0; i < 200; ++i) EXPECT_EQ(hits[i].doc, 3 * i);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto others, Ask(built, *space, std::vector<float>(16, -1.0F),
                                                       {.search = {.k = 10}}));
    EXPECT_EQ(DocsOf(others), (std::vector<DocId>{1, 2, 4, 5, 7, 8, 10, 11, 13, 14}));
  }
}

TEST(VectorSearch, AFilterOfAnySelectivityLosesNothing) {
  Random random(TestSeed() + 6);
  const uint32_t count = 5000;
  const Vectors rows = GaussianVectors(random, count, 64);
  const Vectors queries = GaussianVectors(random, 12, 64);
  for (const RerankTier tier : {RerankTier::kSq8Residual, RerankTier::kNone}) {
    const auto space = SpaceOf(ColumnOf(64, VectorMetric::kCosine, tier), rows, 64);
    const BuiltVectors built = BuildVectors(space, rows);
    for (const double share : {0.0005, 0.002, 0.01, 0.1, 0.5, 0.95}) {
      const DocFilter filter = RandomFilter(random, count, share);
      for (const auto& query : queries) {
        INFINO_ASSERT_OK_AND_ASSIGN(const auto hits,
                                    Ask(built, *space, query, {.filter = &filter}));
        ASSERT_EQ(hits.size(), std::min<uint64_t>(10, filter.pass_count()));
        for (const ScoredDoc& hit : hits) ASSERT_TRUE(filter.Passes(hit.doc));
      }
      if (tier == RerankTier::kNone) continue;
      EXPECT_GE(MeasureRecall(built, *space, rows, queries, {.filter = &filter}), 0.985) << share;
    }
  }
}

TEST(VectorSearch, FewThatPassAreComparedExactly) {
  Random random(TestSeed() + 7);
  const uint32_t count = 3000;
  const Vectors rows = GaussianVectors(random, count, 48);
  const auto space = SpaceOf(ColumnOf(48), rows, 32);
  const BuiltVectors built = BuildVectors(space, rows);
  const DocFilter filter = RandomFilter(random, count, 0.05);
  for (const auto& query : GaussianVectors(random, 10, 48)) {
    SearchRounds rounds;
    INFINO_ASSERT_OK_AND_ASSIGN(
        const auto hits,
        Ask(built, *space, query, {.search = {.k = 20}, .filter = &filter}, &rounds));
    EXPECT_EQ(DocsOf(hits), NearestOf(VectorMetric::kL2Squared, rows, query, 20, &filter));
    // Documents, then rows: no codes.
    EXPECT_EQ(rounds.rounds, 2);
    EXPECT_LT(rounds.bytes,
              built.reader->sections().docs.length +
                  static_cast<int64_t>(filter.pass_count() * built.reader->row_bytes()) + 1);
  }
}

TEST(VectorSearch, TakesTwoRoundsAndReadsFewRows) {
  Random random(TestSeed() + 8);
  const Vectors rows = ClusteredVectors(random, 5000, 128, 100, 0.5);
  const auto space = SpaceOf(ColumnOf(128), rows, 64);
  const BuiltVectors built = BuildVectors(space, rows);
  SearchRounds rounds;
  INFINO_ASSERT_OK_AND_ASSIGN(const auto hits, Ask(built, *space, rows[17], {}, &rounds));
  EXPECT_EQ(hits.front().doc, 17);
  EXPECT_EQ(rounds.rounds, 2);
  const VectorBlobSections& sections = built.reader->sections();
  EXPECT_LT(rounds.bytes, sections.docs.length + sections.codes.length + sections.rows.length / 5);
}

TEST(VectorSearch, TheTierNoneTakesOneRound) {
  Random random(TestSeed() + 9);
  const Vectors rows = GaussianVectors(random, 1000, 64);
  const auto space = SpaceOf(ColumnOf(64, VectorMetric::kCosine, RerankTier::kNone), rows, 16);
  SearchRounds rounds;
  INFINO_ASSERT_OK_AND_ASSIGN(const auto hits,
                              Ask(BuildVectors(space, rows), *space, rows[3], {}, &rounds));
  EXPECT_EQ(hits.front().doc, 3);
  EXPECT_EQ(rounds.rounds, 1);
}

TEST(VectorSearch, AnExactSearchIsBruteForce) {
  Random random(TestSeed() + 10);
  const Vectors rows = GaussianVectors(random, 2000, 32);
  for (const VectorMetric metric : kMetrics) {
    const auto space = SpaceOf(ColumnOf(32, metric, RerankTier::kFp32), rows, 32);
    const BuiltVectors built = BuildVectors(space, rows);
    for (const auto& query : GaussianVectors(random, 5, 32)) {
      INFINO_ASSERT_OK_AND_ASSIGN(const auto hits,
                                  Ask(built, *space, query, {.search = {.k = 100, .exact = true}}));
      EXPECT_EQ(DocsOf(hits), NearestOf(metric, rows, query, 100));
    }
  }
}

TEST(VectorSearch, AWarmSearchReadsNothingAndAnswersTheSame) {
  Random random(TestSeed() + 11);
  const uint32_t count = 3000;
  const Vectors rows = GaussianVectors(random, count, 64);
  const auto space = SpaceOf(ColumnOf(64), rows, 32);
  const BuiltVectors built = BuildVectors(space, rows);
  const DocFilter few = RandomFilter(random, count, 0.02);
  const DocFilter many = RandomFilter(random, count, 0.6);
  VectorCache cache(int64_t{64} << 20);
  const VectorSearchOptions warm = {.cache = &cache, .whole_bytes_max = int64_t{1} << 30};
  const std::array<const DocFilter*, 3> filters = {nullptr, &few, &many};
  INFINO_ASSERT_OK(Ask(built, *space, rows[0], {.search = warm}).status());
  EXPECT_GT(cache.size_bytes(), built.blob->size());
  for (const auto& query : GaussianVectors(random, 10, 64)) {
    for (const DocFilter* const filter : filters) {
      SearchRounds rounds;
      INFINO_ASSERT_OK_AND_ASSIGN(
          const auto hits, Ask(built, *space, query, {.search = warm, .filter = filter}, &rounds));
      EXPECT_EQ(rounds.rounds, 0);
      INFINO_ASSERT_OK_AND_ASSIGN(const auto cold, Ask(built, *space, query, {.filter = filter}));
      EXPECT_EQ(hits, cold);
    }
  }
}

TEST(VectorCache, KeepsNoMoreThanItsBudget) {
  Random random(TestSeed() + 18);
  const Vectors rows = GaussianVectors(random, 600, 16);
  const auto space = SpaceOf(ColumnOf(16), rows, 4);
  std::vector<BuiltVectors> files;
  for (int i = 0; i < 4; ++i) files.push_back(BuildVectors(space, rows));
  // Enough for two of the files.
  VectorCache cache(files[0].blob->size() * 5 / 2);
  const VectorSearchOptions warm = {
      .few_rows_max = 0, .cache = &cache, .whole_bytes_max = int64_t{1} << 30};
  for (int round = 0; round < 3; ++round) {
    for (const BuiltVectors& file : files) {
      INFINO_ASSERT_OK(Ask(file, *space, rows[0], {.search = warm}).status());
      EXPECT_LE(cache.size_bytes(), cache.budget_bytes());
      EXPECT_NE(cache.FindCodes(file.reader->uid()), nullptr);
    }
    EXPECT_EQ(cache.FindCodes(files[0].reader->uid()), nullptr);
  }
  VectorCache none(0);
  const VectorSearchOptions cold = {.cache = &none};
  INFINO_ASSERT_OK_AND_ASSIGN(const auto hits, Ask(files[0], *space, rows[0], {.search = cold}));
  EXPECT_THAT(Ask(files[0], *space, rows[0], {}), HasValue(hits));
  EXPECT_EQ(none.size_bytes(), 0);
}

TEST(VectorSearch, QueriesTogetherAnswerAsEachAlone) {
  Random random(TestSeed() + 12);
  const Vectors rows = GaussianVectors(random, 4000, 64);
  const auto space = SpaceOf(ColumnOf(64), rows, 32);
  const BuiltVectors built = BuildVectors(space, rows);
  std::vector<PreparedQuery> prepared;
  const Vectors queries = GaussianVectors(random, 30, 64);
  for (const auto& query : queries) {
    INFINO_ASSERT_OK_AND_ASSIGN(PreparedQuery one,
                                PreparedQuery::Make(*space, query, ConfidenceFor(0.99, true)));
    prepared.push_back(std::move(one));
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const auto search,
                              VectorSearch::Make(*built.reader, *space, prepared, nullptr, {}));
  SearchRounds rounds;
  INFINO_ASSERT_OK(Drive(*search, *built.blob, &rounds));
  EXPECT_EQ(rounds.rounds, 2);
  for (size_t i = 0; i < queries.size(); ++i) {
    const auto top = search->TopDocs(i);
    EXPECT_THAT(Ask(built, *space, queries[i], {}),
                HasValue(::testing::ElementsAreArray(top.begin(), top.end())));
  }
}

TEST(VectorSearch, AFloorLeavesOutOnlyWhatIsFarther) {
  Random random(TestSeed() + 13);
  const Vectors rows = GaussianVectors(random, 4000, 64);
  const auto space = SpaceOf(ColumnOf(64), rows, 32);
  const BuiltVectors built = BuildVectors(space, rows);
  const std::vector<float> query = GaussianVectors(random, 1, 64)[0];
  INFINO_ASSERT_OK_AND_ASSIGN(const auto free, Ask(built, *space, query, {}));
  SharedFloor floor;
  floor.Raise(free[4].score);
  SharedFloor* const floors[] = {&floor};
  INFINO_ASSERT_OK_AND_ASSIGN(const auto floored,
                              Ask(built, *space, query, {.search = {.floors = floors}}));
  ASSERT_GE(floored.size(), 5);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(floored[i], free[i]);
  SharedFloor raised;
  SharedFloor* const raises[] = {&raised};
  INFINO_ASSERT_OK_AND_ASSIGN(
      const auto exact, Ask(built, *space, query, {.search = {.exact = true, .floors = raises}}));
  EXPECT_EQ(raised.score(), exact.back().score);
}

TEST(VectorSearch, ADistanceDoesNotDependOnTheIndexTheRowIsIn) {
  Random random(TestSeed() + 14);
  const Vectors rows = GaussianVectors(random, 600, 48);
  const std::vector<float> query = GaussianVectors(random, 1, 48)[0];
  for (const VectorMetric metric : kMetrics) {
    const VectorColumn column = ColumnOf(48, metric);
    const auto one = SpaceOf(column, rows, 16);
    const Vectors half(rows.begin() + 300, rows.end());
    const auto other = SpaceOf(column, half, 3);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto all,
                                Ask(BuildVectors(one, rows), *one, query, {.search = {.k = 600}}));
    INFINO_ASSERT_OK_AND_ASSIGN(
        const auto part, Ask(BuildVectors(other, half), *other, query, {.search = {.k = 600}}));
    std::vector<ScoredDoc> expected;
    for (const ScoredDoc& hit : all) {
      if (hit.doc >= 300) expected.push_back({.doc = hit.doc - 300, .score = hit.score});
    }
    EXPECT_EQ(part, expected);
  }
}

TEST(VectorSearch, NumbersOfAnySizeGiveFiniteDistancesInOrder) {
  Random random(TestSeed() + 15);
  Vectors rows = GaussianVectors(random, 300, 16);
  rows[5].assign(16, 3e38F);
  rows[6].assign(16, -3e38F);
  rows[7].assign(16, 0.0F);
  rows[8].assign(16, 1e-41F);
  rows[9].assign(16, 1e20F);
  Vectors queries = {rows[0], rows[5], rows[7], rows[8], rows[9]};
  for (const VectorMetric metric : kMetrics) {
    for (const RerankTier tier : {RerankTier::kFp32, RerankTier::kSq8Residual, RerankTier::kFp16}) {
      const auto space = SpaceOf(ColumnOf(16, metric, tier), rows, 8);
      const BuiltVectors built = BuildVectors(space, rows);
      for (const auto& query : queries) {
        INFINO_ASSERT_OK_AND_ASSIGN(const auto hits,
                                    Ask(built, *space, query, {.search = {.k = 300}}));
        ASSERT_EQ(hits.size(), 300);
        for (size_t i = 0; i < hits.size(); ++i) {
          ASSERT_TRUE(std::isfinite(hits[i].score));
          if (i > 0) {
            ASSERT_TRUE(RanksBefore(hits[i - 1], hits[i]));
          }
        }
        for (const DocId huge : {5U, 6U, 9U}) {
          INFINO_ASSERT_OK_AND_ASSIGN(const auto best,
                                      Ask(built, *space, rows[huge], {.search = {.k = 3}}));
          // A negated product past the largest float ties with others, and so does what rounding
          // the largest numbers leaves.
          if (metric == VectorMetric::kL2Squared && tier == RerankTier::kFp32) {
            ASSERT_EQ(best.front().doc, huge);
          }
        }
      }
    }
  }
}

TEST(VectorSearch, AZeroVectorHasCosineDistanceOneToEverything) {
  Random random(TestSeed() + 16);
  Vectors rows = GaussianVectors(random, 40, 16);
  rows[3].assign(16, 0.0F);
  for (const RerankTier tier : {RerankTier::kFp32, RerankTier::kSq8Residual, RerankTier::kNone}) {
    const auto space = SpaceOf(ColumnOf(16, VectorMetric::kCosine, tier), rows, 4);
    const BuiltVectors built = BuildVectors(space, rows);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto zero,
                                Ask(built, *space, rows[3], {.search = {.k = 40}}));
    ASSERT_EQ(zero.size(), 40);
    if (tier == RerankTier::kNone) continue;
    for (const ScoredDoc& hit : zero) EXPECT_EQ(hit.score, -1);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto other,
                                Ask(built, *space, rows[0], {.search = {.k = 40}}));
    for (const ScoredDoc& hit : other) {
      if (hit.doc == 3) {
        EXPECT_EQ(hit.score, -1);
      }
    }
  }
}

TEST(VectorSearch, RefusesWhatCannotBeAsked) {
  Random random(TestSeed() + 17);
  const Vectors rows = GaussianVectors(random, 40, 16);
  const auto space = SpaceOf(ColumnOf(16), rows, 4);
  const BuiltVectors built = BuildVectors(space, rows);
  const auto refused = IsError(ErrorKind::kInvalidArgument);
  EXPECT_THAT(Ask(built, *space, std::vector<float>(17), {}), refused);
  std::vector<float> bad(16);
  bad[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(Ask(built, *space, bad, {}), refused);
  bad[2] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(Ask(built, *space, bad, {}), refused);
  const auto other = SpaceOf(ColumnOf(16), GaussianVectors(random, 40, 16), 4);
  EXPECT_THAT(Ask(built, *other, rows[0], {}), refused);
  EXPECT_THAT(Ask(built, *space, rows[0], {.search = {.clusters = {{1000}}}}), refused);
}

}  // namespace
}  // namespace infino::vector
