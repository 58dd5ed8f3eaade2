#include "infino/commit/turn_queue.h"

#include <memory>
#include <optional>

#include <arrow/status.h>
#include <arrow/util/future.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/storage/io_pool.h"
#include "support/matchers.h"

namespace infino {
namespace {

StopCondition StopNow() {
  StopCondition stop;
  stop.poll = [] { return true; };
  return stop;
}

class TurnQueueTest : public ::testing::Test {
 protected:
  /// Takes a turn on another thread and gives it back.
  arrow::Future<bool> PassThrough(const StopCondition& stop = {}) {
    return threads_->Submit<bool>([this, stop]() -> arrow::Result<bool> {
      ARROW_ASSIGN_OR_RAISE(const TurnQueue::Turn turn, queue_.Take(stop));
      return true;
    });
  }

  TurnQueue queue_;
  std::unique_ptr<IoPool> threads_ = IoPool::Make(2).ValueOrDie();
};

TEST_F(TurnQueueTest, LetsTheNextInWhenATurnEnds) {
  auto first = queue_.Take({});
  INFINO_ASSERT_OK(first);
  std::optional<TurnQueue::Turn> turn(std::move(first).ValueUnsafe());
  const auto waiting = PassThrough();
  EXPECT_FALSE(waiting.Wait(0.05));
  turn.reset();
  EXPECT_THAT(Wait(waiting), HasValue(true));
  INFINO_EXPECT_OK(queue_.Take({}).status());
}

TEST_F(TurnQueueTest, ForgetsWhoGaveUpWaiting) {
  auto first = queue_.Take({});
  INFINO_ASSERT_OK(first);
  std::optional<TurnQueue::Turn> turn(std::move(first).ValueUnsafe());
  EXPECT_THAT(Wait(PassThrough(StopNow())), IsError(ErrorKind::kCancelled));
  turn.reset();
  EXPECT_THAT(Wait(PassThrough()), HasValue(true));
}

TEST_F(TurnQueueTest, RefusesASecondTurnOfOneThread) {
  auto first = queue_.Take({});
  INFINO_ASSERT_OK(first);
  EXPECT_THAT(queue_.Take({}).status(), IsError(ErrorKind::kInvalidArgument));
}

}  // namespace
}  // namespace infino
