#include "infino/commit/table_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/future.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/failpoint.h"
#include "infino/common/random.h"
#include "infino/common/scratch.h"
#include "infino/common/wait.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/storage/io_pool.h"
#include "infino/storage/local_store.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/layout.h"
#include "support/faulty_store.h"
#include "support/matchers.h"
#include "support/memory_scratch.h"
#include "support/temporary_folder.h"
#include "unit/commit/table_harness.h"

namespace infino {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kFolder = "docs-1";

std::vector<int64_t> UpTo(int64_t end) {
  std::vector<int64_t> numbers(static_cast<size_t>(end));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

/// A table in memory behind a store that can be told to fail, and a handle on it.
class TableWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    memory_ = MakeMemoryStore(std::make_shared<ManualClock>(kTestNowMs));
    faulty_ = std::make_shared<FaultyStore>(memory_, 1, FaultPlan());
    environment_ = TestEnvironment(faulty_);
    INFINO_ASSERT_OK(CommitNewTable(environment_, kFolder, RowTextTableSchema()));
    handle_ = OpenHandle(environment_, kFolder);
  }

  void TearDown() override { SetFailpointHook({}); }

  arrow::Result<AppendResult> Append(int64_t first_row, int64_t count,
                                     const AppendOptions& options = {}) {
    return handle_.writer->Append(NumberedStream(first_row, count, count), options);
  }

  /// Opens the handle anew, after a change of the environment.
  void Reopen() { handle_ = OpenHandle(environment_, kFolder); }

  void UsePool(int thread_count) {
    environment_.pool = WorkPool::Make(thread_count).ValueOrDie();
    Reopen();
  }

  [[nodiscard]] int64_t SuperfilesInStore() const {
    return CountObjects(*memory_, kFolder + "/data/");
  }

  std::shared_ptr<ObjectStore> memory_;
  std::shared_ptr<FaultyStore> faulty_;
  WriterEnvironment environment_;
  TableHandle handle_;
};

TEST_F(TableWriterTest, PublishesTheRowsOfAStreamAsOneVersion) {
  INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult result,
                              handle_.writer->Append(NumberedStream(0, 1000, 300), {}));
  EXPECT_EQ(result.rows, 1000U);
  EXPECT_EQ(result.superfiles, 1U);
  EXPECT_EQ(result.version, 2U);
  EXPECT_GT(result.bytes, 0U);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, ReadTable(environment_, kFolder));
  ASSERT_EQ(rows.size(), 1000U);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].row, static_cast<int64_t>(i));
    EXPECT_EQ(rows[i].id, rows[0].id.Plus(i));
  }
}

TEST_F(TableWriterTest, ShowsItsOwnCommitAtOnceWithoutAskingTheStore) {
  INFINO_ASSERT_OK(Append(0, 10));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto snapshot, handle_.loader->Current({}));
  EXPECT_EQ(snapshot->version(), 2U);
  EXPECT_EQ(snapshot->files.size(), 1U);
}

TEST_F(TableWriterTest, TakesColumnsInAnyLayoutThatHoldsTheSameValues) {
  TableSchema schema = RowTextTableSchema();
  schema.columns.push_back(
      {.field_id = ++schema.last_field_id,
       .field = arrow::field("kind", arrow::dictionary(arrow::int32(), arrow::utf8())),
       .text = {}});
  INFINO_ASSERT_OK(CommitNewTable(environment_, "kinds-1", schema));
  const TableHandle handle = OpenHandle(environment_, "kinds-1");
  const auto input =
      arrow::schema({arrow::field("kind", arrow::dictionary(arrow::int8(), arrow::utf8())),
                     arrow::field("row", arrow::int16())});
  int64_t row = 0;
  const auto next = [&]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
    if (row == 3) return std::shared_ptr<arrow::RecordBatch>();
    // A dictionary of its own in every batch.
    const std::string kind = std::string(1, static_cast<char>('a' + row));
    ARROW_ASSIGN_OR_RAISE(const auto kinds, arrow::json::ArrayFromJSONString(
                                                input->field(0)->type(), "[\"" + kind + "\"]"));
    ARROW_ASSIGN_OR_RAISE(const auto rows, arrow::json::ArrayFromJSONString(
                                               arrow::int16(), "[" + std::to_string(row++) + "]"));
    return arrow::RecordBatch::Make(input, 1, {kinds, rows});
  };
  INFINO_ASSERT_OK(handle.writer->Append(std::make_shared<FunctionReader>(input, next), {}));
  EXPECT_THAT(ReadRowNumbers(environment_, "kinds-1"), HasValue(UpTo(3)));
}

