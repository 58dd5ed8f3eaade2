#include "infino/storage/cloud_store.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/error.h"
#include "infino/storage/cloud_bucket.h"
#include "infino/storage/cloud_upload.h"
#include "infino/storage/object_path.h"
#include "infino/storage/object_store.h"

namespace infino {
namespace {

VersionedBytes BytesOf(const CloudAnswer& answer) {
  return {.bytes = answer.bytes, .version = answer.version};
}

arrow::Result<PutResult> PutOf(const CloudAnswer& answer) {
  if (answer.outcome == CloudOutcome::kPreconditionFailed) {
    return PutResult{.outcome = PutOutcome::kPreconditionFailed, .version = {}};
  }
  ARROW_RETURN_NOT_OK(answer.ToStatus());
  return PutResult{.outcome = PutOutcome::kWritten, .version = answer.version};
}

/// Names that some stores use for what is not complete yet.
bool IsReserved(std::string_view path) {
  const size_t slash = path.rfind('/');
  return path.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with(kTemporaryPrefix);
}

/// A listing under way, page by page.
class Listing final : public std::enable_shared_from_this<Listing> {
 public:
  Listing(std::shared_ptr<CloudBucket> bucket, size_t root_length, std::string prefix)
      : bucket_(std::move(bucket)), root_length_(root_length), prefix_(std::move(prefix)) {}

  arrow::Future<std::vector<ObjectInfo>> Run(const std::string& page) {
    return bucket_->List(prefix_, page)
        .Then([self = shared_from_this()](
                  const CloudAnswer& answer) -> arrow::Future<std::vector<ObjectInfo>> {
          ARROW_RETURN_NOT_OK(answer.ToStatus());
          for (const ObjectInfo& object : answer.objects) self->Add(object);
          if (!answer.next_page.empty()) return self->Run(answer.next_page);
          std::ranges::sort(self->infos_, {}, &ObjectInfo::path);
          return std::move(self->infos_);
        });
  }

 private:
  void Add(const ObjectInfo& object) {
    // A folder that some tools leave is listed without its last slash.
    if (!object.path.starts_with(prefix_) || IsReserved(object.path)) return;
    infos_.push_back(object);
    infos_.back().path.erase(0, root_length_);
  }

  const std::shared_ptr<CloudBucket> bucket_;
  const size_t root_length_;
  const std::string prefix_;
  std::vector<ObjectInfo> infos_;
};

class CloudStore final : public ObjectStore {
 public:
  CloudStore(std::shared_ptr<CloudBucket> bucket, std::string root)
      : bucket_(std::move(bucket)), root_(std::move(root)) {}

  arrow::Future<VersionedBytes> Get(std::string_view path) override {
    const arrow::Status status = CheckObjectPath(path);
    if (!status.ok()) return status;
    return bucket_->Get(Key(path)).Then(
        [](const CloudAnswer& answer) -> arrow::Result<VersionedBytes> {
          ARROW_RETURN_NOT_OK(answer.ToStatus());
          return BytesOf(answer);
        });
  }

  arrow::Future<std::optional<VersionedBytes>> GetIfChanged(std::string_view path,
                                                            const ObjectVersion& known) override {
    const arrow::Status status = CheckObjectPath(path);
    if (!status.ok()) return status;
    return bucket_->GetUnless(Key(path), known)
        .Then([known](const CloudAnswer& answer) -> arrow::Result<std::optional<VersionedBytes>> {
          if (answer.outcome == CloudOutcome::kNotModified) return std::nullopt;
          ARROW_RETURN_NOT_OK(answer.ToStatus());
          if (answer.version == known) return std::nullopt;
          return BytesOf(answer);
        });
  }

  arrow::Future<std::shared_ptr<arrow::Buffer>> GetRange(std::string_view path,
                                                         ByteRange range) override {
    const arrow::Status status = CheckObjectPath(path);
    if (!status.ok()) return status;
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    if (range.offset < 0 || range.length <= 0 || range.offset > kMax - range.length) {
      return CheckEmptyRange(path, range);
    }
    return bucket_->GetRange(Key(path), range)
        .Then([path = std::string(path),
               range](const CloudAnswer& answer) -> arrow::Result<std::shared_ptr<arrow::Buffer>> {
          ARROW_RETURN_NOT_OK(answer.ToStatus());
          // Services cut a range off where the object ends.
          if (answer.bytes->size() != range.length) {
            ARROW_RETURN_NOT_OK(CheckRange(path, range, answer.size));
            return MakeError(ErrorKind::kUnavailable,
                             "read " + path + ": the service sent " +
                                 std::to_string(answer.bytes->size()) +
                                 " bytes instead of length=" + std::to_string(range.length));
          }
          return answer.bytes;
        });
  }

