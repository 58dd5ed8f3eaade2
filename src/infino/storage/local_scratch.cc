#include "infino/storage/local_scratch.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/clock.h"
#include "infino/common/scratch.h"
#include "infino/error.h"
#include "infino/storage/local_files.h"

namespace infino {
namespace {

using internal::OpenFile;

constexpr mode_t kOnlyUser = 0600;

/// Linux transfers at most a little under 2 GiB in one call.
constexpr size_t kTransferBytes = size_t{1} << 30;

std::string NameOfFolder(const std::string& folder) {
  return "a temporary file in the scratch folder " + folder;
}

arrow::Status ScratchError(int error, std::string_view operation, const std::string& folder) {
  const arrow::Status status = internal::ErrnoError(error, operation, NameOfFolder(folder));
  // A folder that is not there is a wrong option, not a table that does not exist.
  if (!IsError(status, ErrorKind::kNotFound)) return status;
  return MakeError(ErrorKind::kInvalidArgument, status.message());
}

/// Opens a new file and takes its name away, where the file system has no files without one.
arrow::Result<OpenFile> OpenUnlinked(const std::string& folder) {
  static std::atomic<uint64_t> counter = 0;
  std::string path = folder + "/.infino-scratch-" + std::to_string(getpid()) + "-" +
                     std::to_string(counter.fetch_add(1)) + "-" +
                     std::to_string(SystemClock()->Monotonic().count());
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOnlyUser);
  if (descriptor < 0) return ScratchError(errno, "make", folder);
  OpenFile file(descriptor);
  if (unlink(path.c_str()) != 0) return ScratchError(errno, "unlink", folder);
  return file;
}

arrow::Result<OpenFile> OpenNameless(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kOnlyUser);
  if (descriptor >= 0) return OpenFile(descriptor);
  // What a file system, or a system, that knows no such files says.
  if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) return OpenUnlinked(folder);
  return ScratchError(errno, "make", folder);
}

class LocalScratchFile final : public ScratchFile {
 public:
  LocalScratchFile(OpenFile file, std::string folder)
      : file_(std::move(file)), folder_(std::move(folder)) {}

  arrow::Status Append(ByteSpan bytes) override {
    while (!bytes.empty()) {
      const ssize_t written =
          pwrite(file_.descriptor(), bytes.data(), std::min(bytes.size(), kTransferBytes), size_);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return ScratchError(errno, "write", folder_);
      size_ += written;
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return arrow::Status::OK();
  }

  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Buffer>> Read(ByteRange range) const override {
    return internal::ReadAt(file_, NameOfFolder(folder_), range);
  }

  [[nodiscard]] int64_t size() const override { return size_; }

 private:
  OpenFile file_;
  std::string folder_;
  int64_t size_ = 0;
};

class LocalScratch final : public ScratchSpace {
 public:
  explicit LocalScratch(std::optional<std::string> folder) : folder_(std::move(folder)) {}

  arrow::Result<std::unique_ptr<ScratchFile>> NewFile() override {
    std::string folder = folder_.value_or("");
    if (!folder_.has_value()) {
      std::error_code error;
      folder = std::filesystem::temp_directory_path(error).string();
      if (error) {
        return MakeError(
            ErrorKind::kInvalidArgument,
            "the system's folder for temporary files can't be used: " + error.message());
      }
    }
    ARROW_ASSIGN_OR_RAISE(OpenFile file, OpenNameless(folder));
    return std::make_unique<LocalScratchFile>(std::move(file), std::move(folder));
  }

 private:
  std::optional<std::string> folder_;
};

}  // namespace

std::shared_ptr<ScratchSpace> MakeLocalScratch(std::optional<std::string> folder) {
  return std::make_shared<LocalScratch>(std::move(folder));
}

}  // namespace infino