TEST_F(TableWriterTest, CommitsNothingForAStreamWithoutRows) {
  INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult none, Append(0, 0));
  EXPECT_EQ(none.rows, 0U);
  EXPECT_EQ(none.version, 1U);
  INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult empty,
                              handle_.writer->Append(StreamOf(NumberedRows(0, 0)), {}));
  EXPECT_EQ(empty.version, 1U);
  EXPECT_EQ(SuperfilesInStore(), 0);
}

TEST_F(TableWriterTest, LeavesTheTableAsItWasWhenTheStreamFails) {
  INFINO_ASSERT_OK(Append(0, 10));
  const auto end = arrow::Status::Invalid("the RecordBatch generator broke");
  const auto result = handle_.writer->Append(NumberedStream(10, 500, 100, end), {});
  ASSERT_THAT(result, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(result.status().message(),
              AllOf(HasSubstr("generator broke"), Not(HasSubstr("RecordBatch"))));
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(10)));
  EXPECT_EQ(SuperfilesInStore(), 1);
  INFINO_EXPECT_OK(Append(10, 10));
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(20)));
}

TEST_F(TableWriterTest, DeletesWhatAFailedLongStreamHasUploaded) {
  environment_.build_memory_bytes = int64_t{12} << 20;
  for (const int threads : {1, 3}) {
    UsePool(threads);
    uint64_t uploaded = 0;
    AppendOptions options;
    options.progress = [&](const AppendProgress& progress) {
      uploaded = progress.superfiles_written;
    };
    const auto end = arrow::Status::IOError("gone");
    const auto result = handle_.writer->Append(NumberedStream(0, 100'000, 10'000, end), options);
    EXPECT_THAT(result, IsError(ErrorKind::kUnavailable));
    EXPECT_GT(uploaded, 0U);
    EXPECT_EQ(SuperfilesInStore(), 0);
    EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(0)));
  }
}

TEST_F(TableWriterTest, BuildsOneSuperfileOfASmallAppend) {
  UsePool(2);
  INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult result,
                              handle_.writer->Append(NumberedStream(0, 50'000, 5'000), {}));
  EXPECT_EQ(result.superfiles, 1U);
}

TEST_F(TableWriterTest, BuildsALargeAppendOnAllCoresInInputOrder) {
  UsePool(2);
  constexpr int64_t kRows = 200'000;
  INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult result,
                              handle_.writer->Append(NumberedStream(0, kRows, 30'000), {}));
  EXPECT_EQ(result.rows, static_cast<uint64_t>(kRows));
  EXPECT_EQ(result.superfiles, 2U);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto snapshot, handle_.loader->Current({}));
  for (const Snapshot::File& file : snapshot->files) EXPECT_GT(file.entry->row_count, kRows / 3);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, ReadTable(environment_, kFolder));
  ASSERT_EQ(static_cast<int64_t>(rows.size()), kRows);
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].row, static_cast<int64_t>(i));
    ASSERT_EQ(rows[i].id, rows[0].id.Plus(i));
  }
}

