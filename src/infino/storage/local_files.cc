#include "infino/storage/local_files.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
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
#include <sys/types.h>
#include <unistd.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/clock.h"
#include "infino/error.h"
#include "infino/storage/object_path.h"

namespace infino::internal {
namespace {

/// Linux transfers at most a little under 2 GiB in one call.
constexpr int64_t kTransferBytes = int64_t{1} << 30;

/// Makers and removers of one folder can starve each other; this ends it.
constexpr int kFolderTriesMax = 100;

template <typename Call>
auto RepeatInterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

ErrorKind KindOfErrno(int error) {
  switch (error) {
    case ENOENT:
      return ErrorKind::kNotFound;
    case ENOSPC:
    case EDQUOT:
      return ErrorKind::kResourceExhausted;
    case ENAMETOOLONG:
    case ENOTDIR:
      return ErrorKind::kInvalidArgument;
    default:
      return ErrorKind::kUnavailable;
  }
}

arrow::Status NoObject(const std::string& path) {
  return MakeError(ErrorKind::kNotFound, "no object at " + path);
}

arrow::Result<FileStamp> StampOfObject(const struct stat& status, const std::string& path) {
  if (!S_ISREG(status.st_mode)) return NoObject(path);
  return FileStamp::From(status);
}

int64_t ToNanoseconds(const struct timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// A name that no other writer uses now. Left-overs of earlier processes may have it.
std::string TemporaryName() {
  static std::atomic<uint64_t> counter = 0;
  return std::string(kTemporaryPrefix) + std::to_string(getpid()) + "-" +
         std::to_string(counter.fetch_add(1)) + "-" +
         std::to_string(SystemClock()->Monotonic().count());
}

/// Whether a failed renameat2 means that the file system lacks the flag.
bool LacksRenameFlag(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

enum class MadeFolder : uint8_t { kMade, kWasThere, kParentMissing };

arrow::Result<MadeFolder> MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0) return MadeFolder::kMade;
  if (errno == EEXIST) return MadeFolder::kWasThere;
  if (errno == ENOENT) return MadeFolder::kParentMissing;
  return ErrnoError(errno, "create folder", path);
}

}  // namespace

arrow::Status ErrnoError(int error, std::string_view operation, const std::string& path) {
  return MakeError(KindOfErrno(error), "cannot " + std::string(operation) + " " + path + ": " +
                                           std::generic_category().message(error));
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

arrow::Result<OpenFile> OpenFile::Open(const std::string& path, int flags) {
  constexpr mode_t kMode = 0666;
  const int descriptor =
      RepeatInterrupted([&] { return open(path.c_str(), flags | O_CLOEXEC, kMode); });
  if (descriptor < 0) return ErrnoError(errno, "open", path);
  return OpenFile(descriptor);
}

FileStamp FileStamp::From(const struct stat& status) {
  return FileStamp{.inode = status.st_ino,
                   .size = status.st_size,
                   .modified_ns = ToNanoseconds(status.st_mtim),
                   .changed_ns = ToNanoseconds(status.st_ctim)};
}

arrow::Result<FileStamp> StampOf(const OpenFile& file, const std::string& path) {
  struct stat status{};
  if (fstat(file.descriptor(), &status) != 0) return ErrnoError(errno, "look up", path);
  return StampOfObject(status, path);
}

arrow::Result<FileStamp> StampOf(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) == 0) return StampOfObject(status, path);
  if (errno == ENOTDIR) return NoObject(path);
  return ErrnoError(errno, "look up", path);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(const OpenFile& file, const std::string& path,
                                                     ByteRange range) {
  arrow::Result<std::unique_ptr<arrow::Buffer>> buffer = arrow::AllocateBuffer(range.length);
  if (!buffer.ok()) return FromForeign(buffer.status(), "cannot read " + path);
  uint8_t* const data = (*buffer)->mutable_data();
  int64_t done = 0;
  while (done < range.length) {
    const auto wanted = static_cast<size_t>(std::min(range.length - done, kTransferBytes));
    const ssize_t got = RepeatInterrupted(
        [&] { return pread(file.descriptor(), data + done, wanted, range.offset + done); });
    if (got < 0) return ErrnoError(errno, "read", path);
    if (got == 0) return CheckRange(path, range, range.offset + done);
    done += got;
  }
  return std::shared_ptr<arrow::Buffer>(*std::move(buffer));
}

arrow::Status WriteAt(const OpenFile& file, const std::string& path, int64_t offset,
                      ByteSpan bytes) {
  while (!bytes.empty()) {
    const size_t wanted = std::min(bytes.size(), static_cast<size_t>(kTransferBytes));
    const ssize_t written =
        RepeatInterrupted([&] { return pwrite(file.descriptor(), bytes.data(), wanted, offset); });
    if (written < 0) return ErrnoError(errno, "write", path);
    offset += written;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return arrow::Status::OK();
}

arrow::Status SyncFile(const OpenFile& file, const std::string& path) {
  if (RepeatInterrupted([&] { return fsync(file.descriptor()); }) == 0) return arrow::Status::OK();
  return ErrnoError(errno, "sync", path);
}

arrow::Status SyncFolder(const std::string& path) {
  arrow::Result<OpenFile> folder = OpenFile::Open(path, O_RDONLY | O_DIRECTORY);
  if (IsError(folder.status(), ErrorKind::kNotFound)) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(folder.status());
  return SyncFile(*folder, path);
}

arrow::Status MakeFolders(const std::string& path, std::set<std::string>* parents) {
  std::vector<std::string> missing{path};
  for (int tries = 0; !missing.empty(); ++tries) {
    const std::string folder = missing.back();
    const std::string parent(FolderOf(folder));
    ARROW_ASSIGN_OR_RAISE(const MadeFolder made, MakeFolder(folder));
    if (made == MadeFolder::kParentMissing) {
      if (parent.empty() || tries > kFolderTriesMax) {
        return ErrnoError(ENOENT, "create folder", folder);
      }
      missing.push_back(parent);
      continue;
    }
    if (made == MadeFolder::kMade) parents->insert(parent.empty() ? "/" : parent);
    missing.pop_back();
  }
  return arrow::Status::OK();
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

arrow::Result<TemporaryFile> TemporaryFile::Make(const std::string& folder, OpenFile* file) {
  std::string path = folder + "/" + TemporaryName();
  ARROW_ASSIGN_OR_RAISE(*file, OpenFile::Open(path, O_WRONLY | O_CREAT | O_EXCL));
  return TemporaryFile(std::move(path));
}

arrow::Result<TemporaryFile> TemporaryFile::Write(const std::string& folder, ByteSpan bytes) {
  OpenFile file;
  ARROW_ASSIGN_OR_RAISE(TemporaryFile temporary, Make(folder, &file));
  ARROW_RETURN_NOT_OK(WriteAt(file, temporary.path_, 0, bytes));
  ARROW_RETURN_NOT_OK(SyncFile(file, temporary.path_));
  return temporary;
}

arrow::Result<bool> TemporaryFile::NameIfFree(const std::string& target) {
  if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) {
    path_.clear();
    return true;
  }
  if (errno == EEXIST) return false;
  if (!LacksRenameFlag(errno)) return ErrnoError(errno, "create", target);
  // A hard link is as atomic; the destructor takes the temporary name away.
  if (link(path_.c_str(), target.c_str()) == 0) return true;
  if (errno == EEXIST) return false;
  return ErrnoError(errno, "create", target);
}

arrow::Result<bool> TemporaryFile::Replace(const std::string& target) {
  // An exchange, unlike a rename, notices that the target was deleted meanwhile. Afterwards the
  // temporary name holds the old object, which the destructor removes.
  if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
    return true;
  }
  if (errno == ENOENT) return false;
  if (!LacksRenameFlag(errno)) return ErrnoError(errno, "replace", target);
  if (rename(path_.c_str(), target.c_str()) != 0) return ErrnoError(errno, "replace", target);
  path_.clear();
  return true;
}

}  // namespace infino::internal
