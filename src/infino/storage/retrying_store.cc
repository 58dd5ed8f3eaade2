#include "infino/storage/retrying_store.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
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
#include "infino/common/content_hash.h"
#include "infino/common/log.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/log.h"
#include "infino/storage/io_pool.h"
#include "infino/storage/object_store.h"

namespace infino {
namespace {

/// Started only when so many calls pause at once.
constexpr int kPauseThreads = 32;

/// What the calls of one store share.
struct RetryContext {
  std::shared_ptr<ObjectStore> store;
  std::shared_ptr<Clock> clock;
  std::shared_ptr<Random> random;
  RetryOptions options;
  std::unique_ptr<IoPool> pause_pool;
};

/// One call with its repetitions. Shared with the futures that it waits for.
template <typename T>
class RetriedCall final : public std::enable_shared_from_this<RetriedCall<T>> {
 public:
  /// `attempt` is told whether an earlier one may have taken effect.
  using Attempt = std::function<arrow::Future<T>(bool is_repeated)>;

  RetriedCall(std::shared_ptr<RetryContext> context, Attempt attempt)
      : context_(std::move(context)),
        attempt_(std::move(attempt)),
        deadline_(context_->clock->Monotonic() +
                  std::chrono::milliseconds(context_->options.deadline_ms)),
        next_delay_ms_(context_->options.first_delay_ms) {}

  /// Tries until an attempt succeeds, fails for good, or is still under way.
  arrow::Future<T> Run() {
    for (;;) {
      arrow::Future<T> tried = attempt_(tries_ > 0);
      ++tries_;
      if (!tried.is_finished()) return FollowUp(tried);
      const std::optional<std::chrono::milliseconds> pause = PauseAfter(tried.status());
      if (!pause.has_value()) return tried;
      context_->clock->Sleep(*pause);
    }
  }

 private:
  /// How long to pause before the next attempt; nothing if `status` is the answer.
  std::optional<std::chrono::milliseconds> PauseAfter(const arrow::Status& status) {
    const RetryOptions& options = context_->options;
    if (!IsError(status, ErrorKind::kUnavailable) || tries_ >= options.tries_max) return {};
    const double jittered =
        static_cast<double>(next_delay_ms_) * (1 - context_->random->Unit() / 2);
    const std::chrono::milliseconds pause(static_cast<int64_t>(jittered));
    if (context_->clock->Monotonic() + pause > deadline_) return {};
    if (IsLogged()) {
      Log(LogLevel::kWarning, "a storage request failed and is repeated in " +
                                  std::to_string(pause.count()) + " ms, attempt " +
                                  std::to_string(tries_) + " of " +
                                  std::to_string(options.tries_max) + ": " + status.message());
    }
    next_delay_ms_ = std::min(next_delay_ms_ * 2, options.longest_delay_ms);
    return pause;
  }

  /// Completes once the attempt under way is the answer, or the attempts after it came to one.
  arrow::Future<T> FollowUp(const arrow::Future<T>& tried) {
    auto answer = arrow::Future<T>::Make();
    tried.AddCallback([self = this->shared_from_this(), answer](const auto& result) mutable {
      const std::optional<std::chrono::milliseconds> pause = self->PauseAfter(StatusOf(result));
      if (!pause.has_value()) {
        answer.MarkFinished(result);
        return;
      }
      const arrow::Status spawned = self->context_->pause_pool->Spawn([self, answer, pause] {
        self->context_->clock->Sleep(*pause);
        self->Run().AddCallback(
            [answer](const auto& later) mutable { answer.MarkFinished(later); });
      });
      if (!spawned.ok()) answer.MarkFinished(spawned);
    });
    return answer;
  }

  static const arrow::Status& StatusOf(const arrow::Status& status) { return status; }

  template <typename Value>
  static const arrow::Status& StatusOf(const arrow::Result<Value>& result) {
    return result.status();
  }

