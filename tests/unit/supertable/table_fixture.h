#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/manifest/points_codec.h"
#include "infino/options.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/snapshot.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/manifest/sample_manifest.h"

namespace infino {

/// A table in a memory store, to which a test commits superfiles that exist in the manifest only.
/// Whoever is tested may see the store through a wrapper of its own.
class TableFixture {
 public:
  TableFixture()
      : random(std::make_shared<Random>(TestSeed())),
        clock(std::make_shared<ManualClock>(1'790'000'000'000)),
        store(MakeMemoryStore(clock)),
        folder(TableFolder("sample", random->NextId<CommitId>())) {}

  [[nodiscard]] PointerStore::Options PointerOptions() const {
    return {.clock = clock, .random = random, .timeout_ms = 60'000};
  }

  [[nodiscard]] std::shared_ptr<PointerStore> Pointers(std::shared_ptr<ObjectStore> through) const {
    return std::make_shared<PointerStore>(std::move(through), folder, PointerOptions());
  }

  [[nodiscard]] CommitStamp Stamp() const {
    return {.commit = random->NextId<CommitId>(), .unix_ms = clock->UnixMs()};
  }

  /// Puts all objects of a version.
  void Stage(const NextVersion& version) const {
    for (const NamedObject& object : version.objects) {
      EXPECT_THAT(Wait(store->PutIfAbsent(ObjectPath(folder, object.ref.name), object.bytes)),
                  IsOk());
    }
  }

  /// Publishes version 1.
  void Create(const TableSchema& schema = SampleSchema()) {
    const NextVersion first = *FirstVersion(schema, Stamp());
    Stage(first);
    ObjectVersion version;
    EXPECT_EQ(*Pointers(store)->Swap(nullptr, NextPointer(nullptr, first), &version),
              SwapOutcome::kPublished);
  }

  /// The newest version, as a loader of its own sees it.
  [[nodiscard]] std::shared_ptr<const Snapshot> Load() const {
    SnapshotLoader loader(store, folder, Pointers(store), {.clock = clock, .freshness_ms = 0});
    auto snapshot = loader.Newest({});
    EXPECT_THAT(snapshot, IsOk());
    return *snapshot;
  }

  /// Stages an append of `file_count` superfiles on top of `base` and returns it with its pointer.
  [[nodiscard]] std::pair<NextVersion, Pointer> Prepare(
      const Snapshot& base, int file_count = 1, std::vector<ReferencePoints> points = {}) const {
    std::vector<NewSuperfile> files;
    for (int i = 0; i < file_count; ++i) files.push_back(RandomSuperfile(*random));
    ManifestChange change = AppendOf(std::move(files));
    change.points = std::move(points);
    NextVersion next = *Apply(BaseOf(base), change, Stamp());
    Stage(next);
    Pointer pointer = NextPointer(&base.pinned.pointer, next);
    return {std::move(next), std::move(pointer)};
  }

  /// Publishes `count` appends, one after the other.
  void Append(int count = 1, int file_count = 1) const {
    for (int i = 0; i < count; ++i) {
      const auto base = Load();
      const Pointer pointer = Prepare(*base, file_count).second;
      ObjectVersion version;
      EXPECT_EQ(*Pointers(store)->Swap(&base->pinned, pointer, &version), SwapOutcome::kPublished);
    }
  }

  /// Publishes an append that brings reference points.
  void AppendPoints(std::vector<ReferencePoints> points) const {
    const auto base = Load();
    const Pointer pointer = Prepare(*base, 1, std::move(points)).second;
    ObjectVersion version;
    EXPECT_EQ(*Pointers(store)->Swap(&base->pinned, pointer, &version), SwapOutcome::kPublished);
  }

  std::shared_ptr<Random> random;
  std::shared_ptr<ManualClock> clock;
  std::shared_ptr<ObjectStore> store;
  std::string folder;
};

}  // namespace infino
