#include "infino/storage/local_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/clock.h"
#include "infino/common/content_hash.h"
#include "infino/common/failpoint.h"
#include "infino/error.h"
#include "infino/storage/file_lock.h"
#include "infino/storage/local_files.h"
#include "infino/storage/object_path.h"
#include "infino/storage/object_store.h"

namespace infino::internal {
namespace {

/// A swap holds the lock for two syncs. Who keeps it this long is stopped or hangs.
constexpr int64_t kLockTimeoutMs = 10'000;

/// A writer and a remover of one folder can starve each other; this ends it.
constexpr int kPutTriesMax = 100;

ByteSpan SpanOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

ObjectVersion VersionOf(const arrow::Buffer& bytes) {
  return ObjectVersion{.token = Blake3(SpanOf(bytes)).ToHex()};
}

arrow::Result<OpenFile> OpenObject(const std::string& file) {
  arrow::Result<OpenFile> opened = OpenFile::Open(file, O_RDONLY);
  // A segment of the path is an object, so there is none under it.
  if (IsError(opened.status(), ErrorKind::kInvalidArgument)) {
    return MakeError(ErrorKind::kNotFound, "no object at " + file);
  }
  return opened;
}

/// Whether a listing shows a file of this name.
bool IsObjectName(std::string_view name) {
  return name != kLockFileName && !name.starts_with(kTemporaryPrefix);
}

/// Calls `visit(file, path, status)` for every regular file under the folder `root`/`start` whose
/// path starts with `prefix`. What vanishes meanwhile is skipped.
template <typename Visit>
arrow::Status Walk(const std::string& root, std::string_view prefix, const Visit& visit) {
  std::vector<std::string> folders{std::string(FolderOf(prefix))};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    const std::string file = folder.empty() ? root : root + "/" + folder;
    std::error_code error;
    std::filesystem::directory_iterator entry(file, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      std::string path = folder.empty() ? name : folder + "/" + name;
      struct stat status{};
      if (!path.starts_with(prefix) || lstat(entry->path().c_str(), &status) != 0) continue;
      if (S_ISREG(status.st_mode))
        visit(entry->path().string(), std::move(path), status);
      else if (S_ISDIR(status.st_mode))
        folders.push_back(std::move(path));
    }
    if (error && error.value() != ENOENT && error.value() != ENOTDIR) {
      return ErrnoError(error.value(), "list", file);
    }
  }
  return arrow::Status::OK();
}

/// Whether `folder` holds the lock file and nothing else.
bool HasOnlyLockFile(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  bool has_lock = false;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename() != std::filesystem::path(kLockFileName)) return false;
    has_lock = true;
  }
  return !error && has_lock;
}

}  // namespace

bool VersionMemory::Knows(const std::string& path, const FileStamp& stamp,
                          const ObjectVersion& version) {
  const std::lock_guard lock(mutex_);
  const auto found = versions_.find(path);
  return found != versions_.end() && found->second.stamp == stamp &&
         found->second.version == version;
}

void VersionMemory::Remember(const std::string& path, const FileStamp& stamp,
                             const ObjectVersion& version, int64_t read_at_ms) {
  constexpr int64_t kSettledNs = 100'000'000;
  const int64_t newest_ns = std::max(stamp.modified_ns, stamp.changed_ns);
  if (newest_ns > read_at_ms * 1'000'000 - kSettledNs) return;
  const std::lock_guard lock(mutex_);
  if (versions_.size() >= kEntriesMax) versions_.clear();
  versions_.insert_or_assign(path, Entry{.stamp = stamp, .version = version});
}

arrow::Result<VersionedBytes> LocalFolder::Get(std::string_view path) {
  ARROW_RETURN_NOT_OK(CheckObjectPath(path));
  const std::string file = FileOf(path);
  const int64_t now_ms = SystemClock()->UnixMs();
  ARROW_ASSIGN_OR_RAISE(const OpenFile opened, OpenObject(file));
  ARROW_ASSIGN_OR_RAISE(const FileStamp stamp, StampOf(opened, file));
  VersionedBytes read;
  ARROW_ASSIGN_OR_RAISE(read.bytes, ReadAt(opened, file, {.offset = 0, .length = stamp.size}));
  read.version = VersionOf(*read.bytes);
  versions_.Remember(file, stamp, read.version, now_ms);
  return read;
}

arrow::Result<std::optional<VersionedBytes>> LocalFolder::GetIfChanged(std::string_view path,
                                                                       const ObjectVersion& known) {
  ARROW_RETURN_NOT_OK(CheckObjectPath(path));
  const std::string file = FileOf(path);
  ARROW_ASSIGN_OR_RAISE(const FileStamp stamp, StampOf(file));
  if (versions_.Knows(file, stamp, known)) return std::optional<VersionedBytes>();
  ARROW_ASSIGN_OR_RAISE(VersionedBytes now, Get(path));
  if (now.version == known) return std::optional<VersionedBytes>();
  return std::optional<VersionedBytes>(std::move(now));
}

