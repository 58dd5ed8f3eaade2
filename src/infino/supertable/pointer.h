#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/common/clock.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"

namespace infino {

/// The content of `_supertable/current`: the one mutable object of a table. No two pointers of a
/// table are equal, so a store whose versions follow content can't take an old one for a new one.
/// Format: docs/format/pointer.md.
struct Pointer {
  static constexpr size_t kRecentCommitsMax = 32;

  /// The root's bytes travel in the pointer while they are under this size.
  static constexpr int64_t kRootCopyLimitBytes = 64 << 10;

  uint64_t table_version = 0;  ///< 1 for create_table, then one more for each commit and the drop.
  ObjectRef root;
  std::shared_ptr<arrow::Buffer> root_copy;  ///< Null from the limit on.
  bool dropped = false;  ///< The table is gone; a handle that still holds it gets kNotFound.

  /// The last commits, newest first, at most kRecentCommitsMax. The newest alone would not do: a
  /// winner that never got its answer may find later commits on top of its own.
  std::vector<CommitId> recent_commits;
};

/// The pointer that publishes `next` in place of `previous` (null: as the first one).
[[nodiscard]] Pointer NextPointer(const Pointer* previous, const NextVersion& next);

/// The pointer that marks the table of `previous` dropped. `commit` names the drop, so that its
/// writer recognises it.
[[nodiscard]] Pointer DroppedPointer(const Pointer& previous, const CommitId& commit);

[[nodiscard]] std::shared_ptr<arrow::Buffer> EncodePointer(const Pointer& pointer);

/// kCorrupt, naming `object`, for anything that EncodePointer would not have written.
[[nodiscard]] arrow::Result<Pointer> DecodePointer(const arrow::Buffer& bytes,
                                                   std::string_view object);

/// A pointer as it was read, with what it takes to replace exactly that one.
struct PinnedPointer {
  Pointer pointer;
  ObjectVersion version;
};

enum class SwapOutcome : uint8_t {
  kPublished,  ///< Readers from now on see the new version.
  kLost,       ///< Another writer published first. Reload, rebase, swap again.
};

/// Reads and swaps the pointer of one table. Publishing is this class's whole job, and nothing
/// else in infino may write to the pointer's path. Thread-safe; blocks in Wait.
///
/// Invariant: every object reachable from `next` is durable before Swap is called. Commit
/// establishes it and Swap cannot check it, so the simulator does, on every swap.
class PointerStore {
 public:
  struct Options {
    std::shared_ptr<Clock> clock;
    std::shared_ptr<Random> random;
    int64_t timeout_ms = 60'000;  ///< How long an unanswered swap is repeated.
  };

  /// `path` is the pointer's object, `folder` the table's.
  PointerStore(std::shared_ptr<ObjectStore> store, std::string folder, Options options);

  /// Reads the current pointer. Fails with kNotFound if there is none or it is marked dropped.
  [[nodiscard]] arrow::Result<PinnedPointer> Load(const StopCondition& stop) const;

  /// Load, or nothing if it still is `known`.
  [[nodiscard]] arrow::Result<std::optional<PinnedPointer>> LoadIfChanged(
      const ObjectVersion& known, const StopCondition& stop) const;

  /// Publishes `next` if the pointer still is `previous` (null: if there is none yet).
  ///
  /// When the store does not answer, and also when it says the precondition failed (which may be
  /// the echo of an earlier try of ours), this reads the pointer back and looks for next's newest
  /// commit among its recent ones, else along the parent chain: there means kPublished; pointer
  /// moved without it, kLost; pointer unmoved: the put may still land, so the same bytes go out
  /// again with the same condition, until an answer or the deadline. Then kCommitUnknown, and the
  /// caller leaves every staged object where it is. On kPublished `next_version` (may
  /// be null) is what `next` became in the store, or empty: another commit is on top already.
  [[nodiscard]] arrow::Result<SwapOutcome> Swap(const PinnedPointer* previous, const Pointer& next,
                                                ObjectVersion* next_version) const;

 private:
  std::shared_ptr<ObjectStore> store_;
  std::string folder_;
  Options options_;
};

}  // namespace infino
