#include "infino/storage/memory_store.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
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
#include "infino/common/clock.h"
#include "infino/error.h"
#include "infino/storage/object_path.h"
#include "infino/storage/object_store.h"
#include "infino/storage/sent_parts.h"

namespace infino {
namespace {

class MemoryStore final : public ObjectStore, public std::enable_shared_from_this<MemoryStore> {
 public:
  explicit MemoryStore(std::shared_ptr<Clock> clock) : clock_(std::move(clock)) {}

  arrow::Future<VersionedBytes> Get(std::string_view path) override { return Read(path); }

  arrow::Future<std::optional<VersionedBytes>> GetIfChanged(std::string_view path,
                                                            const ObjectVersion& known) override {
    return ReadIfChanged(path, known);
  }

  arrow::Future<std::shared_ptr<arrow::Buffer>> GetRange(std::string_view path,
                                                         ByteRange range) override {
    return ReadRange(path, range);
  }

  arrow::Future<ObjectInfo> Head(std::string_view path) override { return Look(path); }

  arrow::Future<PutResult> PutIfAbsent(std::string_view path,
                                       std::shared_ptr<arrow::Buffer> bytes) override {
    const std::lock_guard lock(mutex_);
    return CreateLocked(path, std::move(bytes));
  }

  arrow::Future<std::vector<PutOutcome>> PutAllIfAbsent(
      std::vector<StagedObject> objects) override {
    return CreateAll(std::move(objects));
  }

  arrow::Future<std::shared_ptr<ObjectUpload>> BeginUpload(std::string_view path) override {
    return Begin(path);
  }

  arrow::Future<PutResult> PutIfMatch(std::string_view path, std::shared_ptr<arrow::Buffer> bytes,
                                      const ObjectVersion& expected) override {
    return Swap(path, std::move(bytes), expected);
  }

  arrow::Future<std::vector<ObjectInfo>> List(std::string_view prefix) override {
    return ListNow(prefix);
  }

  arrow::Future<> Delete(std::string_view path) override {
    const arrow::Status status = CheckObjectPath(path);
    if (!status.ok()) return arrow::Future<>::MakeFinished(status);
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(path);
    if (found != objects_.end()) objects_.erase(found);
    return arrow::Future<>::MakeFinished();
  }

 private:
  class Upload;

  struct Object {
    std::shared_ptr<arrow::Buffer> bytes;
    uint64_t version = 0;
    int64_t modified_ms = 0;
  };

  static ObjectVersion VersionOf(const Object& object) {
    return ObjectVersion{.token = std::to_string(object.version)};
  }

  static ObjectInfo InfoOf(const std::string& path, const Object& object) {
    return ObjectInfo{.path = path,
                      .size = object.bytes->size(),
                      .modified_ms = object.modified_ms,
                      .version = VersionOf(object)};
  }

  arrow::Result<std::shared_ptr<ObjectUpload>> Begin(std::string_view path);

  arrow::Result<Object> Find(std::string_view path) {
    ARROW_RETURN_NOT_OK(CheckObjectPath(path));
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(path);
    if (found == objects_.end()) {
      return MakeError(ErrorKind::kNotFound, "no object " + std::string(path) + " in memory store");
    }
    return found->second;
  }

  arrow::Result<VersionedBytes> Read(std::string_view path) {
    ARROW_ASSIGN_OR_RAISE(Object object, Find(path));
    return VersionedBytes{.bytes = object.bytes, .version = VersionOf(object)};
  }

