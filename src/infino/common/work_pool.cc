#include "infino/common/work_pool.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>
#include <arrow/util/macros.h>
#include <arrow/util/thread_pool.h>

#include "infino/common/pool_threads.h"
#include "infino/error.h"

namespace infino {
namespace {

/// What the caller and the helpers of one ParallelFor share. A helper that starts late finds
/// nothing to claim, so it never touches the body, which is gone by then.
class SharedLoop {
 public:
  SharedLoop(int64_t count, const std::function<arrow::Status(int64_t)>& body)
      : body_(body), count_(count), failed_at_(count) {}

  /// Runs bodies until none is left to start.
  void Run() {
    for (std::optional<int64_t> i = Claim(); i.has_value(); i = Claim()) {
      Finish(*i, body_(*i));
    }
  }

  /// Waits for the bodies that others started, and returns the outcome.
  arrow::Status WaitUntilIdle() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return running_ == 0; });
    return failure_;
  }

 private:
  std::optional<int64_t> Claim() {
    const std::lock_guard lock(mutex_);
    if (next_ == count_ || failed_at_ != count_) return std::nullopt;
    ++running_;
    return next_++;
  }

  void Finish(int64_t i, arrow::Status status) {
    const std::lock_guard lock(mutex_);
    if (!status.ok() && i < failed_at_) {
      failed_at_ = i;
      failure_ = std::move(status);
    }
    // Told under the lock: once it is released, the waiting caller may be gone.
    if (--running_ == 0) idle_.notify_all();
  }

  std::function<arrow::Status(int64_t)> body_;
  int64_t count_;
  std::mutex mutex_;
  std::condition_variable idle_;
  int64_t next_ = 0;
  int64_t running_ = 0;
  int64_t failed_at_;
  arrow::Status failure_;
};

}  // namespace

WorkPool::WorkPool(std::shared_ptr<arrow::internal::ThreadPool> pool) : pool_(std::move(pool)) {}

arrow::Result<std::shared_ptr<WorkPool>> WorkPool::Make(int thread_count) {
  if (thread_count < 0) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "cannot make a work pool: thread_count=" + std::to_string(thread_count));
  }
  if (thread_count == 0) thread_count = arrow::internal::ThreadPool::DefaultCapacity();
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::internal::ThreadPool> pool,
                        MakeThreadPool(thread_count));
  // The constructor is private, so make_shared can't be used.
  return std::shared_ptr<WorkPool>(new WorkPool(std::move(pool)));
}

WorkPool::~WorkPool() {
  RunOffPool([pool = std::move(pool_)] { ARROW_UNUSED(pool->Shutdown()); });
}

int WorkPool::thread_count() const {
  return pool_->GetCapacity();
}

arrow::Future<> WorkPool::Submit(std::function<arrow::Status()> task) {
  return arrow::DeferNotOk(pool_->Submit(std::move(task)));
}

bool WorkPool::OwnsThisThread() const {
  return pool_->OwnsThisThread();
}

arrow::internal::Executor* WorkPool::executor() const {
  return pool_.get();
}

arrow::Status ParallelFor(WorkPool* pool, int64_t count,
                          const std::function<arrow::Status(int64_t)>& body) {
  if (pool == nullptr || count <= 1 || pool->thread_count() == 1) {
    for (int64_t i = 0; i < count; ++i) ARROW_RETURN_NOT_OK(body(i));
    return arrow::Status::OK();
  }
  auto loop = std::make_shared<SharedLoop>(count, body);
  const int64_t helper_count = std::min<int64_t>(pool->thread_count(), count) - 1;
  for (int64_t i = 0; i < helper_count; ++i) {
    // Without a helper the caller just does more itself.
    if (!pool->executor()->Spawn([loop] { loop->Run(); }).ok()) break;
  }
  loop->Run();
  return loop->WaitUntilIdle();
}

}  // namespace infino
