#include "infino/query/condition_cache.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/index/doc_filter.h"
#include "infino/manifest/manifest.h"
#include "support/seed.h"

namespace infino {
namespace {

constexpr int64_t kAmple = int64_t{1} << 20;

SuperfileEntry Entry(Random& random) {
  SuperfileEntry entry;
  entry.id = random.NextId<SuperfileId>();
  entry.row_count = 80;
  return entry;
}

std::shared_ptr<const DocFilter> Rows(const std::vector<DocId>& docs) {
  return std::make_shared<const DocFilter>(DocFilter::Of(80, docs));
}

TEST(ConditionCache, RowsAreOfOneSuperfileWithItsTombstonesAndOneCondition) {
  Random random(TestSeed());
  ConditionCache cache(kAmple);
  const SuperfileEntry entry = Entry(random);
  cache.Keep(entry, "a", Rows({3, 70}));
  const auto found = cache.Find(entry, "a");
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->Passes(70));
  EXPECT_EQ(found->pass_count(), 2U);
  EXPECT_EQ(cache.Find(entry, "b"), nullptr);
  EXPECT_EQ(cache.Find(Entry(random), "a"), nullptr);
  SuperfileEntry with_deletes = entry;
  with_deletes.tombstones = TombstonesRef{};
  with_deletes.tombstones->object.name = "one";
  EXPECT_EQ(cache.Find(with_deletes, "a"), nullptr);
  cache.Keep(with_deletes, "a", Rows({}));
  EXPECT_EQ(cache.Find(with_deletes, "a")->pass_count(), 0U);
  EXPECT_EQ(cache.Find(entry, "a")->pass_count(), 2U);
}

TEST(ConditionCache, TheLongestUnusedGoFirst) {
  Random random(TestSeed());
  const SuperfileEntry entry = Entry(random);
  ConditionCache cache(2000);
  for (int i = 0; i < 100; ++i) {
    cache.Keep(entry, "often", Rows({1}));
    cache.Keep(entry, std::to_string(i), Rows({2}));
    ASSERT_NE(cache.Find(entry, "often"), nullptr) << i;
  }
  EXPECT_NE(cache.Find(entry, "99"), nullptr);
  EXPECT_EQ(cache.Find(entry, "5"), nullptr);
  ConditionCache none(0);
  none.Keep(entry, "a", Rows({1}));
  EXPECT_EQ(none.Find(entry, "a"), nullptr);
}

}  // namespace
}  // namespace infino
