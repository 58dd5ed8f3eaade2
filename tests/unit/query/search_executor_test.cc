#include "infino/query/search_executor.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/status.h>
#include <arrow/util/cancel.h>
#include <arrow/util/future.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/index/index_search.h"
#include "support/matchers.h"

namespace infino {
namespace {

using ::testing::ElementsAre;

/// Bytes that are resident or not, as told; notes what was asked of it, in `log`.
class ScriptedReader final : public RangeReader {
 public:
  ScriptedReader(std::string name, bool resident, std::vector<std::string>* log)
      : name_(std::move(name)), resident_(resident), log_(log) {}

  [[nodiscard]] int64_t size() const override { return 1000; }

  [[nodiscard]] arrow::Future<Buffers> Read(std::vector<ByteRange> ranges) const override {
    if (log_ != nullptr) log_->push_back("read " + name_);
    if (failure_) return arrow::Future<Buffers>::MakeFinished(*failure_);
    return arrow::Future<Buffers>::MakeFinished(Make(ranges));
  }

  [[nodiscard]] std::optional<Buffers> TryRead(std::span<const ByteRange> ranges) const override {
    if (!resident_) return std::nullopt;
    return Make(ranges);
  }

  void Fail(arrow::Status failure) { failure_ = std::move(failure); }

 private:
  static Buffers Make(std::span<const ByteRange> ranges) {
    Buffers buffers;
    for (const ByteRange& range : ranges) {
      buffers.push_back(
          arrow::Buffer::FromString(std::string(static_cast<size_t>(range.length), 'x')));
    }
    return buffers;
  }

  std::string name_;
  bool resident_;
  std::vector<std::string>* log_;
  std::optional<arrow::Status> failure_;
};

/// Wants `rounds` rounds of one range each.
class ScriptedSearch final : public IndexSearch {
 public:
  ScriptedSearch(std::string name, int rounds, std::vector<std::string>* log)
      : name_(std::move(name)), rounds_(rounds), log_(log) {}

  std::vector<ByteRange> NextReads() override {
    if (fed_ == rounds_) return {};
    return {{.offset = fed_, .length = 3}};
  }

  arrow::Status Feed(Buffers bytes) override {
    EXPECT_EQ(bytes.size(), 1U);
    EXPECT_EQ(bytes[0]->size(), 3);
    ++fed_;
    if (log_ != nullptr) log_->push_back("feed " + name_);
    return arrow::Status::OK();
  }

  [[nodiscard]] int fed() const { return fed_; }

