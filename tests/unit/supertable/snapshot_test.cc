#include "infino/supertable/snapshot.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/status.h>
#include <arrow/util/future.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/pointer.h"
#include "support/matchers.h"
#include "unit/manifest/sample_manifest.h"
#include "unit/supertable/scripted_store.h"
#include "unit/supertable/table_fixture.h"

namespace infino {
namespace {

using std::chrono::milliseconds;

class SnapshotTest : public ::testing::Test {
 protected:
  SnapshotTest() : counted_(std::make_shared<ScriptedStore>(table_.store)) { table_.Create(); }

  [[nodiscard]] std::unique_ptr<SnapshotLoader> Loader(int64_t freshness_ms) const {
    return std::make_unique<SnapshotLoader>(
        counted_, table_.folder, table_.Pointers(counted_),
        SnapshotLoader::Options{.clock = table_.clock, .freshness_ms = freshness_ms});
  }

  [[nodiscard]] int PointerReads() const {
    const auto found = counted_->gets.find(PointerPath(table_.folder));
    return found == counted_->gets.end() ? 0 : found->second;
  }

  [[nodiscard]] int AllReads() const {
    int reads = 0;
    for (const auto& [path, count] : counted_->gets) reads += count;
    return reads;
  }

  /// Deletes an object, or changes one byte of it.
  void Lose(const std::string& name) const {
    ASSERT_THAT(WaitDone(table_.store->Delete(ObjectPath(table_.folder, name))), IsOk());
  }

  void Damage(const std::string& name) const {
    const std::string path = ObjectPath(table_.folder, name);
    const auto read = Wait(table_.store->Get(path));
    ASSERT_THAT(read, IsOk());
    const auto damaged = WithByteChanged(*read->bytes, 100, 1);
    ASSERT_THAT(Wait(table_.store->PutIfMatch(path, damaged, read->version)), IsOk());
  }

