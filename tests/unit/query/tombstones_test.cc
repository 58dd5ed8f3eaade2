#include "infino/query/tombstones.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/codec/row_bitmap.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/tombstones_codec.h"
#include "infino/options.h"
#include "infino/query/query_environment.h"
#include "infino/supertable/layout.h"
#include "support/builders.h"
#include "support/matchers.h"
#include "unit/query/table_on_store.h"

namespace infino {
namespace {

using ::testing::HasSubstr;

/// A table of superfiles of 100 rows, of which some lose rows.
class TombstonesTest : public ::testing::Test {
 protected:
  explicit TombstonesTest(int64_t budget = 1 << 20)
      : cache_(std::make_shared<TombstoneCache>(table_.store(), budget)) {
    for (int i = 0; i < 4; ++i) table_.AddSuperfile(std::vector<NullableText>(100, "words"));
  }

  void Delete(size_t superfile, const std::vector<DocId>& docs) {
    SuperfileEntry& entry = table_.entry(superfile);
    EncodedTombstones encoded =
        EncodeTombstones(entry.id, random_.NextId<CommitId>(), RowBitmap::Of(docs));
    const std::string path = ObjectPath(table_.folder(), encoded.ref.object.name);
    MustSucceed(table_.store()->PutIfAbsent(path, encoded.bytes).status());
    entry.tombstones = std::move(encoded.ref);
  }

  arrow::Result<Tombstones> Load() {
    const QueryEnvironment environment{
        .superfiles = nullptr, .pool = nullptr, .term_filters = nullptr, .tombstones = cache_};
    const StopCondition stop;
    const QueryContext context{&environment, &table_.snapshot(), &table_.folder(), &stop};
    return LoadTombstones(context, table_.entries());
  }

  TableOnStore table_;
  Random random_{3};
  std::shared_ptr<TombstoneCache> cache_;
};

TEST_F(TombstonesTest, AreReadOnceAndSayWhatIsLeft) {
  Delete(1, {0, 64, 99});
  Delete(3, {5});
  const auto before = table_.counters();
  const auto loaded = Load();
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(table_.counters().Since(before).requests(), 2);
  EXPECT_EQ(loaded->Find(table_.entry(0).id), nullptr);
  EXPECT_EQ(loaded->LiveRowsOf(table_.entry(0).id), nullptr);
  const auto rows = loaded->Find(table_.entry(1).id);
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->deleted, RowBitmap::Of({0, 64, 99}));
  EXPECT_EQ(rows->live.pass_count(), 97U);
  for (const DocId doc : {0U, 64U, 99U}) EXPECT_FALSE(rows->live.Passes(doc));

  ASSERT_THAT(Load(), IsOk());
  EXPECT_EQ(table_.counters().Since(before).requests(), 2);
  Delete(3, {5, 6});
  const auto changed = table_.counters();
  const auto again = Load();
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(table_.counters().Since(changed).requests(), 1) << "only the new ones are read";
  EXPECT_EQ(again->Find(table_.entry(3).id)->live.pass_count(), 98U);
}

TEST_F(TombstonesTest, AreMissedWhereThereIsNoCache) {
  cache_ = nullptr;
  EXPECT_THAT(Load(), IsOk());
  Delete(0, {1});
  EXPECT_THAT(Load(), IsError(ErrorKind::kInternal));
}

TEST_F(TombstonesTest, ThatAreGoneAreNamed) {
  Delete(2, {1});
  const std::string path = ObjectPath(table_.folder(), table_.entry(2).tombstones->object.name);
  MustSucceed(table_.store()->Delete(path).status());
  const auto loaded = Load();
  ASSERT_THAT(loaded, IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(loaded.status().message(), HasSubstr(path));
}

class SmallTombstoneCache : public TombstonesTest {
 protected:
  static constexpr int64_t kBudget = 700;

  SmallTombstoneCache() : TombstonesTest(kBudget) {}
};

TEST_F(SmallTombstoneCache, DropsWhatWasUsedLongestAgo) {
  for (size_t i = 0; i < 4; ++i) Delete(i, {1, 2, 3});
  ASSERT_THAT(Load(), IsOk());
  EXPECT_GT(cache_->size_bytes(), 0);
  EXPECT_LE(cache_->size_bytes(), kBudget);
  const auto before = table_.counters();
  const auto loaded = Load();
  ASSERT_THAT(loaded, IsOk());
  EXPECT_GT(table_.counters().Since(before).requests(), 0);
  EXPECT_LT(table_.counters().Since(before).requests(), 4);
  for (size_t i = 0; i < 4; ++i) EXPECT_NE(loaded->Find(table_.entry(i).id), nullptr);
}

}  // namespace
}  // namespace infino