  const std::shared_ptr<RetryContext> context_;
  const Attempt attempt_;
  const std::chrono::nanoseconds deadline_;
  int64_t next_delay_ms_;
  int tries_ = 0;
};

/// What was found at the path of an earlier, unanswered put.
arrow::Result<PutResult> Judge(const arrow::Result<VersionedBytes>& found,
                               const arrow::Buffer& sent, std::string_view path) {
  if (IsError(found.status(), ErrorKind::kNotFound)) {
    return MakeError(ErrorKind::kUnavailable,
                     "the path " + std::string(path) + " was taken and then free again");
  }
  ARROW_RETURN_NOT_OK(found.status());
  if (found->bytes->Equals(sent)) {
    return PutResult{.outcome = PutOutcome::kWritten, .version = found->version};
  }
  return PutResult{.outcome = PutOutcome::kPreconditionFailed, .version = {}};
}

/// Reads the object back, with tries of its own, and compares it with what was sent: else a batch
/// of many objects would hardly ever find all of them readable in one try.
arrow::Future<PutResult> ReadBack(const std::shared_ptr<RetryContext>& context,
                                  const StagedObject& object) {
  const auto read = std::make_shared<RetriedCall<VersionedBytes>>(
      context, [store = context->store, path = object.path](bool) { return store->Get(path); });
  auto judged = arrow::Future<PutResult>::Make();
  read->Run().AddCallback([judged, object](const arrow::Result<VersionedBytes>& found) mutable {
    judged.MarkFinished(Judge(found, *object.bytes, object.path));
  });
  return judged;
}

arrow::Future<PutResult> SettlePut(const std::shared_ptr<RetryContext>& context,
                                   const StagedObject& object) {
  return context->store->PutIfAbsent(object.path, object.bytes)
      .Then([context, object](const PutResult& put) -> arrow::Future<PutResult> {
        if (put.outcome == PutOutcome::kWritten) return put;
        return ReadBack(context, object);
      });
}

/// Replaces the outcomes of those objects whose paths are taken by themselves.
arrow::Future<std::vector<PutOutcome>> SettleAll(const std::shared_ptr<RetryContext>& context,
                                                 const std::vector<StagedObject>& objects,
                                                 const std::vector<PutOutcome>& outcomes) {
  std::vector<size_t> taken;
  std::vector<arrow::Future<PutResult>> judged;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] == PutOutcome::kWritten) continue;
    taken.push_back(i);
    judged.push_back(ReadBack(context, objects[i]));
  }
  if (taken.empty()) return outcomes;
  return arrow::All(std::move(judged))
      .Then([taken, outcomes](const std::vector<arrow::Result<PutResult>>& results)
                -> arrow::Result<std::vector<PutOutcome>> {
        std::vector<PutOutcome> settled = outcomes;
        for (size_t i = 0; i < taken.size(); ++i) {
          ARROW_ASSIGN_OR_RAISE(const PutResult put, results[i]);
          settled[taken[i]] = put.outcome;
        }
        return settled;
      });
}

/// An upload whose steps are repeated. It knows the parts that were sent by their hashes.
class RetryingUpload final : public ObjectUpload,
                             public std::enable_shared_from_this<RetryingUpload> {
 public:
  RetryingUpload(std::shared_ptr<RetryContext> context, std::string path,
                 std::shared_ptr<ObjectUpload> upload)
      : context_(std::move(context)), path_(std::move(path)), upload_(std::move(upload)) {}

  arrow::Future<> PutPart(int64_t number, std::shared_ptr<arrow::Buffer> bytes) override {
    {
      const std::lock_guard lock(mutex_);
      sent_.insert_or_assign(number, Part{.size = bytes->size(), .hash = HashOf(*bytes)});
    }
    return Retry<arrow::internal::Empty>(
        [upload = upload_, number, bytes = std::move(bytes)](bool /*is_repeated*/) {
          return upload->PutPart(number, bytes);
        });
  }

  arrow::Future<PutOutcome> Complete(int64_t part_count) override {
    return Retry<PutOutcome>([self = shared_from_this(), part_count](bool is_repeated) {
      arrow::Future<PutOutcome> completed = self->upload_->Complete(part_count);
      if (!is_repeated) return completed;
      return completed.Then([self](PutOutcome outcome) -> arrow::Future<PutOutcome> {
        if (outcome == PutOutcome::kWritten) return outcome;
        return self->Judge();
      });
    });
  }

  arrow::Future<> Abort() override {
    return Retry<arrow::internal::Empty>(
        [upload = upload_](bool /*is_repeated*/) { return upload->Abort(); });
  }

 private:
  struct Part {
    int64_t size = 0;
    ContentHash hash;
  };

  static ContentHash HashOf(const arrow::Buffer& bytes) {
    return Blake3({bytes.data(), static_cast<size_t>(bytes.size())});
  }

  template <typename T>
  arrow::Future<T> Retry(typename RetriedCall<T>::Attempt attempt) {
    return std::make_shared<RetriedCall<T>>(context_, std::move(attempt))->Run();
  }

  /// Whether the object at the path is what was sent.
  arrow::Future<PutOutcome> Judge() {
    int64_t size = 0;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [number, part] : sent_) size += part.size;
    }
    return Retry<ObjectInfo>([self = shared_from_this()](bool /*is_repeated*/) {
             return self->context_->store->Head(self->path_);
           })
        .Then([self = shared_from_this(), size](const ObjectInfo& info) {
          if (info.size == size) return self->JudgeFrom(0);
          return arrow::Future<PutOutcome>(PutOutcome::kPreconditionFailed);
        });
  }

  arrow::Future<PutOutcome> JudgeFrom(int64_t number) {
    Part part;
    {
      const std::lock_guard lock(mutex_);
      const auto found = sent_.find(number);
      if (found == sent_.end()) return PutOutcome::kWritten;
      part = found->second;
    }
    const ByteRange range{.offset = number * kUploadPartBytes, .length = part.size};
    return Retry<std::shared_ptr<arrow::Buffer>>(
               [self = shared_from_this(), range](bool /*is_repeated*/) {
                 return self->context_->store->GetRange(self->path_, range);
               })
        .Then([self = shared_from_this(), number,
               hash = part.hash](const std::shared_ptr<arrow::Buffer>& found) {
          if (HashOf(*found) == hash) return self->JudgeFrom(number + 1);
          return arrow::Future<PutOutcome>(PutOutcome::kPreconditionFailed);
        });
  }

  const std::shared_ptr<RetryContext> context_;
  const std::string path_;
  const std::shared_ptr<ObjectUpload> upload_;
  std::mutex mutex_;
  std::map<int64_t, Part> sent_;
};

