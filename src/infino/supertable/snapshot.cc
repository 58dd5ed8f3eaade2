#include "infino/supertable/snapshot.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/clock.h"
#include "infino/common/fork.h"
#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/manifest/json_fields.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/manifest/part_codec.h"
#include "infino/manifest/points_codec.h"
#include "infino/manifest/root_codec.h"
#include "infino/manifest/totals.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/root_reader.h"
#include "infino/supertable/vector_spaces.h"

namespace infino {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using SnapshotPtr = std::shared_ptr<const Snapshot>;
using PartPtr = std::shared_ptr<const ManifestPart>;
using PartsByName = std::unordered_map<std::string_view, PartPtr>;
using PointsByName = std::unordered_map<std::string_view, const ReferencePoints*>;

PartsByName PartsOf(const Snapshot* known) {
  PartsByName parts;
  if (known == nullptr) return parts;
  for (size_t i = 0; i < known->parts.size(); ++i) {
    parts.emplace(known->root.parts[i].object.name, known->parts[i]);
  }
  return parts;
}

PointsByName PointsOf(const Snapshot* known) {
  PointsByName points;
  if (known == nullptr) return points;
  for (size_t i = 0; i < known->points.size(); ++i) {
    points.emplace(known->root.points[i].object.name, &known->points[i]);
  }
  return points;
}

arrow::Result<ReferencePoints> ReadPoints(const PointsRef& ref, const arrow::Buffer& bytes,
                                          std::string_view folder) {
  ARROW_RETURN_NOT_OK(CheckContent(ref.object, bytes));
  const std::string path = ObjectPath(folder, ref.object.name);
  ARROW_ASSIGN_OR_RAISE(ReferencePoints points, DecodePoints(bytes, path));
  if (points.field_id != ref.field_id) {
    return CorruptObject(path, "the reference points are of another column");
  }
  return points;
}

arrow::Result<PartPtr> ReadPart(const PartRef& ref, const arrow::Buffer& bytes,
                                std::string_view folder) {
  ARROW_RETURN_NOT_OK(CheckContent(ref.object, bytes));
  const std::string path = ObjectPath(folder, ref.object.name);
  ARROW_ASSIGN_OR_RAISE(ManifestPart part, DecodePart(bytes, path));
  const auto totals = TotalsOf(part);
  if (!totals.ok() || *totals != ref.totals) {
    return CorruptObject(path, "the entries don't add up to what the root says");
  }
  return std::make_shared<const ManifestPart>(std::move(part));
}

arrow::Status CheckDistinct(const std::vector<PartPtr>& parts, const std::string& root_path) {
  std::unordered_set<SuperfileId, RandomIdHash> ids;
  for (const PartPtr& part : parts) {
    for (const SuperfileEntry& entry : part->entries) {
      if (ids.insert(entry.id).second) continue;
      return CorruptObject(root_path, "superfile " + entry.id.ToHex() + " is in two parts");
    }
  }
  return arrow::Status::OK();
}

}  // namespace

SnapshotPtr MakeSnapshot(PinnedPointer pinned, ManifestRoot root, VersionObjects objects) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->pinned = std::move(pinned);
  snapshot->root = std::move(root);
  snapshot->parts = std::move(objects.parts);
  snapshot->points = std::move(objects.points);
  snapshot->spaces = std::move(objects.spaces);
  snapshot->files.reserve(static_cast<size_t>(snapshot->root.totals.superfile_count));
  for (const PartPtr& part : snapshot->parts) {
    for (const SuperfileEntry& entry : part->entries) {
      snapshot->files.push_back({.entry = &entry, .part = part.get()});
    }
  }
  return snapshot;
}

std::vector<const SuperfileEntry*> EntriesOf(const Snapshot& snapshot) {
  std::vector<const SuperfileEntry*> entries;
  entries.reserve(snapshot.files.size());
  for (const Snapshot::File& file : snapshot.files) entries.push_back(file.entry);
  return entries;
}

BaseVersion BaseOf(const Snapshot& snapshot) {
  return {.root = &snapshot.root,
          .root_object = snapshot.pinned.pointer.root,
          .parts = snapshot.parts,
          .points = snapshot.points};
}

