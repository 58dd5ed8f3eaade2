#include "infino/supertable/vector_spaces.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/content_hash.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/index/vector/vector_space.h"
#include "infino/manifest/manifest_change.h"
#include "infino/manifest/points_codec.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/snapshot.h"
#include "support/matchers.h"
#include "unit/manifest/sample_manifest.h"
#include "unit/supertable/scripted_store.h"
#include "unit/supertable/table_fixture.h"

namespace infino {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kVectors = 3;

std::vector<ContentHash> ListsOf(const Snapshot& snapshot) {
  std::vector<ContentHash> ids;
  const auto space = snapshot.spaces.find(kVectors);
  if (space == snapshot.spaces.end()) return ids;
  for (size_t i = 0; i < space->second->list_count(); ++i) {
    ids.push_back(space->second->list(i).id());
  }
  return ids;
}

class SpacesTest : public ::testing::Test {
 protected:
  SpacesTest() : counted_(std::make_shared<ScriptedStore>(table_.store)) {
    table_.Create(VectorSampleSchema());
  }

  [[nodiscard]] std::unique_ptr<SnapshotLoader> Loader() const {
    return std::make_unique<SnapshotLoader>(
        counted_, table_.folder, table_.Pointers(counted_),
        SnapshotLoader::Options{.clock = table_.clock, .freshness_ms = 0});
  }

  [[nodiscard]] ReferencePoints Points() const { return RandomPoints(*table_.random, kVectors); }

  [[nodiscard]] int PointsReads() const {
    int reads = 0;
    for (const auto& [path, count] : counted_->gets) {
      if (path.find("/points-") != std::string::npos) reads += count;
    }
    return reads;
  }

  TableFixture table_;
  std::shared_ptr<ScriptedStore> counted_;
};

TEST_F(SpacesTest, ATableWithoutPointsHasNone) {
  table_.Append(2);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto snapshot, Loader()->Newest({}));
  EXPECT_TRUE(snapshot->spaces.empty());
  EXPECT_TRUE(snapshot->points.empty());
}

TEST_F(SpacesTest, HaveTheListsOfTheRootInItsOrder) {
  const ReferencePoints first = Points();
  const ReferencePoints second = Points();
  const ReferencePoints third = Points();
  table_.AppendPoints({first});
  table_.Append();
  table_.AppendPoints({second, third});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto snapshot, Loader()->Newest({}));
  EXPECT_THAT(ListsOf(*snapshot),
              ElementsAre(first.list->id(), second.list->id(), third.list->id()));
  ASSERT_EQ(snapshot->points.size(), 3U);
  EXPECT_EQ(snapshot->points[2].spread, third.spread);
  EXPECT_EQ(snapshot->spaces.at(kVectors)->column(),
            VectorSampleSchema().columns[2].vector->column);
}

TEST_F(SpacesTest, AreReadOnceAndTakenOverWhileTheyDontChange) {
  table_.AppendPoints({Points()});
  const auto loader = Loader();
  INFINO_ASSERT_OK_AND_ASSIGN(const auto before, loader->Newest({}));
  EXPECT_EQ(PointsReads(), 1);
  table_.Append();
  INFINO_ASSERT_OK_AND_ASSIGN(const auto same, loader->Newest({}));
  EXPECT_NE(same, before);
  EXPECT_EQ(same->spaces.at(kVectors), before->spaces.at(kVectors));
  EXPECT_EQ(PointsReads(), 1);
  table_.AppendPoints({Points()});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto more, loader->Newest({}));
  EXPECT_EQ(more->spaces.at(kVectors)->list_count(), 2U);
  EXPECT_EQ(PointsReads(), 2);
  EXPECT_EQ(before->spaces.at(kVectors)->list_count(), 1U);
}

TEST_F(SpacesTest, OfALostOrDamagedObjectAreCorrupt) {
  table_.AppendPoints({Points()});
  const auto base = table_.Load();
  const std::string path = ObjectPath(table_.folder, base->root.points[0].object.name);
  const auto read = Wait(table_.store->Get(path));
  ASSERT_THAT(read, IsOk());
  for (const size_t at : {size_t{9}, static_cast<size_t>(read->bytes->size()) - 20}) {
    const auto now = Wait(table_.store->Get(path));
    ASSERT_THAT(now, IsOk());
    ASSERT_THAT(
        Wait(table_.store->PutIfMatch(path, WithByteChanged(*read->bytes, at, 1), now->version)),
        IsOk());
    const auto loaded = Loader()->Newest({});
    EXPECT_THAT(loaded, IsError(ErrorKind::kCorrupt));
    EXPECT_THAT(loaded.status().message(), ::testing::HasSubstr(base->root.points[0].object.name));
  }
  ASSERT_THAT(WaitDone(table_.store->Delete(path)), IsOk());
  EXPECT_THAT(Loader()->Newest({}), IsError(ErrorKind::kCorrupt));
}

TEST_F(SpacesTest, APublishedVersionNeedsNoReads) {
  const auto loader = Loader();
  INFINO_ASSERT_OK_AND_ASSIGN(const auto base, loader->Newest({}));
  const ReferencePoints points = Points();
  auto [next, pointer] = table_.Prepare(*base, 1, {points});
  PinnedPointer pinned{.pointer = pointer, .version = {}};
  ASSERT_EQ(*table_.Pointers(table_.store)->Swap(&base->pinned, pointer, &pinned.version),
            SwapOutcome::kPublished);
  INFINO_ASSERT_OK_AND_ASSIGN(VectorSpaces spaces,
                              MakeSpaces(next.root.schema, next.points, base->spaces));
  loader->Publish(MakeSnapshot(pinned, next.root,
                               {.parts = next.parts, .points = next.points, .spaces = spaces}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto snapshot, loader->Newest({}));
  EXPECT_THAT(ListsOf(*snapshot), ElementsAre(points.list->id()));
  EXPECT_EQ(PointsReads(), 0);
}

TEST(MakeSpaces, RefusesPointsThatDontFit) {
  Random random(TestSeed());
  const TableSchema schema = VectorSampleSchema();
  const ReferencePoints points = RandomPoints(random, kVectors);
  const auto refuses = [&](const std::vector<ReferencePoints>& given) {
    EXPECT_THAT(MakeSpaces(schema, given, {}), IsError(ErrorKind::kInvalidArgument));
  };
  refuses({points, points});
  refuses({RandomPoints(random, 1)});
  refuses({RandomPoints(random, 9)});
  refuses({RandomPoints(random, kVectors, 17)});
}

}  // namespace
}  // namespace infino
