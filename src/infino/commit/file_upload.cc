#include "infino/commit/file_upload.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/common/scratch.h"
#include "infino/storage/object_store.h"

namespace infino {
namespace {

/// An upload under way. Some senders take one part after the other; the last one that finds none
/// left completes the object, or gives it up if anything failed.
class FileUpload : public std::enable_shared_from_this<FileUpload> {
 public:
  FileUpload(std::shared_ptr<ObjectStore> store, std::string path,
             std::shared_ptr<const ScratchFile> file, FileUploadOptions options)
      : store_(std::move(store)),
        path_(std::move(path)),
        file_(std::move(file)),
        options_(std::move(options)),
        part_count_((file_->size() + kUploadPartBytes - 1) / kUploadPartBytes) {}

  arrow::Future<PutOutcome> Run() {
    store_->BeginUpload(path_).AddCallback(
        [self = shared_from_this()](const arrow::Result<std::shared_ptr<ObjectUpload>>& begun) {
          self->Start(begun);
        });
    return done_;
  }

 private:
  void Start(const arrow::Result<std::shared_ptr<ObjectUpload>>& begun) {
    if (!begun.ok()) {
      Finish(begun.status());
      return;
    }
    upload_ = *begun;
    const auto senders = std::clamp<int64_t>(options_.parts_in_memory, 1, part_count_);
    sender_count_ = senders;
    for (int64_t i = 0; i < senders; ++i) SpawnSender();
  }

  void SpawnSender() {
    const arrow::Status spawned = options_.spawn([self = shared_from_this()] { self->Send(); });
    if (spawned.ok()) return;
    Fail(spawned);
    EndSender();
  }

  void Send() {
    arrow::Result<std::shared_ptr<arrow::Buffer>> bytes;
    int64_t number = 0;
    {
      // Scratch files are read by one thread at a time.
      const std::lock_guard lock(mutex_);
      number = next_;
      if (failure_.ok() && number < part_count_) {
        ++next_;
        const int64_t offset = number * kUploadPartBytes;
        bytes = file_->Read(
            {.offset = offset, .length = std::min(kUploadPartBytes, file_->size() - offset)});
        if (!bytes.ok()) failure_ = bytes.status();
      } else {
        bytes = arrow::Status::Cancelled("no part is left");
      }
    }
    if (!bytes.ok()) {
      EndSender();
      return;
    }
    upload_->PutPart(number, *std::move(bytes))
        .AddCallback([self = shared_from_this()](const arrow::Status& sent) {
          if (!sent.ok()) self->Fail(sent);
          self->SpawnSender();
        });
  }

  void Fail(const arrow::Status& status) {
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = status;
  }

  void EndSender() {
    arrow::Status failure;
    {
      const std::lock_guard lock(mutex_);
      if (--sender_count_ > 0) return;
      failure = failure_;
    }
    if (!failure.ok()) {
      GiveUp(failure);
      return;
    }
    upload_->Complete(part_count_)
        .AddCallback([self = shared_from_this()](const arrow::Result<PutOutcome>& outcome) {
          if (outcome.ok()) {
            self->Finish(*outcome);
          } else {
            self->GiveUp(outcome.status());
          }
        });
  }

  void GiveUp(const arrow::Status& failure) {
    upload_->Abort().AddCallback(
        [self = shared_from_this(), failure](const arrow::Status& /*it stays unseen*/) {
          self->Finish(failure);
        });
  }

  /// Lets go of the scratch file first: tasks that still hold this upload may end later than the
  /// caller, who may count on its being gone.
  void Finish(const arrow::Result<PutOutcome>& outcome) {
    file_ = nullptr;
    upload_ = nullptr;
    done_.MarkFinished(outcome);
  }

  const std::shared_ptr<ObjectStore> store_;
  const std::string path_;
  std::shared_ptr<const ScratchFile> file_;  ///< Until the end.
  const FileUploadOptions options_;
  const int64_t part_count_;
  arrow::Future<PutOutcome> done_ = arrow::Future<PutOutcome>::Make();
  std::shared_ptr<ObjectUpload> upload_;  ///< From its beginning to its end.
  std::mutex mutex_;
  int64_t next_ = 0;  ///< The next part to be read.
  int64_t sender_count_ = 0;
  arrow::Status failure_;
};

}  // namespace

arrow::Future<PutOutcome> UploadFile(std::shared_ptr<ObjectStore> store, std::string path,
                                     std::shared_ptr<const ScratchFile> file,
                                     FileUploadOptions options) {
  return std::make_shared<FileUpload>(std::move(store), std::move(path), std::move(file),
                                      std::move(options))
      ->Run();
}

}  // namespace infino
