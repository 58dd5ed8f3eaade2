#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <arrow/result.h>

#include "infino/storage/object_store.h"

namespace infino {

/// What a local store asked of the disk. Only ever grows.
struct LocalStoreCounters {
  std::atomic<int64_t> fsync_count = 0;  ///< Of files and of folders.
};

struct LocalStoreOptions {
  /// Counted into if set.
  std::shared_ptr<LocalStoreCounters> counters;

  /// Threads for writes and large reads. They start with the first one.
  int io_thread_count = 4;
};

/// Opens an ObjectStore whose objects are the files under the folder `root`, which is created if
/// absent. A relative `root` is resolved once, here. kInvalidArgument if something else than a
/// folder is in the way.
///
/// Paths are file names byte for byte: nothing is decoded or escaped. A write goes to a temporary
/// file (".tmp-…") in the object's folder, is synced, and gets its name by an atomic rename; the
/// folder is synced last. So an object is there whole or not at all, also after a power cut, and
/// several processes may share the folder. A killed writer leaves at most temporary files, which
/// are not listed; RemoveStaleTemporaries clears them.
///
/// PutIfMatch compares and swaps under an advisory lock on the file ".lock" in the object's folder,
/// so the swap is only as good as flock on that file system: local ones, and NFS from version 4. An
/// object's version is its content hash.
///
/// Small reads run on the caller's thread and give a finished future, as a pread from the page
/// cache costs less than a change of threads. Writes and reads of more than 1 MiB run on threads of
/// the store. Deleting the last object of a folder removes the folder.
[[nodiscard]] arrow::Result<std::shared_ptr<ObjectStore>> OpenLocalStore(
    std::string root, LocalStoreOptions options = {});

/// Deletes temporary files under `root` that were last written more than `older_than_ms` ago, and
/// returns how many. REQUIRES: no write takes that long.
[[nodiscard]] arrow::Result<int64_t> RemoveStaleTemporaries(const std::string& root,
                                                            int64_t older_than_ms);

}  // namespace infino
