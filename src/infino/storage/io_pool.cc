#include "infino/storage/io_pool.h"

#include <memory>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/functional.h>
#include <arrow/util/macros.h>
#include <arrow/util/thread_pool.h>

#include "infino/common/pool_threads.h"
#include "infino/error.h"

namespace infino {

arrow::Result<std::unique_ptr<IoPool>> IoPool::Make(int thread_count) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::internal::ThreadPool> pool,
                        MakeThreadPool(thread_count));
  return std::make_unique<IoPool>(Key{}, std::move(pool));
}

IoPool::IoPool(Key /*key*/, std::shared_ptr<arrow::internal::ThreadPool> pool)
    : pool_(std::move(pool)) {}

IoPool::~IoPool() {
  RunOffPool([pool = std::move(pool_)] { ARROW_UNUSED(pool->Shutdown()); });
}

arrow::Status IoPool::Spawn(arrow::internal::FnOnce<void()> task) {
  const arrow::Status spawned = pool_->Spawn(std::move(task));
  return spawned.ok() ? spawned : FromForeign(spawned, "cannot start an IO task");
}

}  // namespace infino
