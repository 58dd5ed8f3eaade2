#include "infino/common/work_pool.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/wait.h"
#include "infino/error.h"
#include "support/matchers.h"

namespace infino {
namespace {

TEST(WorkPool, RunsTasksOnItsOwnThreads) {
  INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<WorkPool> pool, WorkPool::Make(2));
  EXPECT_EQ(pool->thread_count(), 2);
  EXPECT_FALSE(pool->OwnsThisThread());
  std::atomic<bool> owned{false};
  INFINO_EXPECT_OK(WaitDone(pool->Submit([&] {
    owned = pool->OwnsThisThread();
    return arrow::Status::OK();
  })));
  EXPECT_TRUE(owned);
  EXPECT_THAT(WaitDone(pool->Submit([] { return MakeError(ErrorKind::kCorrupt, "x"); })),
              IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(WorkPool::Make(-1), IsError(ErrorKind::kInvalidArgument));
}

TEST(ParallelFor, RunsEveryBodyOnce) {
  for (const int thread_count : {1, 2, 8}) {
    INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<WorkPool> pool, WorkPool::Make(thread_count));
    for (const int64_t count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(count));
      INFINO_EXPECT_OK(ParallelFor(pool.get(), count, [&](int64_t i) {
        ++runs[static_cast<size_t>(i)];
        return arrow::Status::OK();
      }));
      for (const auto& run : runs) EXPECT_EQ(run, 1);
    }
  }
}

TEST(ParallelFor, ReturnsTheFirstFailureInOrder) {
  INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<WorkPool> pool, WorkPool::Make(4));
  for (int round = 0; round < 50; ++round) {
    std::atomic<int64_t> first{1000};
    const arrow::Status status = ParallelFor(pool.get(), 1000, [&](int64_t i) {
      if (i % 10 != 3) return arrow::Status::OK();
      for (int64_t seen = first; i < seen && !first.compare_exchange_weak(seen, i);) {
      }
      return MakeError(ErrorKind::kInternal, std::to_string(i));
    });
    EXPECT_EQ(status.message(), std::to_string(first));
  }
}

TEST(ParallelFor, WithoutAPoolRunsInOrderOnTheCaller) {
  std::vector<int64_t> order;
  const arrow::Status status = ParallelFor(nullptr, 5, [&](int64_t i) {
    order.push_back(i);
    return i == 2 ? MakeError(ErrorKind::kInternal, "stop") : arrow::Status::OK();
  });
  EXPECT_THAT(status, IsError(ErrorKind::kInternal));
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2}));
}

TEST(ParallelFor, ManyCallersShareAPoolWithoutWaitingForEachOther) {
  INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<WorkPool> pool, WorkPool::Make(2));
  INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<WorkPool> callers, WorkPool::Make(4));
  std::atomic<int64_t> sum{0};
  INFINO_EXPECT_OK(ParallelFor(callers.get(), 64, [&](int64_t) {
    return ParallelFor(pool.get(), 100, [&](int64_t i) {
      sum += i;
      return arrow::Status::OK();
    });
  }));
  EXPECT_EQ(sum, 64 * 4950);
}

}  // namespace
}  // namespace infino