  arrow::Future<ObjectInfo> Head(std::string_view path) override {
    const arrow::Status status = CheckObjectPath(path);
    if (!status.ok()) return status;
    return bucket_->Head(Key(path)).Then(
        [path = std::string(path)](const CloudAnswer& answer) -> arrow::Result<ObjectInfo> {
          ARROW_RETURN_NOT_OK(answer.ToStatus());
          return ObjectInfo{.path = path,
                            .size = answer.size,
                            .modified_ms = answer.modified_ms,
                            .version = answer.version};
        });
  }

  arrow::Future<PutResult> PutIfAbsent(std::string_view path,
                                       std::shared_ptr<arrow::Buffer> bytes) override {
    const arrow::Status status = CheckObjectPath(path);
    if (!status.ok()) return status;
    return bucket_->Create(Key(path), std::move(bytes)).Then(&PutOf);
  }

  arrow::Future<std::vector<PutOutcome>> PutAllIfAbsent(
      std::vector<StagedObject> objects) override {
    std::vector<arrow::Future<PutResult>> puts;
    puts.reserve(objects.size());
    for (StagedObject& object : objects) {
      puts.push_back(PutIfAbsent(object.path, std::move(object.bytes)));
    }
    return arrow::All(std::move(puts))
        .Then([](const std::vector<arrow::Result<PutResult>>& results)
                  -> arrow::Result<std::vector<PutOutcome>> {
          std::vector<PutOutcome> outcomes;
          outcomes.reserve(results.size());
          for (const arrow::Result<PutResult>& result : results) {
            ARROW_RETURN_NOT_OK(result.status());
            outcomes.push_back(result->outcome);
          }
          return outcomes;
        });
  }

  arrow::Future<std::shared_ptr<ObjectUpload>> BeginUpload(std::string_view path) override {
    const arrow::Status status = CheckObjectPath(path);
    if (!status.ok()) return status;
    return bucket_->BeginUpload(Key(path)).Then(
        [bucket = bucket_, key = Key(path)](
            const CloudAnswer& answer) -> arrow::Result<std::shared_ptr<ObjectUpload>> {
          ARROW_RETURN_NOT_OK(answer.ToStatus());
          return MakeCloudUpload(bucket, key, answer.parts);
        });
  }

  arrow::Future<PutResult> PutIfMatch(std::string_view path, std::shared_ptr<arrow::Buffer> bytes,
                                      const ObjectVersion& expected) override {
    const arrow::Status status = CheckObjectPath(path);
    if (!status.ok()) return status;
    // No object has such a version, and services would take it for no condition at all.
    if (expected.token.empty()) {
      return PutResult{.outcome = PutOutcome::kPreconditionFailed, .version = {}};
    }
    return bucket_->Replace(Key(path), std::move(bytes), expected).Then(&PutOf);
  }

  arrow::Future<std::vector<ObjectInfo>> List(std::string_view prefix) override {
    const arrow::Status status = CheckListPrefix(prefix);
    if (!status.ok()) return status;
    return std::make_shared<Listing>(bucket_, root_.size(), Key(prefix))->Run({});
  }

  arrow::Future<> Delete(std::string_view path) override {
    const arrow::Status status = CheckObjectPath(path);
    if (!status.ok()) return status;
    return bucket_->Delete(Key(path)).Then(
        [](const CloudAnswer& answer) { return answer.ToStatus(); });
  }

 private:
  [[nodiscard]] std::string Key(std::string_view path) const { return root_ + std::string(path); }

  /// Answers for a range that no request can ask for, by the size of the object.
  arrow::Future<std::shared_ptr<arrow::Buffer>> CheckEmptyRange(std::string_view path,
                                                                ByteRange range) {
    return Head(path).Then(
        [range](const ObjectInfo& info) -> arrow::Result<std::shared_ptr<arrow::Buffer>> {
          ARROW_RETURN_NOT_OK(CheckRange(info.path, range, info.size));
          return arrow::Buffer::FromString({});
        });
  }

  const std::shared_ptr<CloudBucket> bucket_;

  /// Empty, or a path with a slash at its end.
  const std::string root_;
};

}  // namespace

arrow::Result<OpenedCloudStore> OpenCloudStore(const CloudPlace& place, const std::string& prefix) {
  if (!prefix.empty()) ARROW_RETURN_NOT_OK(CheckObjectPath(prefix));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<CloudBucket> bucket, CloudBucket::Open(place));
  const int64_t timeout_ms = bucket->timeout_ms();
  return OpenedCloudStore{.store = std::make_shared<CloudStore>(
                              std::move(bucket), prefix.empty() ? prefix : prefix + '/'),
                          .timeout_ms = timeout_ms};
}

}  // namespace infino
