#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/index/shared_floor.h"
#include "infino/index/top_k.h"
#include "infino/index/vector/nearest_docs.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_search.h"
#include "support/matchers.h"
#include "support/random_vectors.h"
#include "support/seed.h"
#include "unit/index/vector/vector_fixture.h"

namespace infino::vector {
namespace {

constexpr uint64_t kWanted = 10;

/// The nearest rows of several indexes that are searched one after the other in the given order and
/// share a floor, or not. Documents are numbered through the indexes.
std::vector<ScoredDoc> AskAll(const std::vector<BuiltVectors>& built, const VectorSpace& space,
                              const PreparedQuery& query, const std::vector<size_t>& order,
                              bool shares) {
  SharedFloor floor;
  SharedFloor* const floors[] = {&floor};
  std::vector<std::unique_ptr<VectorSearch>> searches(built.size());
  for (const size_t i : order) {
    VectorSearchOptions options{.k = kWanted, .few_rows_max = 0};
    if (shares) options.floors = floors;
    auto search =
        VectorSearch::Make(*built[i].reader, space, std::span(&query, 1), nullptr, options);
    EXPECT_THAT(search, IsOk());
    searches[i] = *std::move(search);
    EXPECT_TRUE(Drive(*searches[i], *built[i].blob, nullptr).ok());
  }
  std::vector<ComparedDoc> all;
  DocId first = 0;
  for (size_t i = 0; i < built.size(); ++i) {
    for (ComparedDoc compared : searches[i]->Compared(0)) {
      compared.doc += first;
      all.push_back(compared);
    }
    first += built[i].reader->row_count();
  }
  std::vector<ScoredDoc> found;
  const float bound = BoundOf(all, kWanted);
  for (const ComparedDoc& compared : all) {
    if (compared.lowest <= bound)
      found.push_back({.doc = compared.doc, .score = -compared.distance});
  }
  std::ranges::sort(found, RanksBefore);
  if (found.size() > kWanted) found.resize(kWanted);
  return found;
}

/// At a low confidence the codes are wrong about many rows, so which ones are compared is a matter
/// of who is searched first. What is found is not.
TEST(SharedSearch, FindsTheSameInWhateverOrderIndexesAreSearched) {
  Random random(TestSeed() + 40);
  size_t wrong = 0;
  for (const RerankTier tier : {RerankTier::kSq8Residual, RerankTier::kNone}) {
    const VectorColumn column = {
        .dimension = 32, .metric = VectorMetric::kL2Squared, .tier = tier, .rotation_seed = 5};
    const Vectors rows = GaussianVectors(random, 3000, 32);
    const auto space = SpaceOf(column, rows, 8);
    std::vector<BuiltVectors> built;
    for (size_t begin = 0; begin < rows.size(); begin += 1000) {
      built.push_back(
          BuildVectors(space, Vectors(rows.begin() + static_cast<ptrdiff_t>(begin),
                                      rows.begin() + static_cast<ptrdiff_t>(begin) + 1000)));
    }
    for (const auto& query : GaussianVectors(random, 60, 32)) {
      INFINO_ASSERT_OK_AND_ASSIGN(const PreparedQuery prepared,
                                  PreparedQuery::Make(*space, query, 0.5F));
      const std::vector<ScoredDoc> alone = AskAll(built, *space, prepared, {0, 1, 2}, false);
      ASSERT_EQ(alone.size(), kWanted);
      EXPECT_EQ(AskAll(built, *space, prepared, {0, 1, 2}, true), alone);
      EXPECT_EQ(AskAll(built, *space, prepared, {2, 1, 0}, true), alone);
      EXPECT_EQ(AskAll(built, *space, prepared, {1, 2, 0}, true), alone);
      const std::vector<DocId> nearest =
          NearestOf(VectorMetric::kL2Squared, rows, query, kWanted, nullptr);
      for (const ScoredDoc& found : alone) wrong += std::ranges::count(nearest, found.doc) == 0;
    }
  }
  EXPECT_GT(wrong, 20U) << "the codes were right too often for this to say much";
}

}  // namespace
}  // namespace infino::vector