/// The budget that may not be exceeded is the one to build in, so success shows that all builders
/// and uploads together stayed below it.
TEST_F(TableWriterTest, EndsSuperfilesInsteadOfExceedingTheMemory) {
  for (const int threads : {0, 1, 3}) {
    environment_.build_memory_bytes = int64_t{48} << 20;
    environment_.memory_budget_bytes = int64_t{48} << 20;
    UsePool(std::max(threads, 1));
    if (threads == 0) environment_.pool = nullptr;
    Reopen();
    const std::string folder = "long-" + std::to_string(threads);
    INFINO_ASSERT_OK(CommitNewTable(environment_, folder, RowTextTableSchema()));
    const TableHandle handle = OpenHandle(environment_, folder);
    INFINO_ASSERT_OK_AND_ASSIGN(
        const AppendResult result,
        handle.writer->Append(NumberedStream(0, 60'000, 10'000, arrow::Status::OK(), 40), {}));
    EXPECT_GT(result.superfiles, 1U);
    EXPECT_THAT(ReadRowNumbers(environment_, folder), HasValue(UpTo(60'000)));
  }
}

TEST_F(TableWriterTest, PutsIndexesOutOfMemoryBeforeItEndsSuperfiles) {
  environment_.build_memory_bytes = int64_t{12} << 20;
  std::vector<uint64_t> superfiles;
  const auto scratch = std::make_shared<MemoryScratch>();
  for (const bool has_scratch : {false, true}) {
    environment_.scratch = has_scratch ? scratch : nullptr;
    Reopen();
    const std::string folder = has_scratch ? "spills-1" : "spills-0";
    INFINO_ASSERT_OK(CommitNewTable(environment_, folder, RowTextTableSchema()));
    const TableHandle handle = OpenHandle(environment_, folder);
    INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult result,
                                handle.writer->Append(NumberedStream(0, 150'000, 10'000), {}));
    EXPECT_THAT(ReadRowNumbers(environment_, folder), HasValue(UpTo(150'000)));
    superfiles.push_back(result.superfiles);
  }
  EXPECT_LT(superfiles[1], superfiles[0]);
  EXPECT_GT(scratch->files(), 0);
  EXPECT_EQ(scratch->open_files(), 0);
}

TEST_F(TableWriterTest, BuildsWithinABudgetThatTheIndexAloneWouldExceed) {
  const auto least_budget = [&](const std::shared_ptr<ScratchSpace>& scratch) {
    environment_.scratch = scratch;
    for (environment_.memory_budget_bytes = int64_t{1} << 20;;
         environment_.memory_budget_bytes += int64_t{1} << 20) {
      Reopen();
      const auto result =
          handle_.writer->Append(NumberedStream(0, 8000, 1000, arrow::Status::OK(), 60), {});
      if (result.ok()) return environment_.memory_budget_bytes;
      EXPECT_THAT(result, IsError(ErrorKind::kResourceExhausted));
    }
  };
  const int64_t with_scratch = least_budget(std::make_shared<MemoryScratch>());
  const int64_t without = least_budget(nullptr);
  EXPECT_LT(with_scratch, without);
}

TEST_F(TableWriterTest, LeavesTheTableAsItWasWhenTheScratchFolderFails) {
  environment_.build_memory_bytes = int64_t{12} << 20;
  for (const int threads : {0, 2}) {
    UsePool(std::max(threads, 1));
    if (threads == 0) environment_.pool = nullptr;
    const auto append = [&](std::shared_ptr<ScratchSpace> scratch) {
      environment_.scratch = std::move(scratch);
      Reopen();
      return handle_.writer->Append(NumberedStream(0, 150'000, 10'000), {});
    };
    const auto no_file =
        append(std::make_shared<MemoryScratch>(MemoryScratch::Plan{.files_max = 0}));
    ASSERT_THAT(no_file, IsError(ErrorKind::kUnavailable));
    EXPECT_THAT(no_file.status().message(), HasSubstr("/memory"));
    const auto full =
        append(std::make_shared<MemoryScratch>(MemoryScratch::Plan{.bytes_max = 500'000}));
    ASSERT_THAT(full, IsError(ErrorKind::kResourceExhausted));
    EXPECT_THAT(full.status().message(), HasSubstr("/memory"));
    EXPECT_EQ(SuperfilesInStore(), 0);
    EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(0)));
  }
}

TEST_F(TableWriterTest, FailsWhenTheBudgetHoldsNotEvenOneSlice) {
  environment_.memory_budget_bytes = 1000;
  Reopen();
  const auto result = Append(0, 1000);
  ASSERT_THAT(result, IsError(ErrorKind::kResourceExhausted));
  EXPECT_THAT(result.status().message(),
              AllOf(HasSubstr("during ingest"), HasSubstr("requested_bytes="),
                    HasSubstr("limit_bytes=1000")));
  EXPECT_EQ(SuperfilesInStore(), 0);
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(0)));
}

TEST_F(TableWriterTest, StopsBetweenSlices) {
  UsePool(2);
  int asked = 0;
  AppendOptions options;
  options.stop.poll = [&] { return ++asked > 12; };
  EXPECT_THAT(handle_.writer->Append(NumberedStream(0, 500'000, 10'000), options),
              IsError(ErrorKind::kCancelled));
  EXPECT_EQ(SuperfilesInStore(), 0);
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(0)));
}

TEST_F(TableWriterTest, RebasesWhenAnotherWriterWinsTheSwap) {
  const TableHandle other = OpenHandle(environment_, kFolder);
  bool done = false;
  SetFailpointHook([&](std::string_view name) {
    if (name != "commit.staged" || std::exchange(done, true)) return;
    INFINO_EXPECT_OK(other.writer->Append(NumberedStream(10, 5, 5), {}));
  });
  INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult result, Append(0, 10));
  EXPECT_EQ(result.version, 3U);
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(15)));
  EXPECT_EQ(SuperfilesInStore(), 2);
}