/// A load that other callers may wait for.
struct Flight {
  nanoseconds started_at{};
  uint64_t fork_generation = 0;
  arrow::Future<SnapshotPtr> done;
};

struct SnapshotLoader::State {
  std::shared_ptr<ObjectStore> store;
  std::string folder;
  std::shared_ptr<const PointerStore> pointer;
  Options options;

  std::mutex mutex;  ///< Guards what follows; never held while reading.
  SnapshotPtr newest;
  nanoseconds checked_at{};  ///< When the pointer was last known to be `newest`.
  std::shared_ptr<Flight> flight;

  [[nodiscard]] nanoseconds Now() const { return options.clock->Monotonic(); }

  [[nodiscard]] SnapshotPtr Known() {
    const std::scoped_lock lock(mutex);
    return newest;
  }

  /// Keeps `snapshot` unless a newer one is there already, and returns the newest.
  [[nodiscard]] SnapshotPtr Keep(SnapshotPtr snapshot, nanoseconds as_of) {
    const std::scoped_lock lock(mutex);
    if (newest == nullptr || newest->version() <= snapshot->version()) {
      newest = std::move(snapshot);
    }
    checked_at = std::max(checked_at, as_of);
    return newest;
  }

  using Reads = std::vector<std::pair<size_t, arrow::Future<VersionedBytes>>>;

  /// Takes over from `known` what `root` names, and starts to read what is missing.
  [[nodiscard]] Reads StartParts(const ManifestRoot& root, const Snapshot* known,
                                 VersionObjects* objects) {
    const PartsByName at_hand = PartsOf(known);
    objects->parts.resize(root.parts.size());
    Reads reads;
    for (size_t i = 0; i < root.parts.size(); ++i) {
      const std::string& name = root.parts[i].object.name;
      if (const auto found = at_hand.find(name); found != at_hand.end()) {
        objects->parts[i] = found->second;
      } else {
        reads.emplace_back(i, store->Get(ObjectPath(folder, name)));
      }
    }
    return reads;
  }

  [[nodiscard]] Reads StartPoints(const ManifestRoot& root, const Snapshot* known,
                                  VersionObjects* objects) {
    const PointsByName at_hand = PointsOf(known);
    objects->points.resize(root.points.size());
    Reads reads;
    for (size_t i = 0; i < root.points.size(); ++i) {
      const std::string& name = root.points[i].object.name;
      if (const auto found = at_hand.find(name); found != at_hand.end()) {
        objects->points[i] = *found->second;
      } else {
        reads.emplace_back(i, store->Get(ObjectPath(folder, name)));
      }
    }
    return reads;
  }

  /// All parts and reference points of `root` in one wave of reads, those that `known` has
  /// excepted.
  [[nodiscard]] arrow::Result<VersionObjects> ReadObjects(const ManifestRoot& root,
                                                          const Snapshot* known,
                                                          const StopCondition& stop) {
    VersionObjects objects;
    const Reads part_reads = StartParts(root, known, &objects);
    const Reads points_reads = StartPoints(root, known, &objects);
    for (const auto& [ordinal, future] : part_reads) {
      ARROW_ASSIGN_OR_RAISE(const VersionedBytes read, Wait(future, stop));
      ARROW_ASSIGN_OR_RAISE(objects.parts[ordinal],
                            ReadPart(root.parts[ordinal], *read.bytes, folder));
    }
    for (const auto& [ordinal, future] : points_reads) {
      ARROW_ASSIGN_OR_RAISE(const VersionedBytes read, Wait(future, stop));
      ARROW_ASSIGN_OR_RAISE(objects.points[ordinal],
                            ReadPoints(root.points[ordinal], *read.bytes, folder));
    }
    return objects;
  }

