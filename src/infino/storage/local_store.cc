#include "infino/storage/local_store.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
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
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/common/clock.h"
#include "infino/error.h"
#include "infino/storage/io_pool.h"
#include "infino/storage/local_files.h"
#include "infino/storage/local_folder.h"
#include "infino/storage/local_upload.h"
#include "infino/storage/object_store.h"

namespace infino {
namespace {

using internal::LocalFolder;

/// Reads longer than this are worth a change of threads.
constexpr int64_t kInlineReadBytes = int64_t{1} << 20;

/// PutAllIfAbsent under way: a task an object; the last one to end syncs the folders.
class PutAll {
 public:
  PutAll(std::shared_ptr<LocalFolder> folder, std::vector<StagedObject> objects)
      : folder_(std::move(folder)),
        objects_(std::move(objects)),
        outcomes_(objects_.size()),
        unfinished_(objects_.size()) {}

  [[nodiscard]] size_t size() const { return objects_.size(); }

  [[nodiscard]] arrow::Future<std::vector<PutOutcome>> done() const { return done_; }

  void RunOne(size_t i) {
    std::set<std::string> unsynced;
    const StagedObject& object = objects_[i];
    arrow::Result<PutOutcome> outcome = folder_->Create(object.path, *object.bytes, &unsynced);
    End(i, std::move(outcome), std::move(unsynced));
  }

  void End(size_t i, arrow::Result<PutOutcome> outcome, std::set<std::string> unsynced) {
    {
      const std::lock_guard lock(mutex_);
      unsynced_.merge(unsynced);
      if (outcome.ok()) {
        outcomes_[i] = *outcome;
      } else if (failure_.ok()) {
        failure_ = outcome.status();
      }
      if (--unfinished_ > 0) return;
    }
    if (failure_.ok()) failure_ = folder_->SyncFolders(unsynced_);
    if (failure_.ok()) {
      done_.MarkFinished(std::move(outcomes_));
    } else {
      done_.MarkFinished(failure_);
    }
  }

 private:
  const std::shared_ptr<LocalFolder> folder_;
  const std::vector<StagedObject> objects_;
  arrow::Future<std::vector<PutOutcome>> done_ = arrow::Future<std::vector<PutOutcome>>::Make();
  std::mutex mutex_;
  std::vector<PutOutcome> outcomes_;
  std::set<std::string> unsynced_;
  arrow::Status failure_;
  size_t unfinished_;
};

class LocalStore final : public ObjectStore {
 public:
  LocalStore(std::shared_ptr<LocalFolder> folder, std::shared_ptr<IoPool> pool)
      : folder_(std::move(folder)), pool_(std::move(pool)) {}

  arrow::Future<VersionedBytes> Get(std::string_view path) override { return folder_->Get(path); }

  arrow::Future<std::optional<VersionedBytes>> GetIfChanged(std::string_view path,
                                                            const ObjectVersion& known) override {
    return folder_->GetIfChanged(path, known);
  }

  arrow::Future<std::shared_ptr<arrow::Buffer>> GetRange(std::string_view path,
                                                         ByteRange range) override {
    if (range.length <= kInlineReadBytes) return folder_->GetRange(path, range);
    return pool_->Submit<std::shared_ptr<arrow::Buffer>>(
        [folder = folder_, path = std::string(path), range] {
          return folder->GetRange(path, range);
        });
  }

  arrow::Future<ObjectInfo> Head(std::string_view path) override { return folder_->Head(path); }

  arrow::Future<PutResult> PutIfAbsent(std::string_view path,
                                       std::shared_ptr<arrow::Buffer> bytes) override {
    return pool_->Submit<PutResult>(
        [folder = folder_, path = std::string(path), bytes = std::move(bytes)] {
          return folder->PutIfAbsent(path, *bytes);
        });
  }

  arrow::Future<std::vector<PutOutcome>> PutAllIfAbsent(
      std::vector<StagedObject> objects) override {
    if (objects.empty()) return std::vector<PutOutcome>();
    const auto all = std::make_shared<PutAll>(folder_, std::move(objects));
    arrow::Future<std::vector<PutOutcome>> done = all->done();
    for (size_t i = 0; i < all->size(); ++i) {
      const arrow::Status spawned = pool_->Spawn([all, i] { all->RunOne(i); });
      if (!spawned.ok()) all->End(i, spawned, {});
    }
    return done;
  }

  arrow::Future<std::shared_ptr<ObjectUpload>> BeginUpload(std::string_view path) override {
    return internal::BeginLocalUpload(folder_, pool_, path);
  }

  arrow::Future<PutResult> PutIfMatch(std::string_view path, std::shared_ptr<arrow::Buffer> bytes,
                                      const ObjectVersion& expected) override {
    return pool_->Submit<PutResult>(
        [folder = folder_, path = std::string(path), bytes = std::move(bytes), expected] {
          return folder->PutIfMatch(path, *bytes, expected);
        });
  }

  arrow::Future<std::vector<ObjectInfo>> List(std::string_view prefix) override {
    return pool_->Submit<std::vector<ObjectInfo>>(
        [folder = folder_, prefix = std::string(prefix)] { return folder->List(prefix); });
  }

  arrow::Future<> Delete(std::string_view path) override {
    return arrow::Future<>::MakeFinished(folder_->Delete(path));
  }

 private:
  const std::shared_ptr<LocalFolder> folder_;
  const std::shared_ptr<IoPool> pool_;
};

/// Absolute, without slashes at the end.
arrow::Result<std::string> ResolveRoot(const std::string& root) {
  if (root.empty()) return MakeError(ErrorKind::kInvalidArgument, "the store's folder is empty");
  if (root.find('\0') != std::string::npos) {
    return MakeError(ErrorKind::kInvalidArgument, "the store's folder contains a NUL byte");
  }
  std::error_code error;
  std::string absolute = std::filesystem::absolute(root, error).string();
  if (error) return internal::ErrnoError(error.value(), "resolve folder", root);
  while (absolute.size() > 1 && absolute.ends_with('/')) absolute.pop_back();
  return absolute;
}

}  // namespace

arrow::Result<std::shared_ptr<ObjectStore>> OpenLocalStore(std::string root,
                                                           LocalStoreOptions options) {
  ARROW_ASSIGN_OR_RAISE(std::string absolute, ResolveRoot(root));
  auto folder = std::make_shared<LocalFolder>(std::move(absolute), std::move(options.counters));
  ARROW_RETURN_NOT_OK(folder->Prepare());
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<IoPool> pool, IoPool::Make(options.io_thread_count));
  return std::make_shared<LocalStore>(std::move(folder), std::move(pool));
}

arrow::Result<int64_t> RemoveStaleTemporaries(const std::string& root, int64_t older_than_ms) {
  ARROW_ASSIGN_OR_RAISE(const std::string absolute, ResolveRoot(root));
  return LocalFolder(absolute, nullptr).RemoveTemporaries(SystemClock()->UnixMs() - older_than_ms);
}

}  // namespace infino
