#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "infino/commit/table_writer.h"
#include "infino/common/random.h"
#include "infino/common/work_pool.h"
#include "infino/storage/local_scratch.h"
#include "infino/storage/local_store.h"
#include "infino/table.h"
#include "support/matchers.h"
#include "support/temporary_folder.h"
#include "unit/commit/table_harness.h"

namespace infino {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

int64_t PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

/// `count` rows of three words, of 200,000 there are.
std::shared_ptr<arrow::RecordBatchReader> ShortRows(int64_t count) {
  constexpr int64_t kBatchRows = 8192;
  constexpr uint64_t kWords = 200'000;
  const auto schema = RowTextTableSchema().ToArrow();
  int64_t done = 0;
  return std::make_shared<FunctionReader>(
      schema,
      [=, random = std::make_shared<Random>(
              7)]() mutable -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
        const int64_t rows = std::min(kBatchRows, count - done);
        if (rows == 0) return std::shared_ptr<arrow::RecordBatch>();
        arrow::Int64Builder numbers;
        arrow::LargeStringBuilder texts;
        std::string text;
        for (int64_t i = 0; i < rows; ++i) {
          text.clear();
          for (int word = 0; word < 3; ++word) {
            text += (word > 0 ? " w" : "w") + std::to_string(random->Below(kWords));
          }
          ARROW_RETURN_NOT_OK(numbers.Append(done + i));
          ARROW_RETURN_NOT_OK(texts.Append(text));
        }
        done += rows;
        ARROW_ASSIGN_OR_RAISE(auto number_column, numbers.Finish());
        ARROW_ASSIGN_OR_RAISE(auto text_column, texts.Finish());
        return arrow::RecordBatch::Make(schema, rows, {number_column, text_column});
      });
}

struct ShortRowsCase {
  int64_t rows = 0;
  int64_t budget_bytes = 0;
};

/// The rows must become one superfile, and memory grow by less than the budget.
void BuildOneSuperfile(const ShortRowsCase& one) {
  const TemporaryFolder folder;
  INFINO_ASSERT_OK_AND_ASSIGN(const auto store, OpenLocalStore(folder.path() + "/store"));
  WriterEnvironment environment = TestEnvironment(store);
  environment.memory_budget_bytes = one.budget_bytes;
  environment.scratch = MakeLocalScratch(folder.path());
  INFINO_ASSERT_OK_AND_ASSIGN(environment.pool, WorkPool::Make(1));
  INFINO_ASSERT_OK(CommitNewTable(environment, "long-1", RowTextTableSchema()));
  const TableHandle handle = OpenHandle(environment, "long-1");
  INFINO_ASSERT_OK(handle.writer->Append(ShortRows(1000), {}));

  const int64_t before = PeakBytes();
  INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult result,
                              handle.writer->Append(ShortRows(one.rows), {}));
  const int64_t grown = PeakBytes() - before;
  testing::Test::RecordProperty("grown_mib", std::to_string(grown / kMiB));
  EXPECT_EQ(result.rows, static_cast<uint64_t>(one.rows));
  EXPECT_EQ(result.superfiles, 1U);
  EXPECT_LT(grown, one.budget_bytes);
}

TEST(BuildMemory, AMillionShortRowsBecomeOneSuperfileWithin160MiB) {
  BuildOneSuperfile({.rows = 1'000'000, .budget_bytes = 160 * kMiB});
}

/// Takes too long for every run.
TEST(BuildMemory, DISABLED_FourMillionShortRowsBecomeOneSuperfileWithin256MiB) {
  BuildOneSuperfile({.rows = 4'000'000, .budget_bytes = 256 * kMiB});
}

}  // namespace
}  // namespace infino
