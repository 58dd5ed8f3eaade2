#include "infino/storage/cloud_upload.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>
#include <arrow/util/macros.h>

#include "infino/error.h"
#include "infino/storage/cloud_bucket.h"
#include "infino/storage/object_store.h"
#include "infino/storage/sent_parts.h"

namespace infino {
namespace {

class CloudUpload final : public ObjectUpload, public std::enable_shared_from_this<CloudUpload> {
 public:
  CloudUpload(std::shared_ptr<CloudBucket> bucket, std::string key,
              std::shared_ptr<CloudParts> parts)
      : bucket_(std::move(bucket)), key_(std::move(key)), parts_(std::move(parts)), sent_(key_) {}

  ~CloudUpload() override {
    if (!is_over_) ARROW_UNUSED(parts_->Abort());
  }

  CloudUpload(const CloudUpload&) = delete;
  CloudUpload& operator=(const CloudUpload&) = delete;
  CloudUpload(CloudUpload&&) = delete;
  CloudUpload& operator=(CloudUpload&&) = delete;

  arrow::Future<> PutPart(int64_t number, std::shared_ptr<arrow::Buffer> bytes) override {
    const int64_t size = bytes->size();
    const arrow::Status status = sent_.Check(number, size);
    if (!status.ok()) return status;
    return parts_->Put(number, std::move(bytes))
        .Then([self = shared_from_this(), number, size](const CloudAnswer& answer) {
          const arrow::Status put = answer.ToStatus();
          if (put.ok()) self->sent_.Add(number, size);
          return put;
        });
  }

  arrow::Future<PutOutcome> Complete(int64_t part_count) override {
    const arrow::Status status = sent_.CheckAll(part_count);
    if (!status.ok()) return status;
    return parts_->Complete(part_count)
        .Then([self = shared_from_this()](const CloudAnswer& answer) -> arrow::Future<PutOutcome> {
          if (answer.outcome == CloudOutcome::kNotFound) return self->JudgeUnknown(answer.message);
          if (answer.outcome == CloudOutcome::kPreconditionFailed) {
            return self->parts_->Abort().Then(
                [self](const CloudAnswer& /*aborted*/) { return self->End(); });
          }
          ARROW_RETURN_NOT_OK(answer.ToStatus());
          const std::lock_guard lock(self->mutex_);
          self->is_over_ = true;
          return PutOutcome::kWritten;
        });
  }

  arrow::Future<> Abort() override {
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) return arrow::Future<>::MakeFinished();
    }
    sent_.Clear();
    return parts_->Abort().Then([self = shared_from_this()](const CloudAnswer& answer) {
      const std::lock_guard lock(self->mutex_);
      const arrow::Status aborted = answer.ToStatus();
      if (aborted.ok()) self->is_over_ = true;
      return aborted;
    });
  }

 private:
  /// The path is taken, and nothing of the upload is left.
  PutOutcome End() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    return PutOutcome::kPreconditionFailed;
  }

  /// The service does not know the upload: an earlier call may have completed it without an answer.
  arrow::Future<PutOutcome> JudgeUnknown(const std::string& message) {
    return bucket_->Head(key_).Then([self = shared_from_this(), message](
                                        const CloudAnswer& answer) -> arrow::Result<PutOutcome> {
      if (answer.outcome == CloudOutcome::kNotFound) {
        return MakeError(ErrorKind::kUnavailable, "the upload is gone: " + message);
      }
      ARROW_RETURN_NOT_OK(answer.ToStatus());
      return self->End();
    });
  }

  const std::shared_ptr<CloudBucket> bucket_;
  const std::string key_;
  const std::shared_ptr<CloudParts> parts_;
  SentParts sent_;
  std::mutex mutex_;
  bool is_over_ = false;
};

}  // namespace

std::shared_ptr<ObjectUpload> MakeCloudUpload(std::shared_ptr<CloudBucket> bucket, std::string key,
                                              std::shared_ptr<CloudParts> parts) {
  return std::make_shared<CloudUpload>(std::move(bucket), std::move(key), std::move(parts));
}

}  // namespace infino
