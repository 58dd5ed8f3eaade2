#include "infino/common/pool_threads.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/functional.h>
#include <arrow/util/thread_pool.h>
#include <pthread.h>

#include "infino/common/clock.h"
#include "infino/common/never_destroyed.h"
#include "infino/error.h"

namespace infino {
namespace {

using arrow::internal::FnOnce;
using arrow::internal::ThreadPool;

constexpr std::chrono::milliseconds kExitPatience{10'000};

/// All pools that are alive.
struct Registry {
  std::mutex mutex;
  std::vector<std::weak_ptr<ThreadPool>> pools;

  /// The thread for what must not happen on a pool's. Made when it is first needed.
  std::shared_ptr<ThreadPool> outside;

  /// What there was no thread for: not done, and what it holds is kept for good.
  std::vector<std::shared_ptr<FnOnce<void()>>> undone;
};

Registry& TheRegistry() {
  static NeverDestroyed<Registry> registry;
  return registry.value;
}

std::vector<std::shared_ptr<ThreadPool>> AllPools() {
  std::vector<std::shared_ptr<ThreadPool>> alive;
  const std::lock_guard lock(TheRegistry().mutex);
  for (const std::weak_ptr<ThreadPool>& pool : TheRegistry().pools) {
    if (auto held = pool.lock(); held != nullptr) alive.push_back(std::move(held));
  }
  return alive;
}

void AwaitTasksAtExit() {
  // A task that ends the process would wait for itself.
  if (!OnPoolThread()) static_cast<void>(AwaitPoolTasks(kExitPatience));
}

arrow::Status InstallHandlers() {
  // Handlers and the destructors of statics run in reverse: what Arrow makes with the first task
  // has to be there before our handler, so that it is still there while the handler waits.
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<ThreadPool> first, ThreadPool::Make(1));
  ARROW_RETURN_NOT_OK(first->Spawn([] {}));
  ARROW_RETURN_NOT_OK(first->Shutdown());
  // The registry is locked across a fork, so the child finds it whole.
  const auto lock = [] { TheRegistry().mutex.lock(); };
  const auto unlock = [] { TheRegistry().mutex.unlock(); };
  if (pthread_atfork(lock, unlock, unlock) != 0 || std::atexit(&AwaitTasksAtExit) != 0) {
    return arrow::Status::OutOfMemory("no room for handlers");
  }
  return arrow::Status::OK();
}

arrow::Status SpawnOutside(FnOnce<void()> work) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  if (registry.outside == nullptr) {
    ARROW_ASSIGN_OR_RAISE(registry.outside, ThreadPool::Make(1));
  }
  return registry.outside->Spawn(std::move(work));
}

bool IsAnyBusy() {
  const auto is_busy = [](const auto& pool) { return pool->GetNumTasks() > 0; };
  if (std::ranges::any_of(AllPools(), is_busy)) return true;
  const std::lock_guard lock(TheRegistry().mutex);
  return TheRegistry().outside != nullptr && is_busy(TheRegistry().outside);
}

}  // namespace

arrow::Result<std::shared_ptr<ThreadPool>> MakeThreadPool(int thread_count) {
  static const NeverDestroyed<arrow::Status> kInstalled(InstallHandlers());
  if (!kInstalled.value.ok()) return FromForeign(kInstalled.value, "cannot prepare for threads");
  auto made = ThreadPool::Make(thread_count);
  if (!made.ok()) return FromForeign(made.status(), "cannot make threads");
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  std::erase_if(registry.pools, [](const auto& pool) { return pool.expired(); });
  registry.pools.push_back(*made);
  return made;
}

bool OnPoolThread() {
  return std::ranges::any_of(AllPools(), [](const auto& pool) { return pool->OwnsThisThread(); });
}

void RunOffPool(FnOnce<void()> work) {
  if (!OnPoolThread()) {
    std::move(work)();
    return;
  }
  const auto shared = std::make_shared<FnOnce<void()>>(std::move(work));
  if (SpawnOutside([shared] { std::move (*shared)(); }).ok()) return;
  // The system gives no more threads. Better left undone than done here, where it would never end.
  const std::lock_guard lock(TheRegistry().mutex);
  TheRegistry().undone.push_back(shared);
}

bool AwaitPoolTasks(std::chrono::milliseconds at_most) {
  const std::shared_ptr<Clock> clock = SystemClock();
  const std::chrono::nanoseconds deadline = clock->Monotonic() + at_most;
  // Twice, because a task may start one on a pool that was found idle just before.
  for (int idle_rounds = 0; idle_rounds < 2;) {
    idle_rounds = IsAnyBusy() ? 0 : idle_rounds + 1;
    if (idle_rounds > 0) continue;
    if (clock->Monotonic() >= deadline) return false;
    clock->Sleep(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace infino