  arrow::Result<std::optional<VersionedBytes>> ReadIfChanged(std::string_view path,
                                                             const ObjectVersion& known) {
    ARROW_ASSIGN_OR_RAISE(VersionedBytes now, Read(path));
    if (now.version == known) return std::optional<VersionedBytes>();
    return std::optional<VersionedBytes>(std::move(now));
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadRange(std::string_view path, ByteRange range) {
    ARROW_ASSIGN_OR_RAISE(const Object object, Find(path));
    ARROW_RETURN_NOT_OK(CheckRange(path, range, object.bytes->size()));
    return arrow::SliceBuffer(object.bytes, range.offset, range.length);
  }

  arrow::Result<ObjectInfo> Look(std::string_view path) {
    ARROW_ASSIGN_OR_RAISE(const Object object, Find(path));
    return InfoOf(std::string(path), object);
  }

  void WriteLocked(Object& object, std::shared_ptr<arrow::Buffer> bytes) {
    object = Object{
        .bytes = std::move(bytes), .version = ++last_version_, .modified_ms = clock_->UnixMs()};
  }

  arrow::Result<PutResult> CreateLocked(std::string_view path,
                                        std::shared_ptr<arrow::Buffer> bytes) {
    ARROW_RETURN_NOT_OK(CheckObjectPath(path));
    const auto [at, is_new] = objects_.try_emplace(std::string(path));
    if (!is_new) return PutResult{.outcome = PutOutcome::kPreconditionFailed, .version = {}};
    WriteLocked(at->second, std::move(bytes));
    return PutResult{.outcome = PutOutcome::kWritten, .version = VersionOf(at->second)};
  }

  arrow::Result<std::vector<PutOutcome>> CreateAll(std::vector<StagedObject> objects) {
    std::vector<PutOutcome> outcomes;
    outcomes.reserve(objects.size());
    const std::lock_guard lock(mutex_);
    for (StagedObject& object : objects) {
      ARROW_ASSIGN_OR_RAISE(const PutResult put,
                            CreateLocked(object.path, std::move(object.bytes)));
      outcomes.push_back(put.outcome);
    }
    return outcomes;
  }

  arrow::Result<PutResult> Swap(std::string_view path, std::shared_ptr<arrow::Buffer> bytes,
                                const ObjectVersion& expected) {
    ARROW_RETURN_NOT_OK(CheckObjectPath(path));
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(path);
    if (found == objects_.end() || VersionOf(found->second) != expected) {
      return PutResult{.outcome = PutOutcome::kPreconditionFailed, .version = {}};
    }
    WriteLocked(found->second, std::move(bytes));
    return PutResult{.outcome = PutOutcome::kWritten, .version = VersionOf(found->second)};
  }

  arrow::Result<std::vector<ObjectInfo>> ListNow(std::string_view prefix) {
    ARROW_RETURN_NOT_OK(CheckListPrefix(prefix));
    std::vector<ObjectInfo> infos;
    const std::lock_guard lock(mutex_);
    for (auto at = objects_.lower_bound(prefix); at != objects_.end(); ++at) {
      if (!at->first.starts_with(prefix)) break;
      infos.push_back(InfoOf(at->first, at->second));
    }
    return infos;
  }

  const std::shared_ptr<Clock> clock_;
  std::mutex mutex_;
  std::map<std::string, Object, std::less<>> objects_;
  uint64_t last_version_ = 0;
};

class MemoryStore::Upload final : public ObjectUpload {
 public:
  Upload(std::shared_ptr<MemoryStore> store, std::string path)
      : store_(std::move(store)), path_(std::move(path)), sent_(path_) {}

  arrow::Future<> PutPart(int64_t number, std::shared_ptr<arrow::Buffer> bytes) override {
    const arrow::Status status = sent_.Check(number, bytes->size());
    if (status.ok()) {
      const std::lock_guard lock(mutex_);
      parts_.insert_or_assign(number, std::move(bytes));
      sent_.Add(number, parts_[number]->size());
    }
    return arrow::Future<>::MakeFinished(status);
  }

  arrow::Future<PutOutcome> Complete(int64_t part_count) override { return Join(part_count); }

  arrow::Future<> Abort() override {
    const std::lock_guard lock(mutex_);
    parts_.clear();
    sent_.Clear();
    return arrow::Future<>::MakeFinished();
  }

 private:
  arrow::Result<PutOutcome> Join(int64_t part_count) {
    const std::lock_guard lock(mutex_);
    if (outcome_.has_value()) return *outcome_;
    ARROW_RETURN_NOT_OK(sent_.CheckAll(part_count));
    arrow::BufferVector parts;
    for (const auto& [number, bytes] : parts_) parts.push_back(bytes);
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> joined, arrow::ConcatenateBuffers(parts));
    const std::lock_guard store_lock(store_->mutex_);
    ARROW_ASSIGN_OR_RAISE(const PutResult put, store_->CreateLocked(path_, std::move(joined)));
    outcome_ = put.outcome;
    parts_.clear();
    return put.outcome;
  }

  const std::shared_ptr<MemoryStore> store_;
  const std::string path_;
  std::mutex mutex_;
  SentParts sent_;
  std::map<int64_t, std::shared_ptr<arrow::Buffer>> parts_;
  std::optional<PutOutcome> outcome_;
};

arrow::Result<std::shared_ptr<ObjectUpload>> MemoryStore::Begin(std::string_view path) {
  ARROW_RETURN_NOT_OK(CheckObjectPath(path));
  return std::make_shared<Upload>(shared_from_this(), std::string(path));
}

}  // namespace

std::shared_ptr<ObjectStore> MakeMemoryStore(std::shared_ptr<Clock> clock) {
  return std::make_shared<MemoryStore>(std::move(clock));
}

}  // namespace infino
