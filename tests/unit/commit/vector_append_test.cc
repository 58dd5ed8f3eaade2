// Appends to tables with vector columns.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/buffer_range_reader.h"
#include "infino/common/clock.h"
#include "infino/common/content_hash.h"
#include "infino/common/failpoint.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_space.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/snapshot.h"
#include "infino/table.h"
#include "support/faulty_store.h"
#include "support/matchers.h"
#include "support/memory_scratch.h"
#include "support/seed.h"
#include "unit/commit/table_harness.h"
#include "unit/commit/vector_rows.h"
#include "unit/index/vector/vector_fixture.h"

namespace infino {
namespace {

using ::testing::HasSubstr;
using vector::ClusteredVectors;
using vector::GaussianVectors;
using vector::Vectors;

const std::string kFolder = "vectors-1";

constexpr vector::VectorColumn kColumn{.dimension = 16,
                                       .metric = vector::VectorMetric::kL2Squared,
                                       .tier = vector::RerankTier::kFp32,
                                       .rotation_seed = 3};

std::vector<int64_t> UpTo(int64_t end) {
  std::vector<int64_t> numbers(static_cast<size_t>(end));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

class VectorAppendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    memory_ = MakeMemoryStore(std::make_shared<ManualClock>(kTestNowMs));
    faulty_ = std::make_shared<FaultyStore>(memory_, 1, FaultPlan());
    environment_ = TestEnvironment(faulty_);
    INFINO_ASSERT_OK(CommitNewTable(environment_, kFolder, RowVectorTableSchema(kColumn)));
    handle_ = OpenHandle(environment_, kFolder);
  }

  void TearDown() override { SetFailpointHook({}); }

  static arrow::Result<AppendResult> AppendTo(const TableHandle& handle, int64_t first_row,
                                              std::span<const std::vector<float>> vectors) {
    return handle.writer->Append(StreamOf(VectorRows(first_row, vectors)), {});
  }

  /// The newest version, as a new process sees it.
  [[nodiscard]] std::shared_ptr<const Snapshot> Load() const {
    return OpenHandle(environment_, kFolder).loader->Newest({}).ValueOrDie();
  }

  /// Opens every superfile and checks that its codes are made with the table's points, and that the
  /// nearest row to each of `vectors`, by exact search over all files, is the row itself.
  void ExpectFound(int64_t first_row, std::span<const std::vector<float>> vectors) const {
    const auto snapshot = Load();
    const vector::VectorSpace& space = *snapshot->spaces.at(kVectorFieldId);
    for (size_t i = 0; i < vectors.size(); ++i) {
      const auto query = vector::PreparedQuery::Make(space, vectors[i], 3.0);
      ASSERT_THAT(query, IsOk());
      int found = 0;
      for (const Snapshot::File& file : snapshot->files) {
        const auto superfile = Open(*file.entry);
        ASSERT_THAT(superfile, IsOk());
        INFINO_ASSERT_OK_AND_ASSIGN(
            const auto search,
            vector::VectorSearch::Make(*(*superfile)->vector_index(kVectorFieldId), space,
                                       std::span(&*query, 1), nullptr, {.k = 1, .exact = true}));
        while (true) {
          INFINO_ASSERT_OK(search->Resume());
          const auto reads = search->NextReads();
          if (reads.empty()) break;
          INFINO_ASSERT_OK_AND_ASSIGN(Buffers bytes,
                                      Wait((*superfile)->vector_blob(kVectorFieldId).Read(reads)));
          INFINO_ASSERT_OK(search->Feed(std::move(bytes)));
        }
        const auto top = search->TopDocs(0);
        if (!top.empty() && top[0].score == 0) ++found;
      }
      EXPECT_EQ(found, 1) << "row " << first_row + static_cast<int64_t>(i);
    }
  }

  [[nodiscard]] arrow::Result<std::shared_ptr<const SuperfileReader>> Open(
      const SuperfileEntry& entry) const {
    const std::string path = SuperfilePath(kFolder, entry.id);
    ARROW_ASSIGN_OR_RAISE(const VersionedBytes object, Wait(memory_->Get(path)));
    return SuperfileReader::Open(
        std::make_shared<BufferRangeReader>(object.bytes, path), entry.open_section,
        arrow::SliceBuffer(object.bytes, entry.open_section.offset, entry.open_section.length),
        entry.id);
  }

