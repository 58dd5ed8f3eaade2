#include "infino/storage/local_upload.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/error.h"
#include "infino/storage/io_pool.h"
#include "infino/storage/local_files.h"
#include "infino/storage/local_folder.h"
#include "infino/storage/object_store.h"
#include "infino/storage/sent_parts.h"

namespace infino::internal {
namespace {

/// What an upload's tasks work on.
class UploadFile {
 public:
  static arrow::Result<std::shared_ptr<UploadFile>> Make(std::shared_ptr<LocalFolder> folder,
                                                         std::string path) {
    OpenFile file;
    std::set<std::string> unsynced;
    ARROW_ASSIGN_OR_RAISE(TemporaryFile temporary, folder->MakeTemporary(path, &file, &unsynced));
    auto made = std::make_shared<UploadFile>(std::move(folder), std::move(path));
    made->file_ = std::move(file);
    made->temporary_.emplace(std::move(temporary));
    made->unsynced_ = std::move(unsynced);
    return made;
  }

  UploadFile(std::shared_ptr<LocalFolder> folder, std::string path)
      : folder_(std::move(folder)), path_(std::move(path)), sent_(path_) {}

  ~UploadFile() { static_cast<void>(Remove().ok()); }

  UploadFile(const UploadFile&) = delete;
  UploadFile& operator=(const UploadFile&) = delete;

  arrow::Status Put(int64_t number, const arrow::Buffer& bytes) {
    ARROW_RETURN_NOT_OK(sent_.Check(number, bytes.size()));
    if (!temporary_.has_value()) return Ended();
    ARROW_RETURN_NOT_OK(WriteAt(file_, temporary_->path(), number * kUploadPartBytes,
                                {bytes.data(), static_cast<size_t>(bytes.size())}));
    sent_.Add(number, bytes.size());
    return arrow::Status::OK();
  }

  arrow::Result<PutOutcome> Complete(int64_t part_count) {
    if (!outcome_.has_value()) {
      if (!temporary_.has_value()) return Ended();
      ARROW_RETURN_NOT_OK(sent_.CheckAll(part_count));
      ARROW_RETURN_NOT_OK(folder_->Sync(file_, *temporary_));
      ARROW_ASSIGN_OR_RAISE(outcome_, folder_->Name(path_, *temporary_, &unsynced_));
      temporary_.reset();
    }
    // Again if it failed before.
    ARROW_RETURN_NOT_OK(folder_->SyncFolders(unsynced_));
    return *outcome_;
  }

  arrow::Status Remove() {
    if (!temporary_.has_value()) return arrow::Status::OK();
    temporary_.reset();
    folder_->RemoveFoldersOf(path_);
    return arrow::Status::OK();
  }

 private:
  [[nodiscard]] arrow::Status Ended() const {
    return MakeError(ErrorKind::kInvalidArgument, "upload " + path_ + ": it was given up before");
  }

  const std::shared_ptr<LocalFolder> folder_;
  const std::string path_;
  SentParts sent_;
  OpenFile file_;
  std::optional<TemporaryFile> temporary_;  ///< Nothing once it is named or removed.
  std::set<std::string> unsynced_;
  std::optional<PutOutcome> outcome_;
};

class LocalUpload final : public ObjectUpload {
 public:
  LocalUpload(std::shared_ptr<UploadFile> file, std::shared_ptr<IoPool> pool)
      : file_(std::move(file)), pool_(std::move(pool)) {}

  arrow::Future<> PutPart(int64_t number, std::shared_ptr<arrow::Buffer> bytes) override {
    return pool_->Submit<arrow::internal::Empty>(
        [file = file_, number, bytes = std::move(bytes)] { return file->Put(number, *bytes); });
  }

  arrow::Future<PutOutcome> Complete(int64_t part_count) override {
    return pool_->Submit<PutOutcome>(
        [file = file_, part_count] { return file->Complete(part_count); });
  }

  arrow::Future<> Abort() override {
    return pool_->Submit<arrow::internal::Empty>([file = file_] { return file->Remove(); });
  }

 private:
  const std::shared_ptr<UploadFile> file_;
  const std::shared_ptr<IoPool> pool_;
};

}  // namespace

arrow::Future<std::shared_ptr<ObjectUpload>> BeginLocalUpload(
    const std::shared_ptr<LocalFolder>& folder, const std::shared_ptr<IoPool>& pool,
    std::string_view path) {
  return pool->Submit<std::shared_ptr<ObjectUpload>>(
      [folder, weak = std::weak_ptr(pool),
       path = std::string(path)]() -> arrow::Result<std::shared_ptr<ObjectUpload>> {
        ARROW_ASSIGN_OR_RAISE(std::shared_ptr<UploadFile> file, UploadFile::Make(folder, path));
        std::shared_ptr<IoPool> alive = weak.lock();
        if (alive == nullptr) {
          return MakeError(ErrorKind::kCancelled, "upload " + path + ": the store is gone");
        }
        return std::make_shared<LocalUpload>(std::move(file), std::move(alive));
      });
}

}  // namespace infino::internal
