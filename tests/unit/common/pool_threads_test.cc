#include "infino/common/pool_threads.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

#include <arrow/status.h>
#include <arrow/util/future.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "infino/common/clock.h"
#include "infino/common/wait.h"
#include "infino/common/work_pool.h"
#include "support/matchers.h"

namespace infino {
namespace {

void Sleep(int ms) {
  SystemClock()->Sleep(std::chrono::milliseconds(ms));
}

/// What the program returns that `body` is the rest of.
template <typename Body>
int ExitCodeOf(const Body& body) {
  const pid_t child = fork();
  EXPECT_GE(child, 0);
  if (child == 0) {
    body();
    std::exit(0);
  }
  int state = 0;
  EXPECT_EQ(waitpid(child, &state, 0), child);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

/// A static of the program's, made before any pool, that must find a task over.
struct Witness {
  std::atomic<bool> is_waiting{false};

  ~Witness() {
    if (is_waiting) _exit(7);
  }
};

Witness witness;

TEST(PoolThreads, TheEndOfAProcessWaitsForWhatATaskStillHolds) {
  const int code = ExitCodeOf([] {
    auto pool = WorkPool::Make(1).ValueOrDie();
    auto done = arrow::Future<>::Make();
    witness.is_waiting = true;
    // The last to go, a while after the future is done.
    std::shared_ptr<void> held(nullptr, [](void*) {
      Sleep(200);
      witness.is_waiting = false;
    });
    auto finish = [held = std::move(held), done]() mutable { done.MarkFinished(); };
    INFINO_ASSERT_OK(pool->executor()->Spawn(std::move(finish)));
    // The pool outlives main, as one in a static does.
    [[maybe_unused]] auto* left = std::make_unique<std::shared_ptr<WorkPool>>(pool).release();
    ASSERT_TRUE(done.Wait(60));
  });
  EXPECT_EQ(code, 0);
}

TEST(PoolThreads, ATaskThatEndsTheProcessDoesNotWaitForItself) {
  const int code = ExitCodeOf([] {
    alarm(5);
    auto pool = WorkPool::Make(1).ValueOrDie();
    INFINO_ASSERT_OK(pool->executor()->Spawn([] { std::exit(3); }));
    Sleep(60'000);
  });
  EXPECT_EQ(code, 3);
}

TEST(PoolThreads, AForkedChildDoesNotWaitForItsParentsTasks) {
  auto pool = WorkPool::Make(1).ValueOrDie();
  auto go = arrow::Future<>::Make();
  INFINO_ASSERT_OK(pool->executor()->Spawn([go] { go.Wait(); }));
  EXPECT_FALSE(AwaitPoolTasks(std::chrono::milliseconds(20)));
  const int code = ExitCodeOf([] {
    if (!AwaitPoolTasks(std::chrono::milliseconds(20))) _exit(8);
  });
  EXPECT_EQ(code, 0);
  go.MarkFinished();
  EXPECT_TRUE(AwaitPoolTasks(std::chrono::seconds(60)));
}

TEST(PoolThreads, APoolMayBeLetGoByItsOwnTask) {
  for (int round = 0; round < 50; ++round) {
    auto pool = WorkPool::Make(2).ValueOrDie();
    const std::weak_ptr<WorkPool> watched = pool;
    std::atomic<int> run = 0;
    auto go = arrow::Future<>::Make();
    for (int i = 0; i < 8; ++i) {
      INFINO_ASSERT_OK(pool->executor()->Spawn([go, &run, pool] {
        go.Wait();
        ++run;
      }));
    }
    pool.reset();
    go.MarkFinished();
    ASSERT_TRUE(AwaitPoolTasks(std::chrono::seconds(60)));
    EXPECT_TRUE(watched.expired());
    EXPECT_EQ(run, 8);
  }
}

TEST(PoolThreads, WorkOffThePoolRunsAtOnceElsewhereAndLaterFromATask) {
  bool has_run = false;
  RunOffPool([&] { has_run = true; });
  EXPECT_TRUE(has_run);
  EXPECT_FALSE(OnPoolThread());

  auto pool = WorkPool::Make(1).ValueOrDie();
  auto elsewhere = arrow::Future<bool>::Make();
  INFINO_ASSERT_OK(WaitDone(pool->Submit([&]() -> arrow::Status {
    EXPECT_TRUE(OnPoolThread());
    RunOffPool([&] { elsewhere.MarkFinished(!pool->OwnsThisThread() && !OnPoolThread()); });
    return arrow::Status::OK();
  })));
  EXPECT_THAT(Wait(elsewhere), HasValue(true));
}

}  // namespace
}  // namespace infino
