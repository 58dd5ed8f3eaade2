#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/commit/table_writer.h"
#include "infino/common/clock.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "infino/table.h"
#include "support/faulty_store.h"
#include "support/matchers.h"
#include "support/memory_scratch.h"
#include "unit/commit/table_harness.h"

namespace infino {
namespace {

const std::string kFolder = "docs-1";

std::vector<int64_t> UpTo(int64_t end) {
  std::vector<int64_t> numbers(static_cast<size_t>(end));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

/// Appends so much that superfiles are uploaded from scratch files, the last ones too.
class LongAppendTest : public ::testing::Test {
 protected:
  static constexpr int64_t kRows = 15'000;
  static constexpr int kWords = 30;

  void SetUp() override {
    memory_ = MakeMemoryStore(std::make_shared<ManualClock>(kTestNowMs));
    faulty_ = std::make_shared<FaultyStore>(memory_, 1, FaultPlan());
    environment_ = TestEnvironment(faulty_);
    INFINO_ASSERT_OK(CommitNewTable(environment_, kFolder, RowTextTableSchema()));
    environment_.build_memory_bytes = int64_t{12} << 20;
    environment_.scratch = scratch_;
  }

  void UseThreads(int threads) {
    environment_.pool = nullptr;
    if (threads > 0) environment_.pool = WorkPool::Make(threads).ValueOrDie();
    Reopen();
  }

  static arrow::Result<AppendResult> AppendLongTo(const TableHandle& handle) {
    return handle.writer->Append(NumberedStream(0, kRows, 1'000, arrow::Status::OK(), kWords), {});
  }

  arrow::Result<AppendResult> AppendLong() { return AppendLongTo(handle_); }

  [[nodiscard]] int64_t CallsOf(StoreOp op) const {
    const std::vector<std::string> trace = faulty_->Trace();
    return std::ranges::count_if(trace, [op](const std::string& line) {
      return line.find(" " + std::string(NameOf(op)) + " ") != std::string::npos;
    });
  }

  void Reopen() { handle_ = OpenHandle(environment_, kFolder); }

  [[nodiscard]] int64_t SuperfilesInStore() const {
    return CountObjects(*memory_, kFolder + "/data/");
  }

  std::shared_ptr<ObjectStore> memory_;
  std::shared_ptr<FaultyStore> faulty_;
  WriterEnvironment environment_;
  TableHandle handle_;
  std::shared_ptr<MemoryScratch> scratch_ = std::make_shared<MemoryScratch>();
};

TEST_F(LongAppendTest, UploadsSuperfilesFromScratchFiles) {
  for (const int threads : {0, 3}) {
    UseThreads(threads);
    const int64_t uploads = CallsOf(StoreOp::kCompleteUpload);
    INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult result, AppendLong());
    EXPECT_GT(CallsOf(StoreOp::kCompleteUpload), uploads);
    EXPECT_GT(result.superfiles, 1U);
    EXPECT_EQ(scratch_->open_files(), 0);
  }
  std::vector<int64_t> twice;
  for (int64_t i = 0; i < 2 * kRows; ++i) twice.push_back(i / 2);
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(twice));
}

TEST_F(LongAppendTest, LeavesTheTableAsItWasWhenAnUploadFails) {
  for (const StoreOp op : {StoreOp::kBeginUpload, StoreOp::kPutPart, StoreOp::kCompleteUpload}) {
    for (const int threads : {0, 3}) {
      SCOPED_TRACE(NameOf(op));
      UseThreads(threads);
      faulty_->SetPlan(FaultPlan().Set(op, {.fail_before = 1}));
      EXPECT_THAT(AppendLong(), IsError(ErrorKind::kUnavailable));
      faulty_->SetPlan(FaultPlan());
      EXPECT_EQ(SuperfilesInStore(), 0);
      EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(0)));
    }
  }
}

TEST_F(LongAppendTest, TakesAnUploadThatFindsItselfForWritten) {
  for (const int threads : {0, 3}) {
    UseThreads(threads);
    const std::string folder = "echo-" + std::to_string(threads);
    INFINO_ASSERT_OK(CommitNewTable(environment_, folder, RowTextTableSchema()));
    const TableHandle handle = OpenHandle(environment_, folder);
    faulty_->SetPlan(FaultPlan().Set(StoreOp::kCompleteUpload, {.echo = 1}));
    INFINO_ASSERT_OK(AppendLongTo(handle));
    faulty_->SetPlan(FaultPlan());
    EXPECT_THAT(ReadRowNumbers(environment_, folder), HasValue(UpTo(kRows)));
  }
}

TEST_F(LongAppendTest, LeavesTheTableAsItWasWhenAScratchFileCantBeRead) {
  UseThreads(3);
  INFINO_ASSERT_OK(AppendLong());
  const int64_t files = SuperfilesInStore();
  scratch_ =
      std::make_shared<MemoryScratch>(MemoryScratch::Plan{.reads_max = scratch_->reads() - 1});
  environment_.scratch = scratch_;
  Reopen();
  EXPECT_THAT(AppendLong(), IsError(ErrorKind::kUnavailable));
  EXPECT_EQ(SuperfilesInStore(), files);
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(kRows)));
}

}  // namespace
}  // namespace infino
