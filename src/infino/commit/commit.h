#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "infino/commit/table_writer.h"
#include "infino/manifest/manifest_change.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/snapshot.h"

namespace infino {

/// The table a commit goes to. Borrowed: all of it outlives the commit.
struct CommitTarget {
  std::string folder;
  SnapshotLoader* loader = nullptr;
  const PointerStore* pointer = nullptr;
};

/// A change, and the superfiles it adds.
struct CommitRequest {
  ManifestChange change;

  /// The added superfiles whose bytes are not in the store yet; they go out together with the
  /// manifest. Paths are full ones.
  std::vector<StagedObject> unstaged;

  /// All added superfiles, those in `unstaged` included.
  std::vector<WrittenSuperfile> written;

  /// Fits the change to the version it is applied to, before each try; false: there is nothing to
  /// do any more, and nothing is published. Null: the change fits every version.
  std::function<arrow::Result<bool>(const Snapshot& base, ManifestChange* change)> adapt = nullptr;

  /// When the first superfile of the change may have been staged, by Clock::Monotonic. A commit
  /// that got too old for its objects to be safe from garbage collection gives up.
  std::chrono::nanoseconds started{};
};

/// Publishes `request` as one version and returns that version's number: applies the change to the
/// newest version, stages what is left, verifies, swaps; after a lost swap does so again on the new
/// version, sending superfiles only once, with growing random pauses until
/// WriterEnvironment::commit_timeout_ms. The loader then has the new version. A change that its
/// `adapt` finds made already publishes nothing; the number is that of the version it was found in.
///
/// Fails with kConflict when the time is up or the change doesn't fit any more, kNotFound once the
/// table is dropped, kCommitUnknown when the store never answered the swap; kCancelled only while
/// nothing is published. Added superfiles are deleted again if they are certainly in no version;
/// when that is not certain nothing is touched. Blocks in Wait.
[[nodiscard]] arrow::Result<uint64_t> CommitChange(const WriterEnvironment& environment,
                                                   const CommitTarget& target,
                                                   CommitRequest request,
                                                   const StopCondition& stop);

}  // namespace infino
