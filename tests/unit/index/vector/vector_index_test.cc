#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/result.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/buffer_range_reader.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_fetch.h"
#include "infino/index/vector/vector_index_builder.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_row.h"
#include "infino/index/vector/verify_vector_index.h"
#include "support/matchers.h"
#include "support/memory_scratch.h"
#include "support/seed.h"
#include "unit/index/vector/vector_fixture.h"

namespace infino::vector {
namespace {

constexpr RerankTier kTiers[] = {RerankTier::kNone, RerankTier::kFp32, RerankTier::kFp16,
                                 RerankTier::kSq8, RerankTier::kSq8Residual};

arrow::Status Verify(const BuiltVectors& built) {
  const BufferRangeReader blob(built.blob, "test");
  return VerifyVectorIndex(*built.reader, blob, SuperfileId());
}

arrow::Result<std::vector<float>> Fetch(const BuiltVectors& built, std::vector<DocId> docs) {
  ARROW_ASSIGN_OR_RAISE(const auto fetch,
                        VectorFetch::Make(*built.reader, std::move(docs), nullptr));
  const BufferRangeReader blob(built.blob, "test");
  while (!fetch->NextReads().empty()) {
    ARROW_ASSIGN_OR_RAISE(Buffers bytes, Wait(blob.Read(fetch->NextReads())));
    ARROW_RETURN_NOT_OK(fetch->Feed(std::move(bytes)));
  }
  return std::vector<float>(fetch->vectors().begin(), fetch->vectors().end());
}

TEST(VectorIndex, EqualRowsGiveEqualBytesWhateverTheMemory) {
  Random random(TestSeed());
  const Vectors rows = GaussianVectors(random, 5000, 32);
  for (const RerankTier tier : {RerankTier::kNone, RerankTier::kSq8Residual}) {
    const auto space = SpaceOf({.dimension = 32, .tier = tier}, rows, 32);
    const BuiltVectors whole = BuildVectors(space, rows);
    const auto scratch = std::make_shared<MemoryScratch>();
    const BuiltVectors spilled =
        BuildVectors(space, rows, {.limit_bytes = 30'000, .scratch = scratch});
    EXPECT_GT(scratch->files(), 1);
    EXPECT_EQ(scratch->open_files(), 0);
    EXPECT_TRUE(whole.blob->Equals(*spilled.blob));
    EXPECT_TRUE(whole.finished.open_part->Equals(*spilled.finished.open_part));
    INFINO_EXPECT_OK(Verify(whole));
  }
}

TEST(VectorIndex, AScratchFileThatFailsFailsTheBuild) {
  Random random(TestSeed() + 1);
  const Vectors rows = GaussianVectors(random, 3000, 32);
  const auto space = SpaceOf({.dimension = 32}, rows, 8);
  for (const MemoryScratch::Plan plan :
       {MemoryScratch::Plan{.files_max = 0}, MemoryScratch::Plan{.bytes_max = 100'000},
        MemoryScratch::Plan{.reads_max = 3}}) {
    const auto builder = VectorIndexBuilder::Make(
        space, SuperfileId(),
        {.limit_bytes = 100'000, .scratch = std::make_shared<MemoryScratch>(plan)});
    arrow::Status status = builder->Add(*ArrayOf(rows));
    const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
    if (status.ok()) status = builder->Finish(*sink).status();
    EXPECT_FALSE(status.ok());
  }
}

TEST(VectorIndex, ItsSizeIsThatOfTheEncoding) {
  Random random(TestSeed() + 2);
  const Vectors rows = GaussianVectors(random, 2048, 384);
  const auto bytes_per_row = [&](RerankTier tier) {
    const auto space = SpaceOf({.dimension = 384, .tier = tier}, rows, 64);
    const BuiltVectors built = BuildVectors(space, rows);
    return static_cast<double>(built.blob->size() + built.finished.open_part->size()) /
           static_cast<double>(rows.size());
  };
  EXPECT_LT(bytes_per_row(RerankTier::kNone), 4 * 384 / 25.0);
  EXPECT_LT(bytes_per_row(RerankTier::kSq8Residual), 1.03 * (2 * 384 + 384 / 8 + 7));
}

TEST(VectorIndex, VectorsCanBeReadBack) {
  Random random(TestSeed() + 3);
  const Vectors rows = GaussianVectors(random, 700, 48);
  const std::vector<DocId> docs = {5, 699, 0, 5};
  for (const RerankTier tier : kTiers) {
    const auto space = SpaceOf({.dimension = 48, .tier = tier}, rows, 8);
    const BuiltVectors built = BuildVectors(space, rows);
    if (tier == RerankTier::kNone) {
      EXPECT_THAT(Fetch(built, docs), IsError(ErrorKind::kInvalidArgument));
      continue;
    }
    INFINO_ASSERT_OK_AND_ASSIGN(const auto vectors, Fetch(built, docs));
    ASSERT_EQ(vectors.size(), docs.size() * 48);
    const double tolerance = tier == RerankTier::kFp32 ? 0 : tier == RerankTier::kSq8 ? 0.02 : 2e-3;
    for (size_t i = 0; i < docs.size(); ++i) {
      for (size_t d = 0; d < 48; ++d) {
        EXPECT_NEAR(vectors[i * 48 + d], rows[docs[i]][d], tolerance);
      }
    }
    EXPECT_THAT(Fetch(built, {700}), IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT(Fetch(built, {}), HasValue(::testing::IsEmpty()));
  }
}

TEST(VectorRow, ItsBytesDependOnTheVectorAloneAndComeNear) {
  Random random(TestSeed() + 4);
  for (const RerankTier tier :
       {RerankTier::kFp32, RerankTier::kFp16, RerankTier::kSq8, RerankTier::kSq8Residual}) {
    const RowFormat format({.dimension = 33, .metric = VectorMetric::kL2Squared, .tier = tier});
    for (const float size : {1e-20F, 1e-3F, 1.0F, 1e10F, 1e37F}) {
      std::vector<float> vector = GaussianVectors(random, 1, 33)[0];
      for (float& number : vector) number *= size;
      std::vector<uint8_t> row(format.row_bytes());
      format.Encode(vector, row);
      EXPECT_TRUE(format.ChecksumIsRight(row));
      std::vector<float> decoded(33);
      format.Decode(row, decoded);
      const double relative = tier == RerankTier::kFp32          ? 0
                              : tier == RerankTier::kFp16        ? 1e-3
                              : tier == RerankTier::kSq8Residual ? 2e-5
                                                                 : 5e-3;
      for (size_t i = 0; i < 33; ++i) {
        EXPECT_NEAR(decoded[i], vector[i], relative * 4 * size) << NameOf(tier);
      }
    }
  }
}

TEST(VectorIndexBuilder, RefusesRowsThatAreNoVectors) {
  const auto space = SpaceOf({.dimension = 16}, {std::vector<float>(16, 1.0F)}, 1);
  const auto builder = VectorIndexBuilder::Make(space, SuperfileId());
  const auto refused = IsError(ErrorKind::kInvalidArgument);
  EXPECT_THAT(builder->Add(*ArrayOf(Vectors{std::vector<float>(17, 1.0F)})), refused);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Vectors rows(3, std::vector<float>(16, 1.0F));
    rows[1][3] = bad;
    const arrow::Status status = builder->Add(*ArrayOf(rows));
    EXPECT_THAT(status, refused);
    EXPECT_THAT(status.message(), ::testing::HasSubstr("row=1"));
  }
  auto numbers = std::make_shared<arrow::FloatBuilder>();
  arrow::FixedSizeListBuilder lists(arrow::default_memory_pool(), numbers, 16);
  INFINO_ASSERT_OK(lists.AppendNull());
  EXPECT_THAT(builder->Add(**lists.Finish()), refused);
  INFINO_ASSERT_OK(lists.Append());
  INFINO_ASSERT_OK(numbers->AppendValues(std::vector<float>(15, 1.0F)));
  INFINO_ASSERT_OK(numbers->AppendNull());
  EXPECT_THAT(builder->Add(**lists.Finish()), refused);
  EXPECT_EQ(builder->row_count(), 0);
  INFINO_ASSERT_OK(builder->Add(*ArrayOf(Vectors{std::vector<float>(16, 1.0F)})));
  EXPECT_EQ(builder->row_count(), 1);
}

TEST(VectorIndexBuilder, TakesASliceOfAnArray) {
  Random random(TestSeed() + 5);
  const Vectors rows = GaussianVectors(random, 100, 16);
  const auto space = SpaceOf({.dimension = 16}, rows, 2);
  const auto builder = VectorIndexBuilder::Make(space, SuperfileId());
  const auto all = ArrayOf(rows);
  INFINO_ASSERT_OK(builder->Add(*all->Slice(0, 30)));
  INFINO_ASSERT_OK(builder->Add(*all->Slice(30, 0)));
  INFINO_ASSERT_OK(builder->Add(*all->Slice(30)));
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  INFINO_ASSERT_OK(builder->Finish(*sink).status());
  EXPECT_TRUE((*sink->Finish())->Equals(*BuildVectors(space, rows).blob));
}

TEST(PointList, TrainingIsRepeatable) {
  Random random(TestSeed() + 6);
  const Vectors rows = GaussianVectors(random, 2000, 24);
  const auto a = SpaceOf({.dimension = 24}, rows, 50);
  const auto b = SpaceOf({.dimension = 24}, rows, 50);
  EXPECT_EQ(a->list(0).id(), b->list(0).id());
  EXPECT_EQ(a->list(0).size(), 50);
  EXPECT_EQ(a->FindList(b->list(0).id()), 0);
}

TEST(PointList, RowsThatAreAllAlikeGiveOnePoint) {
  const Vectors rows(500, std::vector<float>(16, 2.0F));
  const auto space = SpaceOf({.dimension = 16, .metric = VectorMetric::kL2Squared}, rows, 256);
  EXPECT_EQ(space->list(0).size(), 1);
  EXPECT_EQ(space->list(0).values()[0], 2);
}

TEST(PointList, RefusesWhatIsNoList) {
  const auto refused = IsError(ErrorKind::kInvalidArgument);
  EXPECT_THAT(PointList::Make(16, {}), refused);
  EXPECT_THAT(PointList::Make(16, std::vector<float>(17)), refused);
  EXPECT_THAT(PointList::Make(16, std::vector<float>(size_t{16} * 257)), refused);
  EXPECT_THAT(PointList::Make(16, std::vector<float>(16, 1e16F)), refused);
  EXPECT_THAT(PointList::Make(16, std::vector<float>(16, std::nanf(""))), refused);
  EXPECT_THAT(TrainPoints({.dimension = 16}, std::vector<float>(16, std::nanf("")), {}), refused);
  EXPECT_THAT(TrainPoints({.dimension = 16}, {}, {}), refused);
}

TEST(VectorIndexReader, RefusesANewerVersion) {
  Random random(TestSeed() + 7);
  const Vectors rows = GaussianVectors(random, 40, 16);
  const BuiltVectors built = BuildVectors(SpaceOf({.dimension = 16}, rows, 1), rows);
  const arrow::Buffer& open_part = *built.finished.open_part;
  std::vector<uint8_t> newer(open_part.data(), open_part.data() + open_part.size() - 4);
  newer[4] = 9;
  ByteWriter sealed;
  sealed.WriteBytes(newer);
  sealed.WriteU32(Crc32c(newer));
  EXPECT_THAT(VectorIndexReader::Open(ToBuffer(sealed.Take()), built.blob->size(), "newer"),
              IsError(ErrorKind::kUnsupportedVersion));
}

}  // namespace
}  // namespace infino::vector