  [[nodiscard]] arrow::Result<SnapshotPtr> Build(PinnedPointer pinned, const Snapshot* known,
                                                 const StopCondition& stop) {
    ARROW_ASSIGN_OR_RAISE(ManifestRoot root, ReadRootOf(*store, folder, pinned.pointer, stop));
    ARROW_ASSIGN_OR_RAISE(VersionObjects objects, ReadObjects(root, known, stop));
    const std::string root_path = ObjectPath(folder, pinned.pointer.root.name);
    ARROW_RETURN_NOT_OK(CheckDistinct(objects.parts, root_path));
    auto spaces =
        MakeSpaces(root.schema, objects.points, known == nullptr ? VectorSpaces() : known->spaces);
    if (!spaces.ok()) return CorruptObject(root_path, spaces.status().message());
    objects.spaces = *std::move(spaces);
    return MakeSnapshot(std::move(pinned), std::move(root), std::move(objects));
  }

  [[nodiscard]] arrow::Result<std::optional<PinnedPointer>> LookAtPointer(
      const Snapshot* known, const StopCondition& stop) const {
    if (known != nullptr && !known->pinned.version.token.empty()) {
      return pointer->LoadIfChanged(known->pinned.version, stop);
    }
    ARROW_ASSIGN_OR_RAISE(PinnedPointer pinned, pointer->Load(stop));
    return pinned;
  }

  [[nodiscard]] arrow::Result<SnapshotPtr> Load(const StopCondition& stop) {
    // A version that was superseded while it was read may have lost objects to the collector.
    constexpr int kReloadsMax = 5;
    const SnapshotPtr known = Known();
    arrow::Status missing;
    ObjectVersion incomplete;
    for (int reload = 0; reload <= kReloadsMax; ++reload) {
      const nanoseconds as_of = Now();
      ARROW_ASSIGN_OR_RAISE(auto pinned, LookAtPointer(known.get(), stop));
      if (!pinned) return Keep(known, as_of);
      if (reload > 0 && pinned->version == incomplete) break;
      incomplete = pinned->version;
      auto built = Build(std::move(*pinned), known.get(), stop);
      if (built.ok()) return Keep(std::move(*built), as_of);
      missing = built.status();
      if (!IsError(missing, ErrorKind::kNotFound)) return missing;
    }
    return CorruptObject(folder, "an object of the table is missing: " + missing.message());
  }
};

SnapshotLoader::SnapshotLoader(std::shared_ptr<ObjectStore> store, std::string folder,
                               std::shared_ptr<const PointerStore> pointer, Options options)
    : state_(std::make_unique<State>()) {
  state_->store = std::move(store);
  state_->folder = std::move(folder);
  state_->pointer = std::move(pointer);
  state_->options = std::move(options);
}

SnapshotLoader::~SnapshotLoader() = default;

arrow::Result<SnapshotPtr> SnapshotLoader::Current(const StopCondition& stop) {
  if (state_->options.freshness_ms <= 0) return Newest(stop);
  const nanoseconds oldest = state_->Now() - milliseconds(state_->options.freshness_ms);
  std::shared_ptr<Flight> flight;
  {
    const std::scoped_lock lock(state_->mutex);
    if (state_->newest != nullptr && state_->checked_at >= oldest) return state_->newest;
    flight = state_->flight;
  }
  // What another caller is loading is fresh enough if it began recently; threads of a parent
  // process never finish.
  if (flight != nullptr && flight->started_at >= oldest &&
      flight->fork_generation == ForkGeneration()) {
    auto loaded = Wait(flight->done, stop);
    if (!IsError(loaded.status(), ErrorKind::kCancelled)) return loaded;
    ARROW_RETURN_NOT_OK(CheckStop(stop));
  }
  return Newest(stop);
}

arrow::Result<SnapshotPtr> SnapshotLoader::Newest(const StopCondition& stop) {
  const auto flight = std::make_shared<Flight>();
  flight->started_at = state_->Now();
  flight->fork_generation = ForkGeneration();
  flight->done = arrow::Future<SnapshotPtr>::Make();
  {
    const std::scoped_lock lock(state_->mutex);
    state_->flight = flight;
  }
  auto loaded = state_->Load(stop);
  flight->done.MarkFinished(loaded);
  {
    const std::scoped_lock lock(state_->mutex);
    if (state_->flight == flight) state_->flight = nullptr;
  }
  return loaded;
}

void SnapshotLoader::Publish(SnapshotPtr snapshot) {
  const nanoseconds now = state_->Now();
  static_cast<void>(state_->Keep(std::move(snapshot), now));
}

}  // namespace infino