TEST_F(TableWriterTest, GivesUpWithAConflictWhenOthersAlwaysWin) {
  environment_.commit_timeout_ms = 2000;
  Reopen();
  const TableHandle other = OpenHandle(environment_, kFolder);
  bool inside = false;
  int64_t next = 0;
  SetFailpointHook([&](std::string_view name) {
    if (name != "commit.staged" || inside) return;
    inside = true;
    INFINO_EXPECT_OK(other.writer->Append(NumberedStream(next++, 1, 1), {}));
    inside = false;
  });
  EXPECT_THAT(Append(1000, 10), IsError(ErrorKind::kConflict));
  EXPECT_GT(next, 3);
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(next)));
  EXPECT_EQ(SuperfilesInStore(), next);
}

TEST_F(TableWriterTest, TouchesNothingWhenTheSwapIsUnknown) {
  environment_.commit_timeout_ms = 1000;
  Reopen();
  FaultPlan plan;
  plan.Set(StoreOp::kPutIfMatch, {.fail_before = 1});
  faulty_->SetPlan(plan);
  EXPECT_THAT(Append(0, 10), IsError(ErrorKind::kCommitUnknown));
  EXPECT_EQ(SuperfilesInStore(), 1);
  faulty_->SetPlan(FaultPlan());
  INFINO_EXPECT_OK(Append(0, 10));
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(10)));
}

TEST_F(TableWriterTest, CommitsOnceWhenTheAnswerToTheSwapIsLost) {
  FaultPlan plan;
  plan.Set(StoreOp::kPutIfMatch, {.lose_answer = 1});
  faulty_->SetPlan(plan);
  INFINO_EXPECT_OK(Append(0, 10));
  faulty_->SetPlan(FaultPlan());
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(10)));
}

TEST_F(TableWriterTest, DeletesItsSuperfilesWhenStagingFails) {
  FaultPlan plan;
  plan.Set(StoreOp::kPutAllIfAbsent, {.lose_answer = 1});
  faulty_->SetPlan(plan);
  EXPECT_THAT(Append(0, 10), IsError(ErrorKind::kUnavailable));
  EXPECT_EQ(SuperfilesInStore(), 0);
}

TEST_F(TableWriterTest, CountsAnObjectOfItsOwnThatIsThereAsWritten) {
  environment_.build_memory_bytes = int64_t{12} << 20;
  UsePool(1);
  FaultPlan plan;
  plan.Set(StoreOp::kPutAllIfAbsent, {.echo = 1});
  plan.Set(StoreOp::kPutIfAbsent, {.echo = 1});
  faulty_->SetPlan(plan);
  INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult result,
                              handle_.writer->Append(NumberedStream(0, 150'000, 10'000), {}));
  EXPECT_GT(result.superfiles, 1U);
  faulty_->SetPlan(FaultPlan());
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(150'000)));
}

TEST_F(TableWriterTest, RefusesADroppedTable) {
  INFINO_ASSERT_OK(Append(0, 10));
  INFINO_ASSERT_OK(CommitDrop(environment_, kFolder));
  EXPECT_THAT(Append(10, 10), IsError(ErrorKind::kNotFound));
  INFINO_EXPECT_OK(CommitDrop(environment_, kFolder));
  EXPECT_THAT(CommitDrop(environment_, "never-1"), IsError(ErrorKind::kNotFound));
}