  TableFixture table_;
  std::shared_ptr<ScriptedStore> counted_;
};

TEST_F(SnapshotTest, ShowsWhatWasCommittedInOrder) {
  table_.Append(3, 5);
  const auto loader = Loader(0);
  const auto snapshot = loader->Newest({});
  ASSERT_THAT(snapshot, IsOk());
  EXPECT_EQ((*snapshot)->version(), 4U);
  ASSERT_EQ((*snapshot)->files.size(), 15U);
  size_t file = 0;
  for (const auto& part : (*snapshot)->parts) {
    for (const SuperfileEntry& entry : part->entries) {
      EXPECT_EQ((*snapshot)->files[file].entry, &entry);
      EXPECT_EQ((*snapshot)->files[file].part, part.get());
      ++file;
    }
  }
}

TEST_F(SnapshotTest, ANewTableIsEmpty) {
  const auto snapshot = Loader(0)->Current({});
  ASSERT_THAT(snapshot, IsOk());
  EXPECT_EQ((*snapshot)->version(), 1U);
  EXPECT_TRUE((*snapshot)->files.empty());
}

TEST_F(SnapshotTest, APinnedSnapshotNeverChanges) {
  table_.Append(2, 3);
  const auto loader = Loader(0);
  const auto pinned = *loader->Current({});
  std::vector<SuperfileId> before;
  for (const auto& file : pinned->files) before.push_back(file.entry->id);
  table_.Append(30, 4);
  EXPECT_EQ((*loader->Current({}))->files.size(), 6U + 120U);
  ASSERT_EQ(pinned->files.size(), before.size());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(pinned->files[i].entry->id, before[i]);
  EXPECT_EQ(pinned->version(), 3U);
}

TEST_F(SnapshotTest, AnUnmovedTableCostsOneLookAtThePointer) {
  table_.Append();
  const auto loader = Loader(0);
  const auto first = *loader->Current({});
  const int reads = AllReads();
  const auto second = *loader->Current({});
  EXPECT_EQ(first, second);
  EXPECT_EQ(AllReads(), reads + 1);
  EXPECT_EQ(PointerReads(), 2);
}

TEST_F(SnapshotTest, AMovedTableCostsOnlyItsNewParts) {
  table_.Append(150);  // Several full parts.
  const auto loader = Loader(0);
  const auto first = *loader->Current({});
  ASSERT_GT(first->parts.size(), 2U);
  const int reads = AllReads();
  table_.Append();
  const auto second = *loader->Current({});
  EXPECT_EQ(second->version(), first->version() + 1);
  EXPECT_LE(AllReads(), reads + 2);
  EXPECT_EQ(first->parts[0], second->parts[0]);
}

TEST_F(SnapshotTest, WithinTheFreshnessNothingIsRead) {
  table_.Append();
  const auto loader = Loader(1'000);
  const auto first = *loader->Current({});
  const int reads = AllReads();
  table_.Append();
  table_.clock->Advance(milliseconds(1'000));
  EXPECT_EQ(*loader->Current({}), first);
  EXPECT_EQ(AllReads(), reads);
  table_.clock->Advance(milliseconds(1));
  EXPECT_EQ((*loader->Current({}))->version(), first->version() + 1);
}

TEST_F(SnapshotTest, NewestAsksWhateverTheAge) {
  const auto loader = Loader(1'000'000);
  EXPECT_EQ((*loader->Current({}))->version(), 1U);
  table_.Append();
  EXPECT_EQ((*loader->Current({}))->version(), 1U);
  EXPECT_EQ((*loader->Newest({}))->version(), 2U);
  EXPECT_EQ((*loader->Current({}))->version(), 2U);
}

TEST_F(SnapshotTest, OwnWritesAreSeenAtOnce) {
  const auto loader = Loader(1'000'000);
  const auto base = *loader->Current({});
  auto [next, pointer] = table_.Prepare(*base);
  ObjectVersion version;
  ASSERT_THAT(table_.Pointers(table_.store)->Swap(&base->pinned, pointer, &version), IsOk());
  loader->Publish(
      MakeSnapshot({.pointer = pointer, .version = version}, next.root, {.parts = next.parts}));
  const int reads = AllReads();
  EXPECT_EQ((*loader->Current({}))->version(), 2U);
  EXPECT_EQ(AllReads(), reads);
  EXPECT_EQ((*loader->Newest({}))->version(), 2U);
  EXPECT_EQ(AllReads(), reads + 1);
}

TEST_F(SnapshotTest, AnOldVersionNeverReplacesANewerOne) {
  const auto loader = Loader(0);
  const auto old = *loader->Current({});
  table_.Append();
  EXPECT_EQ((*loader->Current({}))->version(), 2U);
  loader->Publish(old);
  EXPECT_EQ((*loader->Current({}))->version(), 2U);
}

TEST_F(SnapshotTest, AVersionOfUnknownPlaceIsLookedUpAnew) {
  const auto loader = Loader(0);
  const auto base = *loader->Current({});
  auto [next, pointer] = table_.Prepare(*base);
  ObjectVersion version;
  ASSERT_THAT(table_.Pointers(table_.store)->Swap(&base->pinned, pointer, &version), IsOk());
  loader->Publish(
      MakeSnapshot({.pointer = pointer, .version = {}}, next.root, {.parts = next.parts}));
  table_.Append();
  EXPECT_EQ((*loader->Current({}))->version(), 3U);
}

TEST_F(SnapshotTest, ALargeRootIsReadFromItsObject) {
  const auto base = table_.Load();
  auto [next, pointer] = table_.Prepare(*base);
  pointer.root_copy = nullptr;
  ObjectVersion version;
  ASSERT_THAT(table_.Pointers(table_.store)->Swap(&base->pinned, pointer, &version), IsOk());
  const auto snapshot = Loader(0)->Current({});
  ASSERT_THAT(snapshot, IsOk());
  EXPECT_EQ((*snapshot)->root.totals, next.root.totals);
  Damage(pointer.root.name);
  EXPECT_THAT(Loader(0)->Current({}), IsError(ErrorKind::kCorrupt));
}

TEST_F(SnapshotTest, AMissingPartIsCorruptAndNamed) {
  table_.Append();
  const auto snapshot = table_.Load();
  const std::string name = snapshot->root.parts[0].object.name;
  Lose(name);
  const auto loaded = Loader(0)->Current({});
  EXPECT_THAT(loaded, IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(loaded.status().message(), ::testing::HasSubstr(name));
}

TEST_F(SnapshotTest, ADamagedPartIsCorruptAndNamed) {
  table_.Append();
  const std::string name = table_.Load()->root.parts[0].object.name;
  Damage(name);
  const auto loaded = Loader(0)->Current({});
  EXPECT_THAT(loaded, IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(loaded.status().message(), ::testing::HasSubstr(name));
}

/// The pointer is read, then a commit supersedes the version and a collector removes its part.
TEST_F(SnapshotTest, AVersionCollectedWhileItIsReadIsReadAnew) {
  table_.Append();
  const std::string old_part = table_.Load()->root.parts[0].object.name;
  bool is_collected = false;
  counted_->before_get = [&](std::string_view path) {
    if (is_collected || path != ObjectPath(table_.folder, old_part)) return;
    is_collected = true;
    table_.Append();
    Lose(old_part);
  };
  const auto loaded = Loader(0)->Current({});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_TRUE(is_collected);
  EXPECT_EQ((*loaded)->version(), 3U);
}

TEST_F(SnapshotTest, ADroppedTableIsNotFound) {
  const auto loader = Loader(0);
  const auto base = *loader->Current({});
  const Pointer dropped = DroppedPointer(base->pinned.pointer, table_.random->NextId<CommitId>());
  ObjectVersion version;
  ASSERT_THAT(table_.Pointers(table_.store)->Swap(&base->pinned, dropped, &version), IsOk());
  EXPECT_THAT(loader->Current({}), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(Loader(0)->Newest({}), IsError(ErrorKind::kNotFound));
}

TEST_F(SnapshotTest, AStoreThatFailsIsUnavailableNotCorrupt) {
  counted_->reads_fail = true;
  EXPECT_THAT(Loader(0)->Current({}), IsError(ErrorKind::kUnavailable));
}

TEST_F(SnapshotTest, ManyThreadsSeeVersionsInOrder) {
  table_.Append();
  SnapshotLoader loader(table_.store, table_.folder, table_.Pointers(table_.store),
                        {.clock = table_.clock, .freshness_ms = 1});
  const auto pool = *WorkPool::Make(4);
  std::vector<arrow::Future<>> readers;
  for (int reader = 0; reader < 4; ++reader) {
    readers.push_back(pool->Submit([&loader, this]() -> arrow::Status {
      uint64_t version = 0;
      for (int i = 0; i < 200; ++i) {
        ARROW_ASSIGN_OR_RAISE(const auto snapshot, loader.Current({}));
        if (snapshot->version() < version) {
          return MakeError(ErrorKind::kInternal, "went back in time");
        }
        version = snapshot->version();
        table_.clock->Advance(milliseconds(1));
      }
      return arrow::Status::OK();
    }));
  }
  table_.Append(30);
  for (const auto& reader : readers) EXPECT_THAT(WaitDone(reader), IsOk());
  EXPECT_EQ((*loader.Newest({}))->version(), 32U);
}

}  // namespace
}  // namespace infino