class RetryingStore final : public ObjectStore {
 public:
  explicit RetryingStore(std::shared_ptr<RetryContext> context) : context_(std::move(context)) {}

  arrow::Future<VersionedBytes> Get(std::string_view path) override {
    return Retry<VersionedBytes>(
        [store = context_->store, path = std::string(path)](bool) { return store->Get(path); });
  }

  arrow::Future<std::optional<VersionedBytes>> GetIfChanged(std::string_view path,
                                                            const ObjectVersion& known) override {
    return Retry<std::optional<VersionedBytes>>(
        [store = context_->store, path = std::string(path), known](bool) {
          return store->GetIfChanged(path, known);
        });
  }

  arrow::Future<std::shared_ptr<arrow::Buffer>> GetRange(std::string_view path,
                                                         ByteRange range) override {
    return Retry<std::shared_ptr<arrow::Buffer>>(
        [store = context_->store, path = std::string(path), range](bool) {
          return store->GetRange(path, range);
        });
  }

  arrow::Future<ObjectInfo> Head(std::string_view path) override {
    return Retry<ObjectInfo>(
        [store = context_->store, path = std::string(path)](bool) { return store->Head(path); });
  }

  arrow::Future<PutResult> PutIfAbsent(std::string_view path,
                                       std::shared_ptr<arrow::Buffer> bytes) override {
    StagedObject object{.path = std::string(path), .bytes = std::move(bytes)};
    return Retry<PutResult>([context = context_, object = std::move(object)](bool is_repeated) {
      if (is_repeated) return SettlePut(context, object);
      return context->store->PutIfAbsent(object.path, object.bytes);
    });
  }

  arrow::Future<std::vector<PutOutcome>> PutAllIfAbsent(
      std::vector<StagedObject> objects) override {
    return Retry<std::vector<PutOutcome>>(
        [context = context_, objects = std::move(objects)](bool is_repeated) {
          arrow::Future<std::vector<PutOutcome>> put = context->store->PutAllIfAbsent(objects);
          if (!is_repeated) return put;
          return put.Then([context, objects](const std::vector<PutOutcome>& outcomes) {
            return SettleAll(context, objects, outcomes);
          });
        });
  }

  arrow::Future<std::shared_ptr<ObjectUpload>> BeginUpload(std::string_view path) override {
    using Upload = std::shared_ptr<ObjectUpload>;
    return Retry<Upload>([store = context_->store, path = std::string(path)](bool) {
             return store->BeginUpload(path);
           })
        .Then([context = context_, path = std::string(path)](const Upload& upload) -> Upload {
          return std::make_shared<RetryingUpload>(context, path, upload);
        });
  }

  arrow::Future<PutResult> PutIfMatch(std::string_view path, std::shared_ptr<arrow::Buffer> bytes,
                                      const ObjectVersion& expected) override {
    return context_->store->PutIfMatch(path, std::move(bytes), expected);
  }

  arrow::Future<std::vector<ObjectInfo>> List(std::string_view prefix) override {
    return Retry<std::vector<ObjectInfo>>([store = context_->store, prefix = std::string(prefix)](
                                              bool) { return store->List(prefix); });
  }

  arrow::Future<> Delete(std::string_view path) override {
    return Retry<arrow::internal::Empty>(
        [store = context_->store, path = std::string(path)](bool) { return store->Delete(path); });
  }

 private:
  template <typename T>
  arrow::Future<T> Retry(typename RetriedCall<T>::Attempt attempt) {
    return std::make_shared<RetriedCall<T>>(context_, std::move(attempt))->Run();
  }

  const std::shared_ptr<RetryContext> context_;
};

}  // namespace

arrow::Result<std::shared_ptr<ObjectStore>> MakeRetryingStore(std::shared_ptr<ObjectStore> store,
                                                              std::shared_ptr<Clock> clock,
                                                              std::shared_ptr<Random> random,
                                                              const RetryOptions& options) {
  auto context = std::make_shared<RetryContext>();
  context->store = std::move(store);
  context->clock = std::move(clock);
  context->random = std::move(random);
  context->options = options;
  ARROW_ASSIGN_OR_RAISE(context->pause_pool, IoPool::Make(kPauseThreads));
  return std::make_shared<RetryingStore>(std::move(context));
}

}  // namespace infino