  [[nodiscard]] static std::vector<ContentHash> ListsOf(const Snapshot& snapshot) {
    std::vector<ContentHash> ids;
    for (const ReferencePoints& points : snapshot.points) ids.push_back(points.list->id());
    return ids;
  }

  [[nodiscard]] int64_t SuperfilesInStore() const {
    return CountObjects(*memory_, kFolder + "/data/");
  }

  Random random_{TestSeed()};
  std::shared_ptr<ObjectStore> memory_;
  std::shared_ptr<FaultyStore> faulty_;
  WriterEnvironment environment_;
  TableHandle handle_;
};

TEST_F(VectorAppendTest, KeepsTheVectorsAndTheirPoints) {
  const Vectors vectors = ClusteredVectors(random_, 3000, 16, 10, 0.2);
  INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult result, AppendTo(handle_, 0, vectors));
  EXPECT_EQ(result.superfiles, 1U);
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(3000)));
  ExpectFound(0, std::span(vectors).first(20));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto own, handle_.loader->Current({}));
  const auto loaded = Load();
  EXPECT_EQ(ListsOf(*own), ListsOf(*loaded));
  ASSERT_EQ(own->points.size(), 1U);
  EXPECT_EQ(own->points[0].list->size(), 3000U / 32);
  EXPECT_EQ(own->spaces.at(kVectorFieldId)->list(0).id(), own->points[0].list->id());
}

TEST_F(VectorAppendTest, AddsNoPointsForMoreOfTheSame) {
  const Vectors vectors = ClusteredVectors(random_, 8000, 16, 10, 0.2);
  for (size_t i = 0; i < 4; ++i) {
    INFINO_ASSERT_OK(AppendTo(handle_, static_cast<int64_t>(i) * 2000,
                              std::span(vectors).subspan(i * 2000, 2000)));
  }
  EXPECT_EQ(Load()->points.size(), 1U);
  EXPECT_EQ(CountObjects(*memory_, kFolder + "/manifest/points-"), 1);
  ExpectFound(7990, std::span(vectors).last(10));
}

TEST_F(VectorAppendTest, ReadsBackNothingOfWhatItCommitted) {
  const Vectors vectors = GaussianVectors(random_, 100, 16);
  INFINO_ASSERT_OK(AppendTo(handle_, 0, vectors));
  INFINO_ASSERT_OK(AppendTo(handle_, 100, vectors));
  for (const std::string& call : faulty_->Trace()) {
    const bool is_read = call.find(" get ") != std::string::npos;
    EXPECT_FALSE(is_read && call.find("/points-") != std::string::npos) << call;
  }
}

TEST_F(VectorAppendTest, RacingListsBothStay) {
  const TableHandle other = OpenHandle(environment_, kFolder);
  const Vectors ours = GaussianVectors(random_, 200, 16);
  const Vectors theirs = GaussianVectors(random_, 300, 16);
  bool done = false;
  SetFailpointHook([&](std::string_view name) {
    if (name != "commit.staged" || std::exchange(done, true)) return;
    INFINO_EXPECT_OK(AppendTo(other, 200, theirs));
  });
  INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult result, AppendTo(handle_, 0, ours));
  EXPECT_EQ(result.version, 3U);
  const auto snapshot = Load();
  EXPECT_EQ(snapshot->points.size(), 2U);
  EXPECT_EQ(snapshot->spaces.at(kVectorFieldId)->list_count(), 2U);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto own, handle_.loader->Current({}));
  EXPECT_EQ(ListsOf(*own), ListsOf(*snapshot));
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(500)));
  ExpectFound(0, std::span(ours).first(10));
  ExpectFound(200, std::span(theirs).first(10));
}

TEST_F(VectorAppendTest, CommitsItsPointsOnceWhenTheAnswerToTheSwapIsLost) {
  faulty_->SetPlan(FaultPlan().Set(StoreOp::kPutIfMatch, {.lose_answer = 1}));
  const Vectors vectors = GaussianVectors(random_, 200, 16);
  INFINO_EXPECT_OK(AppendTo(handle_, 0, vectors));
  faulty_->SetPlan(FaultPlan());
  EXPECT_EQ(Load()->points.size(), 1U);
  ExpectFound(0, std::span(vectors).first(5));
}

