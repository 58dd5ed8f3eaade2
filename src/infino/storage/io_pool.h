#pragma once

#include <memory>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/functional.h>
#include <arrow/util/future.h>
#include <arrow/util/thread_pool.h>

namespace infino {

/// A few threads that may wait: for a disk, for a lock, for a back-off to end. They start with the
/// first task, and anew in a forked child.
///
/// The destructor waits for all tasks. It may run on a pool's thread, also one of this pool, as
/// happens when a continuation lets go of the last reference to a store: then another thread does
/// the waiting. Either way the end of the process waits for the tasks; see
/// MakeThreadPool.
class IoPool {
 private:
  struct Key {  // Lets only Make construct.
    explicit Key() = default;
  };

 public:
  [[nodiscard]] static arrow::Result<std::unique_ptr<IoPool>> Make(int thread_count);
  IoPool(Key key, std::shared_ptr<arrow::internal::ThreadPool> pool);
  ~IoPool();
  IoPool(const IoPool&) = delete;
  IoPool& operator=(const IoPool&) = delete;
  IoPool(IoPool&&) = delete;
  IoPool& operator=(IoPool&&) = delete;

  /// Runs `task` on the pool.
  [[nodiscard]] arrow::Status Spawn(arrow::internal::FnOnce<void()> task);

  /// Runs `task` on the pool and completes the future with the arrow::Result that it returns.
  template <typename T, typename Task>
  [[nodiscard]] arrow::Future<T> Submit(Task task) {
    auto done = arrow::Future<T>::Make();
    const arrow::Status spawned =
        Spawn([done, task = std::move(task)]() mutable { done.MarkFinished(std::move(task)()); });
    if (!spawned.ok()) return arrow::Future<T>::MakeFinished(spawned);
    return done;
  }

 private:
  std::shared_ptr<arrow::internal::ThreadPool> pool_;
};

}  // namespace infino