arrow::Result<std::shared_ptr<arrow::Buffer>> LocalFolder::GetRange(std::string_view path,
                                                                    ByteRange range) {
  ARROW_RETURN_NOT_OK(CheckObjectPath(path));
  const std::string file = FileOf(path);
  ARROW_ASSIGN_OR_RAISE(const OpenFile opened, OpenObject(file));
  ARROW_ASSIGN_OR_RAISE(const FileStamp stamp, StampOf(opened, file));
  ARROW_RETURN_NOT_OK(CheckRange(path, range, stamp.size));
  return ReadAt(opened, file, range);
}

arrow::Result<ObjectInfo> LocalFolder::Head(std::string_view path) {
  ARROW_RETURN_NOT_OK(CheckObjectPath(path));
  ARROW_ASSIGN_OR_RAISE(const FileStamp stamp, StampOf(FileOf(path)));
  return ObjectInfo{.path = std::string(path),
                    .size = stamp.size,
                    .modified_ms = stamp.modified_ns / 1'000'000,
                    .version = {}};
}

template <typename Make>
arrow::Result<TemporaryFile> LocalFolder::MakeInFolder(std::string_view path,
                                                       std::set<std::string>* unsynced,
                                                       const Make& make) {
  const std::string folder = FileOf(FolderOf(path));
  for (int tries = 0;; ++tries) {
    arrow::Result<TemporaryFile> made = make(folder);
    // No folder: either there never was one, or a Delete has just removed it.
    if (!IsError(made.status(), ErrorKind::kNotFound)) return made;
    if (tries >= kPutTriesMax) {
      return MakeError(ErrorKind::kUnavailable,
                       "cannot create " + FileOf(path) + ": its folder is removed again and again");
    }
    ARROW_RETURN_NOT_OK(MakeFolders(folder, unsynced));
  }
}

arrow::Result<PutOutcome> LocalFolder::Create(std::string_view path, const arrow::Buffer& bytes,
                                              std::set<std::string>* unsynced) {
  ARROW_RETURN_NOT_OK(CheckObjectPath(path));
  const auto write = [&](const std::string& folder) {
    return TemporaryFile::Write(folder, SpanOf(bytes));
  };
  ARROW_ASSIGN_OR_RAISE(TemporaryFile temporary, MakeInFolder(path, unsynced, write));
  CountSyncs(1);
  return Name(path, temporary, unsynced);
}

arrow::Result<TemporaryFile> LocalFolder::MakeTemporary(std::string_view path, OpenFile* file,
                                                        std::set<std::string>* unsynced) {
  ARROW_RETURN_NOT_OK(CheckObjectPath(path));
  return MakeInFolder(path, unsynced,
                      [&](const std::string& folder) { return TemporaryFile::Make(folder, file); });
}

arrow::Status LocalFolder::Sync(const OpenFile& file, const TemporaryFile& temporary) {
  CountSyncs(1);
  return SyncFile(file, temporary.path());
}

arrow::Result<PutOutcome> LocalFolder::Name(std::string_view path, TemporaryFile& temporary,
                                            std::set<std::string>* unsynced) {
  INFINO_FAILPOINT("local_store.temporary_synced");
  ARROW_ASSIGN_OR_RAISE(const bool is_new, temporary.NameIfFree(FileOf(path)));
  INFINO_FAILPOINT("local_store.named");
  // Synced also if the object was there: its writer may not have come so far yet.
  unsynced->insert(FileOf(FolderOf(path)));
  return is_new ? PutOutcome::kWritten : PutOutcome::kPreconditionFailed;
}

arrow::Status LocalFolder::SyncFolders(const std::set<std::string>& folders) {
  for (const std::string& folder : folders) {
    CountSyncs(1);
    ARROW_RETURN_NOT_OK(internal::SyncFolder(folder));
  }
  return arrow::Status::OK();
}

arrow::Result<PutResult> LocalFolder::PutIfAbsent(std::string_view path,
                                                  const arrow::Buffer& bytes) {
  std::set<std::string> unsynced;
  ARROW_ASSIGN_OR_RAISE(const PutOutcome outcome, Create(path, bytes, &unsynced));
  ARROW_RETURN_NOT_OK(SyncFolders(unsynced));
  if (outcome != PutOutcome::kWritten) return PutResult{.outcome = outcome, .version = {}};
  return PutResult{.outcome = outcome, .version = VersionOf(bytes)};
}

arrow::Result<PutResult> LocalFolder::PutIfMatch(std::string_view path, const arrow::Buffer& bytes,
                                                 const ObjectVersion& expected) {
  ARROW_RETURN_NOT_OK(CheckObjectPath(path));
  // Asked before the lock, which would leave its file behind where there is nothing to swap.
  arrow::Status there = StampOf(FileOf(path)).status();
  if (there.ok()) {
    arrow::Result<PutResult> swapped = SwapLocked(path, bytes, expected);
    there = swapped.status();
    if (!IsError(there, ErrorKind::kNotFound)) return swapped;
    RemoveEmptyFolders(FolderOf(path));
  }
  if (!IsError(there, ErrorKind::kNotFound)) return there;
  return PutResult{.outcome = PutOutcome::kPreconditionFailed, .version = {}};
}