TEST_F(VectorAppendTest, BadVectorsLeaveTheTableAsItWas) {
  const Vectors good = GaussianVectors(random_, 100, 16);
  INFINO_ASSERT_OK(AppendTo(handle_, 0, good));
  const int64_t objects = CountObjects(*memory_, kFolder + "/");
  environment_.pool = WorkPool::Make(2).ValueOrDie();
  environment_.build_memory_bytes = int64_t{4} << 20;
  handle_ = OpenHandle(environment_, kFolder);
  // In the rows that are looked at first, and long after superfiles went out.
  for (const size_t bad : {size_t{0}, size_t{700}, size_t{29'999}}) {
    Vectors vectors = GaussianVectors(random_, 30'000, 16);
    vectors[bad][3] = std::numeric_limits<float>::quiet_NaN();
    const auto result = AppendTo(handle_, 100, vectors);
    ASSERT_THAT(result, IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT(result.status().message(),
                HasSubstr("row " + std::to_string(bad) + ": column 'v'"));
    EXPECT_EQ(CountObjects(*memory_, kFolder + "/"), objects);
    EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(100)));
  }
  INFINO_EXPECT_OK(AppendTo(handle_, 100, good));
  EXPECT_THAT(ReadRowNumbers(environment_, kFolder), HasValue(UpTo(200)));
}

TEST_F(VectorAppendTest, RefusesRowsWithoutVectors) {
  const auto result = handle_.writer->Append(StreamOf(NumberedRows(0, 10)), {});
  ASSERT_THAT(result, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(result.status().message(), HasSubstr("row 0: column 'v': a vector can't be null"));
  EXPECT_EQ(SuperfilesInStore(), 0);
}

TEST_F(VectorAppendTest, TakesVectorsWithoutACode) {
  const Vectors huge(40, std::vector<float>(16, 3e38F));
  INFINO_ASSERT_OK(AppendTo(handle_, 0, huge));
  EXPECT_EQ(Load()->points.size(), 1U);
  const Vectors vectors = GaussianVectors(random_, 1000, 16);
  INFINO_ASSERT_OK(AppendTo(handle_, 40, vectors));
  EXPECT_EQ(Load()->points.size(), 2U);
  ExpectFound(40, std::span(vectors).first(10));
}

TEST_F(VectorAppendTest, BuildsManyVectorsInLittleMemoryThroughScratch) {
  constexpr vector::VectorColumn kWide{.dimension = 64, .rotation_seed = 3};
  const std::string folder = "wide-1";
  INFINO_ASSERT_OK(CommitNewTable(environment_, folder, RowVectorTableSchema(kWide)));
  const auto scratch = std::make_shared<MemoryScratch>();
  environment_.build_memory_bytes = int64_t{12} << 20;
  environment_.memory_budget_bytes = int64_t{12} << 20;
  environment_.scratch = scratch;
  const TableHandle handle = OpenHandle(environment_, folder);
  constexpr int64_t kRows = 100'000;
  constexpr int64_t kBatch = 5000;
  int64_t at = 0;
  const auto rows = std::make_shared<FunctionReader>(
      VectorRows(0, Vectors(1, std::vector<float>(64)))->schema(),
      [&]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
        if (at == kRows) return std::shared_ptr<arrow::RecordBatch>();
        auto batch = VectorRows(at, GaussianVectors(random_, kBatch, 64));
        at += kBatch;
        return batch;
      });
  INFINO_ASSERT_OK_AND_ASSIGN(const AppendResult result, handle.writer->Append(rows, {}));
  EXPECT_EQ(result.rows, static_cast<uint64_t>(kRows));
  EXPECT_GT(scratch->files(), 1);
  EXPECT_EQ(scratch->open_files(), 0);
  EXPECT_THAT(ReadRowNumbers(environment_, folder), HasValue(UpTo(kRows)));
}

}  // namespace
}  // namespace infino
