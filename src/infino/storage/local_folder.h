#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/storage/local_files.h"
#include "infino/storage/local_store.h"
#include "infino/storage/object_path.h"
#include "infino/storage/object_store.h"

namespace infino::internal {

/// Remembers which version a file's stamp stood for, so that asking again costs one stat.
///
/// The kernel stamps files by a clock of some milliseconds, so a file may change again within the
/// same tick and keep its stamp. A stamp is believed only if it was older than 100 ms when the file
/// was read: then any later change gets another one.
class VersionMemory {
 public:
  [[nodiscard]] bool Knows(const std::string& path, const FileStamp& stamp,
                           const ObjectVersion& version);

  /// REQUIRES: `read_at_ms` is the wall time before the file was read.
  void Remember(const std::string& path, const FileStamp& stamp, const ObjectVersion& version,
                int64_t read_at_ms);

 private:
  static constexpr size_t kEntriesMax = 1024;

  struct Entry {
    FileStamp stamp;
    ObjectVersion version;
  };

  std::mutex mutex_;
  std::unordered_map<std::string, Entry> versions_;
};

/// The work of the store, all of it blocking. Shared with the tasks on its threads, which may
/// outlive the store itself.
class LocalFolder {
 public:
  LocalFolder(std::string root, std::shared_ptr<LocalStoreCounters> counters)
      : root_(std::move(root)), counters_(std::move(counters)) {}

  [[nodiscard]] std::string FileOf(std::string_view path) const {
    return path.empty() ? root_ : root_ + "/" + std::string(path);
  }

  /// Makes the root.
  [[nodiscard]] arrow::Status Prepare();

  [[nodiscard]] arrow::Result<VersionedBytes> Get(std::string_view path);
  [[nodiscard]] arrow::Result<std::optional<VersionedBytes>> GetIfChanged(
      std::string_view path, const ObjectVersion& known);
  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Buffer>> GetRange(std::string_view path,
                                                                       ByteRange range);
  [[nodiscard]] arrow::Result<ObjectInfo> Head(std::string_view path);
  [[nodiscard]] arrow::Result<PutResult> PutIfAbsent(std::string_view path,
                                                     const arrow::Buffer& bytes);
  [[nodiscard]] arrow::Result<PutResult> PutIfMatch(std::string_view path,
                                                    const arrow::Buffer& bytes,
                                                    const ObjectVersion& expected);
  [[nodiscard]] arrow::Result<std::vector<ObjectInfo>> List(std::string_view prefix);
  [[nodiscard]] arrow::Status Delete(std::string_view path);

  /// Writes, syncs and names one object. The folders in `unsynced`, to which it adds, must be
  /// synced before the object counts as durable.
  [[nodiscard]] arrow::Result<PutOutcome> Create(std::string_view path, const arrow::Buffer& bytes,
                                                 std::set<std::string>* unsynced);
  [[nodiscard]] arrow::Status SyncFolders(const std::set<std::string>& folders);

  /// Create in steps: an empty temporary file to be written and synced, its name, and what is left
  /// to do if it gets none.
  [[nodiscard]] arrow::Result<TemporaryFile> MakeTemporary(std::string_view path, OpenFile* file,
                                                           std::set<std::string>* unsynced);
  [[nodiscard]] arrow::Result<PutOutcome> Name(std::string_view path, TemporaryFile& temporary,
                                               std::set<std::string>* unsynced);

  void RemoveFoldersOf(std::string_view path) { RemoveEmptyFolders(FolderOf(path)); }

  /// Syncs what MakeTemporary made.
  [[nodiscard]] arrow::Status Sync(const OpenFile& file, const TemporaryFile& temporary);

  /// Deletes temporary files last written before `before_ms`, and counts them.
  [[nodiscard]] arrow::Result<int64_t> RemoveTemporaries(int64_t before_ms);

 private:
  /// What `make` makes in the folder of `path`, which is there.
  template <typename Make>
  [[nodiscard]] arrow::Result<TemporaryFile> MakeInFolder(std::string_view path,
                                                          std::set<std::string>* unsynced,
                                                          const Make& make);
  [[nodiscard]] arrow::Result<PutResult> SwapLocked(std::string_view path,
                                                    const arrow::Buffer& bytes,
                                                    const ObjectVersion& expected);
  void RemoveEmptyFolders(std::string_view folder);
  static bool RemoveFolder(const std::string& folder);

  void CountSyncs(int64_t count) {
    if (counters_ != nullptr) counters_->fsync_count += count;
  }

  const std::string root_;
  const std::shared_ptr<LocalStoreCounters> counters_;
  VersionMemory versions_;
};

}  // namespace infino::internal
