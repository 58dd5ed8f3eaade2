#include "infino/query/superfile_cache.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/storage/block_cache.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/supertable/layout.h"
#include "support/builders.h"
#include "support/matchers.h"
#include "unit/query/table_on_store.h"

namespace infino {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kBudget = int64_t{64} << 20;

/// Texts that no compression gets below SuperfileCache::kReadWholeBytes.
std::vector<NullableText> BulkyTexts() {
  Random random(5);
  std::vector<NullableText> texts;
  for (int i = 0; i < 3000; ++i) {
    texts.emplace_back("w" + std::to_string(random.Next()) + " w" + std::to_string(random.Next()));
  }
  return texts;
}

SuperfileCache MakeCache(const TableOnStore& table, int64_t budget = kBudget) {
  return {table.store(), std::make_shared<BlockCache>(kBudget), budget};
}

TEST(SuperfileCache, OpensEachFileWithOneRequestAndOnlyOnce) {
  TableOnStore table;
  table.AddSuperfile({"a fox"});
  table.AddSuperfile({"a dog", "two dogs"});
  table.AddSuperfile(BulkyTexts());
  SuperfileCache cache = MakeCache(table);
  const auto before = table.counters();
  const auto files = cache.Open(table.folder(), table.entries(), {});
  ASSERT_THAT(files, IsOk());
  EXPECT_EQ(table.counters().Since(before).requests(), 3);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ((*files)[i]->id(), table.entry(i).id);
  EXPECT_EQ((*files)[1]->row_count(), 2);

  const auto again = cache.Open(table.folder(), table.entries(), {});
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(table.counters().Since(before).requests(), 3);
  EXPECT_EQ(*again, *files);
}

TEST(SuperfileCache, ReadsOnlyTheOpenSectionOfALargeFile) {
  TableOnStore table;
  table.AddSuperfile(BulkyTexts());
  ASSERT_GT(table.entry(0).size_bytes, SuperfileCache::kReadWholeBytes);
  SuperfileCache cache = MakeCache(table);
  const auto before = table.counters();
  ASSERT_THAT(cache.Open(table.folder(), table.entries(), {}), IsOk());
  EXPECT_EQ(table.counters().Since(before).bytes_read, table.entry(0).open_section.length);
}

TEST(SuperfileCache, HoldsASmallFileWhole) {
  TableOnStore table;
  table.AddSuperfile({"a fox"});
  SuperfileCache cache = MakeCache(table);
  const auto files = cache.Open(table.folder(), table.entries(), {});
  ASSERT_THAT(files, IsOk());
  const RangeReader& file = files->front()->file();
  EXPECT_TRUE(file.TryRead(std::vector<ByteRange>{{.offset = 0, .length = file.size()}}));
}

TEST(SuperfileCache, StaysWithinItsBudgetAndKeepsWhatIsUsed) {
  TableOnStore table;
  for (int i = 0; i < 20; ++i) table.AddSuperfile({"a fox"});
  int64_t each = 0;
  {
    SuperfileCache measure = MakeCache(table);
    ASSERT_THAT(measure.Open(table.folder(), std::vector{&std::as_const(table.entry(0))}, {}),
                IsOk());
    each = measure.size_bytes();
  }
  SuperfileCache cache = MakeCache(table, each * 4);
  for (size_t i = 0; i < 20; ++i) {
    ASSERT_THAT(cache.Open(table.folder(), std::vector{&std::as_const(table.entry(0))}, {}),
                IsOk());
    ASSERT_THAT(cache.Open(table.folder(), std::vector{&std::as_const(table.entry(i))}, {}),
                IsOk());
    EXPECT_LE(cache.size_bytes(), each * 4);
  }
  EXPECT_GT(cache.size_bytes(), each * 2);
}

TEST(SuperfileCache, NothingIsKeptWithoutABudget) {
  TableOnStore table;
  table.AddSuperfile({"a fox"});
  SuperfileCache cache = MakeCache(table, 0);
  ASSERT_THAT(cache.Open(table.folder(), table.entries(), {}), IsOk());
  EXPECT_EQ(cache.size_bytes(), 0);
}

TEST(SuperfileCache, AMissingFileIsDamage) {
  TableOnStore table;
  table.AddSuperfile({"a fox"});
  const std::string path = SuperfilePath(table.folder(), table.entry(0).id);
  ASSERT_THAT(table.store()->Delete(path).status(), IsOk());
  SuperfileCache cache = MakeCache(table);
  const auto files = cache.Open(table.folder(), table.entries(), {});
  EXPECT_THAT(files, IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(files.status().message(), HasSubstr(path));
}

TEST(SuperfileCache, APlaceOutsideTheFileIsDamage) {
  TableOnStore table;
  table.AddSuperfile({"a fox"});
  for (const ByteRange place :
       {ByteRange{.offset = -1, .length = 10}, ByteRange{.offset = 0, .length = int64_t{1} << 40},
        ByteRange{.offset = int64_t{1} << 62, .length = 1}, ByteRange{.offset = 5, .length = -5}}) {
    table.entry(0).open_section = place;
    SuperfileCache cache = MakeCache(table);
    EXPECT_THAT(cache.Open(table.folder(), table.entries(), {}), IsError(ErrorKind::kCorrupt));
  }
}

TEST(SuperfileCache, AnotherFilesIdIsDamage) {
  TableOnStore table;
  table.AddSuperfile({"a fox"});
  table.AddSuperfile({"a fox"});
  const auto bytes =
      table.store()->Get(SuperfilePath(table.folder(), table.entry(0).id)).result().ValueOrDie();
  const std::string path = SuperfilePath(table.folder(), table.entry(1).id);
  ASSERT_THAT(table.store()->Delete(path).status(), IsOk());
  ASSERT_THAT(table.store()->PutIfAbsent(path, bytes.bytes).status(), IsOk());
  SuperfileCache cache = MakeCache(table);
  EXPECT_THAT(cache.Open(table.folder(), table.entries(), {}), IsError(ErrorKind::kCorrupt));
}

}  // namespace
}  // namespace infino
