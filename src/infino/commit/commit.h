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

/// What a change is on a version that it was not made for.
enum class Fit : uint8_t {
  kFits,         ///< It can be made.
  kNothingLeft,  ///< Others have done all of it: there is nothing to publish.
  kStartOver,    ///< It was made of rows that are other ones now.
};

/// A change, and the superfiles it adds.
struct CommitRequest {
  ManifestChange change;

  /// Fits the change to the version that it is about to be tried on: called before every try, also
  /// the first, for a change that depends on the rows or the schema there are. Null: it fits any
  /// version.
  std::function<arrow::Result<Fit>(const std::shared_ptr<const Snapshot>& base,
                                   ManifestChange& change)>
      fit = nullptr;

  /// The added superfiles whose bytes are not in the store yet; they go out together with the
  /// manifest. Paths are full ones.
  std::vector<StagedObject> unstaged;

  /// All added superfiles, those in `unstaged` included.
  std::vector<WrittenSuperfile> written;

  /// When the first superfile of the change may have been staged, by Clock::Monotonic. A commit
  /// that got too old for its objects to be safe from garbage collection gives up.
  std::chrono::nanoseconds started{};
};

/// How a commit ended.
struct CommitOutcome {
  Fit fit = Fit::kFits;
  uint64_t version = 0;  ///< The one it published; else the one that the change didn't fit.
};

/// Publishes `request` as one version: fits the change to the newest version and applies it, stages
/// what is left, verifies, swaps; after a lost swap does so again on the new version, sending
/// superfiles only once, with growing random pauses until WriterEnvironment::commit_timeout_ms. The
/// loader then has the new version. Ends without one when the change doesn't fit.
///
/// Fails with kConflict when the time is up or the change doesn't fit any more, kNotFound once the
/// table is dropped, kCommitUnknown when the store never answered the swap; kCancelled only while
/// nothing is published. Added superfiles are deleted again if they are certainly in no version;
/// when that is not certain nothing is touched. Blocks in Wait.
[[nodiscard]] arrow::Result<CommitOutcome> CommitChange(const WriterEnvironment& environment,
                                                        const CommitTarget& target,
                                                        CommitRequest request,
                                                        const StopCondition& stop);

}  // namespace infino
