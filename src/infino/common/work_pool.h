#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/functional.h>
#include <arrow/util/future.h>
#include <arrow/util/thread_pool.h>

namespace infino {

/// The CPU pool: one thread a core by default. Its threads compute and never wait: no future, no
/// lock held across work, no read. Thread-safe. Built on Arrow's pool, which starts new threads in
/// a forked child. The last reference may be let go anywhere, also by a task of the pool; all tasks
/// run before the threads end.
class WorkPool {
 public:
  [[nodiscard]] static arrow::Result<std::shared_ptr<WorkPool>> Make(int thread_count);

  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;
  WorkPool(WorkPool&&) = delete;
  WorkPool& operator=(WorkPool&&) = delete;

  [[nodiscard]] int thread_count() const;

  /// Runs `task` on the pool and completes the future with what it returns.
  [[nodiscard]] arrow::Future<> Submit(std::function<arrow::Status()> task);

  /// Whether the calling thread is one of this pool's.
  [[nodiscard]] bool OwnsThisThread() const;

  /// Arrow's view of the pool, for Future continuations.
  [[nodiscard]] arrow::internal::Executor* executor() const;

 private:
  explicit WorkPool(std::shared_ptr<arrow::internal::ThreadPool> pool);

  std::shared_ptr<arrow::internal::ThreadPool> pool_;
};

/// Runs `body(i)` for every i in [0, count): on the calling thread when `pool` is null, has one
/// thread, or count is 1; else on the pool with the caller taking part. Returns the first failure
/// in order of i after all started bodies ended; bodies not yet started are then skipped. REQUIRES:
/// the caller is no thread of the pool.
[[nodiscard]] arrow::Status ParallelFor(WorkPool* pool, int64_t count,
                                        const std::function<arrow::Status(int64_t)>& body);

}  // namespace infino