TEST_F(TableWriterTest, LosesToADropInTheMiddleOfACommit) {
  SetFailpointHook([&](std::string_view name) {
    if (name == "commit.staged") {
      INFINO_EXPECT_OK(CommitDrop(environment_, kFolder));
    }
  });
  EXPECT_THAT(Append(0, 10), IsError(ErrorKind::kNotFound));
  EXPECT_EQ(SuperfilesInStore(), 0);
}

TEST_F(TableWriterTest, CreatesATableOnlyOnce) {
  EXPECT_THAT(CommitNewTable(environment_, kFolder, RowTextTableSchema()),
              IsError(ErrorKind::kAlreadyExists));
}

TEST_F(TableWriterTest, LetsThreadsThroughOneHandleQueueUp) {
  environment_.clock = SystemClock();
  UsePool(2);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto threads, IoPool::Make(4));
  std::vector<arrow::Future<AppendResult>> appends;
  for (int64_t i = 0; i < 12; ++i) {
    appends.push_back(threads->Submit<AppendResult>([this, i] { return Append(i * 100, 100); }));
  }
  for (const auto& append : appends) INFINO_EXPECT_OK(Wait(append));
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(1200)));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto snapshot, handle_.loader->Newest({}));
  EXPECT_EQ(snapshot->version(), 13U);
}

TEST_F(TableWriterTest, RefusesAnAppendFromInsideItsOwnSource) {
  const auto rows = std::make_shared<FunctionReader>(
      RowTextTableSchema().ToArrow(), [&]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
        ARROW_RETURN_NOT_OK(Append(0, 10));
        return std::shared_ptr<arrow::RecordBatch>();
      });
  EXPECT_THAT(handle_.writer->Append(rows, {}), IsError(ErrorKind::kInvalidArgument));
  INFINO_EXPECT_OK(Append(0, 10));
}

TEST_F(TableWriterTest, TellsHowFarItIs) {
  std::vector<uint64_t> rows;
  AppendOptions options;
  options.progress = [&](const AppendProgress& progress) { rows.push_back(progress.rows_read); };
  INFINO_ASSERT_OK(handle_.writer->Append(NumberedStream(0, 300, 100), options));
  EXPECT_THAT(rows, ::testing::ElementsAre(100, 200, 300, 300));
}

TEST_F(TableWriterTest, WritesLessThanTwiceItsSuperfilesHoweverManyCommitsThereWere) {
  constexpr int64_t kAppends = 200;
  uint64_t data_bytes = 0;
  for (int64_t i = 0; i < kAppends; ++i) {
    INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult result, Append(i * 1000, 1000));
    data_bytes += result.bytes;
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const auto objects, Wait(memory_->List(kFolder + "/")));
  int64_t all_bytes = 0;
  for (const ObjectInfo& object : objects) all_bytes += object.size;
  // Each commit also wrote a pointer, which holds a copy of its root; listings show only the last.
  INFINO_ASSERT_OK_AND_ASSIGN(const auto pointer, Wait(memory_->Head(PointerPath(kFolder))));
  all_bytes += pointer.size * kAppends;
  EXPECT_LT(all_bytes, 2 * static_cast<int64_t>(data_bytes));
}

TEST(TableWriterOnDisk, SyncsAtMostEightTimesACommit) {
  const TemporaryFolder folder;
  const auto counters = std::make_shared<LocalStoreCounters>();
  INFINO_ASSERT_OK_AND_ASSIGN(const auto store,
                              OpenLocalStore(folder.path(), {.counters = counters}));
  const WriterEnvironment environment = TestEnvironment(store);
  INFINO_ASSERT_OK(CommitNewTable(environment, kFolder, RowTextTableSchema()));
  const TableHandle handle = OpenHandle(environment, kFolder);
  INFINO_ASSERT_OK(handle.writer->Append(StreamOf(NumberedRows(0, 100)), {}));
  for (int64_t i = 1; i < 20; ++i) {
    const int64_t before = counters->fsync_count;
    INFINO_ASSERT_OK(handle.writer->Append(StreamOf(NumberedRows(i * 100, 100)), {}));
    EXPECT_LE(counters->fsync_count - before, 8);
  }
  EXPECT_THAT(ReadRowNumbers(environment, kFolder), HasValue(UpTo(2000)));
}

}  // namespace
}  // namespace infino