arrow::Result<PutResult> LocalFolder::SwapLocked(std::string_view path, const arrow::Buffer& bytes,
                                                 const ObjectVersion& expected) {
  const std::string folder = FileOf(FolderOf(path));
  const std::string lock_file = folder + "/" + std::string(kLockFileName);
  ARROW_ASSIGN_OR_RAISE(const FileLock lock, FileLock::Acquire(lock_file, kLockTimeoutMs));
  ARROW_ASSIGN_OR_RAISE(const VersionedBytes now, Get(path));
  if (now.version != expected) {
    return PutResult{.outcome = PutOutcome::kPreconditionFailed, .version = {}};
  }
  ARROW_ASSIGN_OR_RAISE(TemporaryFile temporary, TemporaryFile::Write(folder, SpanOf(bytes)));
  CountSyncs(1);
  INFINO_FAILPOINT("local_store.swap_synced");
  ARROW_ASSIGN_OR_RAISE(const bool replaced, temporary.Replace(FileOf(path)));
  if (!replaced) return PutResult{.outcome = PutOutcome::kPreconditionFailed, .version = {}};
  INFINO_FAILPOINT("local_store.swapped");
  ARROW_RETURN_NOT_OK(SyncFolders({folder}));
  return PutResult{.outcome = PutOutcome::kWritten, .version = VersionOf(bytes)};
}

arrow::Result<std::vector<ObjectInfo>> LocalFolder::List(std::string_view prefix) {
  ARROW_RETURN_NOT_OK(CheckListPrefix(prefix));
  std::vector<ObjectInfo> infos;
  const auto add = [&](const std::string& /*file*/, std::string path, const struct stat& status) {
    const size_t slash = path.rfind('/');
    if (!IsObjectName(slash == std::string::npos ? path : path.substr(slash + 1))) return;
    const FileStamp stamp = FileStamp::From(status);
    infos.push_back(ObjectInfo{.path = std::move(path),
                               .size = stamp.size,
                               .modified_ms = stamp.modified_ns / 1'000'000,
                               .version = {}});
  };
  ARROW_RETURN_NOT_OK(Walk(root_, prefix, add));
  std::ranges::sort(infos, {}, &ObjectInfo::path);
  return infos;
}

arrow::Status LocalFolder::Delete(std::string_view path) {
  ARROW_RETURN_NOT_OK(CheckObjectPath(path));
  const std::string file = FileOf(path);
  if (unlink(file.c_str()) != 0) {
    const int error = errno;
    const bool is_absent = error == ENOENT || error == ENOTDIR || error == EISDIR;
    if (!is_absent) return ErrnoError(error, "delete", file);
  }
  RemoveEmptyFolders(FolderOf(path));
  return arrow::Status::OK();
}

void LocalFolder::RemoveEmptyFolders(std::string_view folder) {
  for (; !folder.empty(); folder = FolderOf(folder)) {
    if (!RemoveFolder(FileOf(folder))) return;
  }
}

bool LocalFolder::RemoveFolder(const std::string& folder) {
  if (rmdir(folder.c_str()) == 0 || errno == ENOENT) return true;
  if (!HasOnlyLockFile(folder)) return false;
  // The lock file goes under its own lock, so that no swap goes on believing in it.
  const std::string lock_file = folder + "/" + std::string(kLockFileName);
  const arrow::Result<FileLock> lock = FileLock::Acquire(lock_file, 0);
  if (!lock.ok() || !HasOnlyLockFile(folder)) return false;
  return unlink(lock_file.c_str()) == 0 && rmdir(folder.c_str()) == 0;
}

arrow::Status LocalFolder::Prepare() {
  std::set<std::string> parents;
  const arrow::Status made = MakeFolders(root_, &parents);
  if (!made.ok()) return made;
  struct stat status{};
  if (stat(root_.c_str(), &status) != 0) return ErrnoError(errno, "open", root_);
  if (!S_ISDIR(status.st_mode)) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "cannot create folder " + root_ + ": File exists and is not a folder");
  }
  return SyncFolders(parents);
}

arrow::Result<int64_t> LocalFolder::RemoveTemporaries(int64_t before_ms) {
  int64_t removed = 0;
  const auto remove = [&](const std::string& file, const std::string& path,
                          const struct stat& status) {
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (!name.starts_with(kTemporaryPrefix)) return;
    if (FileStamp::From(status).modified_ns / 1'000'000 >= before_ms) return;
    if (unlink(file.c_str()) == 0) ++removed;
  };
  ARROW_RETURN_NOT_OK(Walk(root_, "", remove));
  return removed;
}

}  // namespace infino::internal
