#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <sys/stat.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"

namespace infino::internal {

/// The system calls of the local store: interrupted calls repeated, short reads and writes
/// continued, failures as statuses that name operation, path and reason. ENOENT is kNotFound, a
/// full disk kResourceExhausted, a name that cannot be kInvalidArgument, all else kUnavailable.

/// An open file, closed with its owner.
class OpenFile {
 public:
  OpenFile() = default;

  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}

  ~OpenFile();

  OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

  OpenFile& operator=(OpenFile&& other) noexcept;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] static arrow::Result<OpenFile> Open(const std::string& path, int flags);

  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

/// What tells one content of a path from another without reading it.
struct FileStamp {
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;

  [[nodiscard]] static FileStamp From(const struct stat& status);

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// The failure `error` (an errno) of `operation` on `path`.
[[nodiscard]] arrow::Status ErrnoError(int error, std::string_view operation,
                                       const std::string& path);

/// A regular file's status; a folder is kNotFound, for no object is there.
[[nodiscard]] arrow::Result<FileStamp> StampOf(const OpenFile& file, const std::string& path);
[[nodiscard]] arrow::Result<FileStamp> StampOf(const std::string& path);

/// Reads exactly `range`; kCorrupt if the file ends before.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(const OpenFile& file,
                                                                   const std::string& path,
                                                                   ByteRange range);

/// Writes all of `bytes` at `offset`.
[[nodiscard]] arrow::Status WriteAt(const OpenFile& file, const std::string& path, int64_t offset,
                                    ByteSpan bytes);

[[nodiscard]] arrow::Status SyncFile(const OpenFile& file, const std::string& path);

/// Syncs a folder. One that is gone needs no sync.
[[nodiscard]] arrow::Status SyncFolder(const std::string& path);

/// Creates the folder `path` and what is missing above it. Adds the folders that got a new entry to
/// `parents`: they have to be synced. Two processes may make and remove the same folders meanwhile.
[[nodiscard]] arrow::Status MakeFolders(const std::string& path, std::set<std::string>* parents);

/// A synced file under a temporary name, which is removed with its owner unless it got a real one.
class TemporaryFile {
 public:
  ~TemporaryFile();

  TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}

  TemporaryFile& operator=(TemporaryFile&&) = delete;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Makes an empty file in `folder`, for which `*file` is open; it is for the caller to write and
  /// sync it. kNotFound if there is no such folder.
  [[nodiscard]] static arrow::Result<TemporaryFile> Make(const std::string& folder, OpenFile* file);

  /// Writes `bytes` to a new file in `folder` and syncs it; kNotFound if there is no such folder.
  [[nodiscard]] static arrow::Result<TemporaryFile> Write(const std::string& folder,
                                                          ByteSpan bytes);

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Gives the file the name `target` if nothing has it; else returns false.
  [[nodiscard]] arrow::Result<bool> NameIfFree(const std::string& target);

  /// Puts the file in the place of `target`; returns false if nothing is there to be replaced.
  [[nodiscard]] arrow::Result<bool> Replace(const std::string& target);

 private:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace infino::internal
