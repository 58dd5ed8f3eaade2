#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/manifest/points_codec.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/vector_spaces.h"

namespace infino {

/// A pinned version of a table: what every query and every commit starts from. Immutable and
/// shared; nothing in it ever changes, whatever is committed meanwhile.
struct Snapshot {
  PinnedPointer pinned;
  ManifestRoot root;
  std::vector<std::shared_ptr<const ManifestPart>> parts;  ///< As root.parts.

  /// Every superfile of the version, in the order they were added, with its part.
  struct File {
    const SuperfileEntry* entry = nullptr;
    const ManifestPart* part = nullptr;
  };

  std::vector<File> files;

  std::vector<ReferencePoints> points;  ///< As root.points.

  /// What the codes of each vector column are made with, by field id. A column is missing while it
  /// has no reference points, and so no rows. A space has the lists of `points`, in their order.
  VectorSpaces spaces;

  [[nodiscard]] uint64_t version() const { return root.version; }
};

/// The superfiles of a snapshot, in its order. They live as long as it does.
[[nodiscard]] std::vector<const SuperfileEntry*> EntriesOf(const Snapshot& snapshot);

/// What a version needs beside its root, in memory.
struct VersionObjects {
  std::vector<std::shared_ptr<const ManifestPart>> parts = {};  ///< As root.parts.
  std::vector<ReferencePoints> points = {};                     ///< As root.points.
  VectorSpaces spaces = {};                                     ///< Of `points`.
};

/// A snapshot of the version that `pinned` points to. REQUIRES: `root` and `objects` are that
/// version's.
[[nodiscard]] std::shared_ptr<const Snapshot> MakeSnapshot(PinnedPointer pinned, ManifestRoot root,
                                                           VersionObjects objects);

/// What a change is applied to. Borrows from `snapshot`, which must outlive the result.
[[nodiscard]] BaseVersion BaseOf(const Snapshot& snapshot);

/// Turns pointers into snapshots. Keeps the newest one it loaded and the objects it needs, so that
/// a table that did not move costs one look at the pointer, and one that moved costs only its new
/// parts and reference points, in one wave. Thread-safe; blocks in Wait.
class SnapshotLoader {
 public:
  struct Options {
    std::shared_ptr<Clock> clock;
    int64_t freshness_ms = 0;  ///< How old the pointer may be before Current looks again.
  };

  SnapshotLoader(std::shared_ptr<ObjectStore> store, std::string folder,
                 std::shared_ptr<const PointerStore> pointer, Options options);
  ~SnapshotLoader();

  /// The newest version, or one that was the newest at most `freshness_ms` ago. kNotFound once the
  /// table is dropped, kCorrupt if an object of it is missing or damaged.
  [[nodiscard]] arrow::Result<std::shared_ptr<const Snapshot>> Current(const StopCondition& stop);

  /// Reads the pointer whatever its age.
  [[nodiscard]] arrow::Result<std::shared_ptr<const Snapshot>> Newest(const StopCondition& stop);

  /// Takes over the version that a commit through this handle has just published, so that own
  /// writes are seen at once.
  void Publish(std::shared_ptr<const Snapshot> snapshot);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infino
