#include "infino/storage/io_pool.h"

#include <memory>
#include <utility>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/functional.h>
#include <arrow/util/macros.h>
#include <arrow/util/thread_pool.h>

#include "infino/error.h"

namespace infino {

arrow::Result<std::unique_ptr<IoPool>> IoPool::Make(int thread_count) {
  arrow::Result<std::shared_ptr<arrow::internal::ThreadPool>> pool =
      arrow::internal::ThreadPool::MakeEternal(thread_count);
  if (!pool.ok()) return FromForeign(pool.status(), "cannot make the IO threads");
  return std::make_unique<IoPool>(Key{}, *std::move(pool));
}

IoPool::IoPool(Key /*key*/, std::shared_ptr<arrow::internal::ThreadPool> pool)
    : pool_(std::move(pool)) {}

IoPool::~IoPool() {
  if (!pool_->OwnsThisThread()) {
    ARROW_UNUSED(pool_->Shutdown());
    return;
  }
  // A thread cannot join itself, so one of Arrow's takes over. It never belongs to this pool.
  arrow::internal::Executor* other = arrow::io::default_io_context().executor();
  ARROW_UNUSED(other->Spawn([pool = std::move(pool_)] { ARROW_UNUSED(pool->Shutdown()); }));
}

arrow::Status IoPool::Spawn(arrow::internal::FnOnce<void()> task) {
  const arrow::Status spawned = pool_->Spawn(std::move(task));
  return spawned.ok() ? spawned : FromForeign(spawned, "cannot start an IO task");
}

}  // namespace infino