 private:
  std::string name_;
  int rounds_;
  std::vector<std::string>* log_;
  int fed_ = 0;
};

TEST(RunTasks, FinishesAResidentTaskBeforeTheNextOneStarts) {
  std::vector<std::string> log;
  const ScriptedReader reader("r", /*resident=*/true, &log);
  ScriptedSearch a("a", 2, &log);
  ScriptedSearch b("b", 1, &log);
  std::vector<SearchTask> tasks = {MakeTask(a, reader), MakeTask(b, reader)};
  ASSERT_THAT(RunTasks(tasks, {}, {}), IsOk());
  EXPECT_THAT(log, ElementsAre("feed a", "feed a", "feed b"));
}

TEST(RunTasks, ReadsWhatAllTasksLackInOneWave) {
  std::vector<std::string> log;
  const ScriptedReader cold_a("a", /*resident=*/false, &log);
  const ScriptedReader cold_b("b", /*resident=*/false, &log);
  const ScriptedReader warm("c", /*resident=*/true, &log);
  ScriptedSearch a("a", 2, &log);
  ScriptedSearch b("b", 1, &log);
  ScriptedSearch c("c", 1, &log);
  std::vector<SearchTask> tasks = {MakeTask(a, cold_a), MakeTask(b, cold_b), MakeTask(c, warm)};
  ASSERT_THAT(RunTasks(tasks, {}, {}), IsOk());
  EXPECT_THAT(log,
              ElementsAre("feed c", "read a", "read b", "feed a", "feed b", "read a", "feed a"));
}

TEST(RunTasks, EndsATaskThatIsSkippedWithoutReadingForIt) {
  std::vector<std::string> log;
  const ScriptedReader cold("r", /*resident=*/false, &log);
  ScriptedSearch a("a", 1, &log);
  std::vector<SearchTask> tasks = {MakeTask(a, cold)};
  tasks[0].skip = [] { return true; };
  ASSERT_THAT(RunTasks(tasks, {}, {}), IsOk());
  EXPECT_TRUE(tasks[0].skipped);
  EXPECT_TRUE(log.empty());
}

TEST(RunTasks, RunsLargeWorkOnThePoolAndGetsAllOfItDone) {
  const auto pool = WorkPool::Make(4);
  ASSERT_THAT(pool, IsOk());
  const ScriptedReader cold("r", /*resident=*/false, nullptr);
  std::vector<std::unique_ptr<ScriptedSearch>> searches;
  std::vector<SearchTask> tasks;
  for (int i = 0; i < 100; ++i) {
    searches.push_back(std::make_unique<ScriptedSearch>("s", 1 + i % 4, nullptr));
    tasks.push_back(MakeTask(*searches.back(), cold));
  }
  ASSERT_THAT(RunTasks(tasks, {.pool = pool->get(), .work_bytes = kWorthAPoolBytes}, {}), IsOk());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(searches[static_cast<size_t>(i)]->fed(), 1 + i % 4);
}

TEST(RunTasks, ReturnsTheFailureOfARead) {
  ScriptedReader cold("r", /*resident=*/false, nullptr);
  cold.Fail(MakeError(ErrorKind::kUnavailable, "down"));
  ScriptedSearch a("a", 1, nullptr);
  std::vector<SearchTask> tasks = {MakeTask(a, cold)};
  EXPECT_THAT(RunTasks(tasks, {}, {}), IsError(ErrorKind::kUnavailable));
}

TEST(RunTasks, AsksBetweenRoundsWhetherToGoOn) {
  const ScriptedReader warm("r", /*resident=*/true, nullptr);
  ScriptedSearch a("a", 5, nullptr);
  std::vector<SearchTask> tasks = {MakeTask(a, warm)};
  StopCondition stop;
  stop.poll = [&] { return a.fed() >= 2; };
  EXPECT_THAT(RunTasks(tasks, {}, stop), IsError(ErrorKind::kCancelled));
  EXPECT_EQ(a.fed(), 2);
}

TEST(RunTasks, NeverPollsFromThePool) {
  const auto pool = WorkPool::Make(4);
  ASSERT_THAT(pool, IsOk());
  const ScriptedReader cold("r", /*resident=*/false, nullptr);
  std::vector<std::unique_ptr<ScriptedSearch>> searches;
  std::vector<SearchTask> tasks;
  for (int i = 0; i < 200; ++i) {
    searches.push_back(std::make_unique<ScriptedSearch>("s", 2, nullptr));
    tasks.push_back(MakeTask(*searches.back(), cold));
  }
  StopCondition stop;
  std::atomic<bool> polled_on_pool = false;
  stop.poll = [&] {
    if ((*pool)->OwnsThisThread()) polled_on_pool = true;
    return false;
  };
  ASSERT_THAT(RunTasks(tasks, {.pool = pool->get(), .work_bytes = kWorthAPoolBytes}, stop), IsOk());
  EXPECT_FALSE(polled_on_pool.load());
}

TEST(RunTasks, StopsByTokenOnThePool) {
  const auto pool = WorkPool::Make(2);
  ASSERT_THAT(pool, IsOk());
  const ScriptedReader warm("r", /*resident=*/true, nullptr);
  ScriptedSearch a("a", 5, nullptr);
  ScriptedSearch b("b", 5, nullptr);
  std::vector<SearchTask> tasks = {MakeTask(a, warm), MakeTask(b, warm)};
  arrow::StopSource source;
  source.RequestStop();
  StopCondition stop;
  stop.token = source.token();
  EXPECT_THAT(RunTasks(tasks, {.pool = pool->get(), .work_bytes = kWorthAPoolBytes}, stop),
              IsError(ErrorKind::kCancelled));
}

}  // namespace
}  // namespace infino
