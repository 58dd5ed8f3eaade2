// Superfiles with vector columns: their regions, open parts and footer keys.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/compare.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/json.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_index_builder.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_row.h"
#include "infino/index/vector/vector_space.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"
#include "support/memory_scratch.h"
#include "support/seed.h"
#include "unit/index/vector/vector_fixture.h"
#include "unit/superfile/random_arrays.h"
#include "unit/superfile/superfile_fixture.h"

namespace infino {
namespace {

using vector::ClusteredVectors;
using vector::Vectors;

constexpr vector::VectorColumn kStored{.dimension = 20,
                                       .metric = vector::VectorMetric::kL2Squared,
                                       .tier = vector::RerankTier::kFp32,
                                       .rotation_seed = 5};
constexpr vector::VectorColumn kHidden{.dimension = 16, .rotation_seed = 6};

/// A text column, a stored and a hidden column of vectors.
TableSchema MixedSchema() {
  TableSchema schema =
      SchemaOf({arrow::field("text", arrow::large_utf8()),
                arrow::field("stored", arrow::fixed_size_list(arrow::float32(), 20)),
                arrow::field("hidden", arrow::fixed_size_list(arrow::float32(), 16), false)});
  schema.columns[1].vector = TableVectorIndex{.column = kStored, .stored = true};
  schema.columns[2].vector = TableVectorIndex{.column = kHidden, .stored = false};
  return schema;
}

class VectorRegions : public testing::Test {
 protected:
  void Build(size_t row_count) {
    Random random(TestSeed());
    stored_ = ClusteredVectors(random, row_count, 20, 3, 0.3);
    hidden_ = ClusteredVectors(random, row_count, 16, 2, 0.3);
    options_.id.bytes.fill(0x5A);
    options_.spaces = {{2, vector::SpaceOf(kStored, stored_, 3)},
                       {3, vector::SpaceOf(kHidden, hidden_, 2)}};
    const auto texts = RandomBatch(arrow::schema({schema_.columns[0].field}),
                                   static_cast<int64_t>(row_count), random);
    batch_ = arrow::RecordBatch::Make(
        schema_.ToArrow(), texts->num_rows(),
        arrow::ArrayVector{texts->column(0), vector::ArrayOf(stored_), vector::ArrayOf(hidden_)});
    INFINO_ASSERT_OK_AND_ASSIGN(built_, Write(options_));
  }

  arrow::Result<BuiltSuperfile> Write(const SuperfileWriterOptions& options) const {
    ARROW_ASSIGN_OR_RAISE(const auto writer, SuperfileWriter::Make(schema_, options));
    constexpr int64_t kStep = 1000;
    for (int64_t at = 0; at < batch_->num_rows(); at += kStep) {
      ARROW_RETURN_NOT_OK(
          writer->Add(*batch_->Slice(at, kStep), kFirstId.Plus(static_cast<uint64_t>(at))));
    }
    return writer->Finish();
  }

  /// The index that the rows give outside of a superfile.
  [[nodiscard]] std::pair<std::shared_ptr<arrow::Buffer>, std::shared_ptr<arrow::Buffer>> Alone(
      int32_t field_id) const {
    const auto builder =
        vector::VectorIndexBuilder::Make(options_.spaces.at(field_id), options_.id);
    EXPECT_THAT(builder->Add(*batch_->column(field_id - 1)), IsOk());
    const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
    const auto finished = builder->Finish(*sink).ValueOrDie();
    return {sink->Finish().ValueOrDie(), finished.open_part};
  }

  const TableSchema schema_ = MixedSchema();
  SuperfileWriterOptions options_;
  Vectors stored_;
  Vectors hidden_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  BuiltSuperfile built_;
};

TEST_F(VectorRegions, HoldTheIndexThatTheRowsGive) {
  Build(3000);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built_));
  INFINO_EXPECT_OK(VerifySuperfile(*superfile));
  EXPECT_THAT(superfile->text_field_ids(), testing::ElementsAre(1));
  EXPECT_THAT(superfile->vector_field_ids(), testing::ElementsAre(2, 3));
  for (const int32_t field_id : {2, 3}) {
    const auto [blob, open_part] = Alone(field_id);
    const RangeReader& in_file = superfile->vector_blob(field_id);
    ASSERT_EQ(in_file.size(), blob->size());
    INFINO_ASSERT_OK_AND_ASSIGN(const Buffers bytes,
                                Wait(in_file.Read({{.offset = 0, .length = blob->size()}})));
    EXPECT_TRUE(bytes[0]->Equals(*blob));
    const vector::VectorIndexReader& index = *superfile->vector_index(field_id);
    EXPECT_EQ(index.row_count(), 3000U);
    EXPECT_EQ(index.column(), schema_.FindById(field_id)->vector->column);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto alone,
                                vector::VectorIndexReader::Open(open_part, blob->size(), "alone"));
    EXPECT_TRUE(std::ranges::equal(index.lists(), alone->lists()));
    EXPECT_EQ(index.curve(), alone->curve());
  }
  EXPECT_EQ(superfile->vector_index(1), nullptr);
}

TEST_F(VectorRegions, AreFoundFromTheFooterToo) {
  Build(50);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenAlone(built_.bytes));
  EXPECT_THAT(superfile->vector_field_ids(), testing::ElementsAre(2, 3));
  const auto file =
      parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(built_.bytes));
  const auto keys = file->metadata()->key_value_metadata();
  EXPECT_THAT(keys->Get("inf.vector.2.format_version"), HasValue("0"));
  for (const SuperfileRegion& region : superfile->regions()) {
    EXPECT_THAT(keys->Get("inf." + region.name + ".offset"),
                HasValue(std::to_string(region.place.offset)));
    EXPECT_THAT(keys->Get("inf." + region.name + ".length"),
                HasValue(std::to_string(region.place.length)));
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const std::string text, keys->Get("inf.vector.columns"));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto columns, ParseJson(text, "key"));
  EXPECT_EQ(columns, nlohmann::json::parse(R"([
    {"name": "stored", "field_id": 2, "dimension": 20, "metric": "l2sq", "rerank": "fp32",
     "stored": true},
    {"name": "hidden", "field_id": 3, "dimension": 16, "metric": "cosine",
     "rerank": "sq8_residual", "stored": false}])"));
}

TEST_F(VectorRegions, ParquetHasTheStoredVectorsOnly) {
  Build(700);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto table, ReadParquet(built_.bytes));
  ASSERT_THAT(table->ColumnNames(), testing::ElementsAre("_id", "text", "stored"));
  arrow::ChunkedArray expected(batch_->column(1));
  EXPECT_TRUE(table->column(2)->Equals(expected));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built_));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, FetchRows(*superfile, {699, 3, 4}, {2}));
  EXPECT_TRUE(SameValues(rows->column(0), TakeRows({batch_->column(1)}, {699, 3, 4})));
}

TEST_F(VectorRegions, AnyFlippedByteIsNoticed) {
  Build(40);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto whole, OpenBuilt(built_));
  const int64_t from = whole->regions().front().place.offset;
  for (int64_t offset = from; offset < built_.summary.open_section.end(); ++offset) {
    BuiltSuperfile damaged = built_;
    std::vector<uint8_t> bytes(built_.bytes->data(), built_.bytes->data() + built_.bytes->size());
    bytes[static_cast<size_t>(offset)] ^= 0x10;
    damaged.bytes = ToBuffer(std::move(bytes));
    const auto superfile = OpenBuilt(damaged);
    const arrow::Status status = superfile.ok() ? VerifySuperfile(**superfile) : superfile.status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorrupt) ||
                IsError(status, ErrorKind::kUnsupportedVersion))
        << "offset " << offset << ": " << status.ToString();
  }
}

TEST_F(VectorRegions, VerifyHoldsAVectorIndexAgainstItsFile) {
  Build(300);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto whole, OpenBuilt(built_));
  // Right checksums all over, but the head of the blob names another superfile.
  options_.id.bytes[0] ^= 1;
  INFINO_ASSERT_OK_AND_ASSIGN(const BuiltSuperfile other, Write(options_));
  const auto place_of = [](const SuperfileReader& superfile) {
    return std::ranges::find(superfile.regions(), "vector.3", &SuperfileRegion::name)->place;
  };
  INFINO_ASSERT_OK_AND_ASSIGN(const auto opened, OpenBuilt(other));
  const ByteRange from = place_of(*opened);
  const ByteRange to = place_of(*whole);
  ASSERT_EQ(from.length, to.length);
  std::vector<uint8_t> bytes(built_.bytes->data(), built_.bytes->data() + built_.bytes->size());
  std::copy_n(other.bytes->data() + from.offset, from.length,
              bytes.begin() + static_cast<std::ptrdiff_t>(to.offset));
  BuiltSuperfile damaged = built_;
  damaged.bytes = ToBuffer(std::move(bytes));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(damaged));
  EXPECT_THAT(VerifySuperfile(*superfile), IsError(ErrorKind::kCorrupt));
}

TEST_F(VectorRegions, IndexesOutOfMemoryChangeNoByte) {
  Build(20'000);
  const auto scratch = std::make_shared<MemoryScratch>();
  SuperfileWriterOptions options = options_;
  options.scratch = scratch;
  options.index_memory_bytes = int64_t{1} << 20;
  INFINO_ASSERT_OK_AND_ASSIGN(const BuiltSuperfile spilled, Write(options));
  EXPECT_TRUE(spilled.bytes->Equals(*built_.bytes));
  EXPECT_GE(scratch->files(), 3);
  EXPECT_EQ(scratch->open_files(), 0);
}

TEST_F(VectorRegions, CountForTheMemoryAndTheLengthOfAFile) {
  Build(20'000);
  const auto scratch = std::make_shared<MemoryScratch>();
  SuperfileWriterOptions options = options_;
  options.scratch = scratch;
  int64_t held = 0;
  for (const int64_t index_bytes : {int64_t{0}, int64_t{1} << 20}) {
    options.index_memory_bytes = index_bytes;
    INFINO_ASSERT_OK_AND_ASSIGN(const auto writer, SuperfileWriter::Make(schema_, options));
    INFINO_ASSERT_OK(writer->Add(*batch_, kFirstId));
    // 80 bytes a vector of one column, 32 of the other, and what the file has beside.
    EXPECT_GT(writer->file_bytes(), 20'000 * (80 + 32));
    EXPECT_LT(writer->file_bytes(), built_.bytes->size() * 2);
    if (index_bytes == 0) held = writer->memory_bytes();
    if (index_bytes > 0) {
      EXPECT_LT(writer->memory_bytes(), held - 20'000 * (80 + 32) / 2);
    }
  }
}

TEST(VectorColumns, ThatAreNotStoredDontCutRowGroupsShort) {
  constexpr int64_t kRows = 9000;
  constexpr vector::VectorColumn kWide{
      .dimension = 1024, .tier = vector::RerankTier::kNone, .rotation_seed = 1};
  TableSchema schema =
      SchemaOf({arrow::field("n", arrow::int32()),
                arrow::field("v", arrow::fixed_size_list(arrow::float32(), kWide.dimension))});
  schema.columns[1].vector = TableVectorIndex{.column = kWide};
  INFINO_ASSERT_OK_AND_ASSIGN(
      const auto zero,
      vector::PointList::Make(kWide.dimension, std::vector<float>(kWide.dimension)));
  SuperfileWriterOptions options;
  INFINO_ASSERT_OK_AND_ASSIGN(options.spaces[2], vector::VectorSpace::Make(kWide, {zero}));
  Random random(TestSeed());
  const auto numbers = RandomBatch(arrow::schema({schema.columns[0].field}), kRows, random);
  const auto vectors = vector::ArrayOf(Vectors(kRows, std::vector<float>(kWide.dimension, 1)));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto writer, SuperfileWriter::Make(schema, options));
  INFINO_ASSERT_OK(
      writer->Add(*arrow::RecordBatch::Make(schema.ToArrow(), kRows,
                                            arrow::ArrayVector{numbers->column(0), vectors}),
                  kFirstId));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, writer->Finish());
  const auto file =
      parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(built.bytes));
  EXPECT_EQ(file->metadata()->num_row_groups(), 1);
}

TEST(VectorColumns, CanBeAllThatAFileHas) {
  TableSchema schema = SchemaOf({arrow::field("v", arrow::fixed_size_list(arrow::float32(), 16))});
  schema.columns[0].vector = TableVectorIndex{.column = kHidden, .stored = false};
  Random random(TestSeed());
  const Vectors rows = ClusteredVectors(random, 500, 16, 2, 0.3);
  SuperfileWriterOptions options;
  options.spaces[1] = vector::SpaceOf(kHidden, rows, 2);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto writer, SuperfileWriter::Make(schema, options));
  INFINO_ASSERT_OK(writer->Add(
      *arrow::RecordBatch::Make(schema.ToArrow(), 500, arrow::ArrayVector{vector::ArrayOf(rows)}),
      kFirstId));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, writer->Finish());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  INFINO_EXPECT_OK(VerifySuperfile(*superfile));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto table, ReadParquet(built.bytes));
  EXPECT_THAT(table->ColumnNames(), testing::ElementsAre("_id"));
  EXPECT_EQ(table->num_rows(), 500);
}

TEST(VectorColumns, NeedTheSpaceOfTheirOwn) {
  const TableSchema schema = MixedSchema();
  Random random(TestSeed());
  const auto space = vector::SpaceOf(kHidden, ClusteredVectors(random, 50, 16, 2, 0.3), 2);
  EXPECT_THAT(SuperfileWriter::Make(schema, {}), IsError(ErrorKind::kInvalidArgument));
  SuperfileWriterOptions options;
  options.spaces = {{2, space}, {3, space}};
  EXPECT_THAT(SuperfileWriter::Make(schema, options), IsError(ErrorKind::kInvalidArgument));
}

TEST(VectorColumns, OfAnotherShapeCantBeIndexed) {
  const auto expect_refused = [](const std::shared_ptr<arrow::DataType>& type,
                                 const std::string& why) {
    TableSchema schema = SchemaOf({arrow::field("v", type)});
    schema.columns[0].vector = TableVectorIndex{.column = kHidden};
    const arrow::Status status = ValidateTableSchema(schema);
    EXPECT_THAT(status, IsError(ErrorKind::kInvalidArgument)) << why;
    EXPECT_THAT(status.message(),
                testing::AllOf(testing::HasSubstr("'v'"), testing::HasSubstr(why)));
  };
  INFINO_EXPECT_OK(ValidateTableSchema(MixedSchema()));
  expect_refused(arrow::fixed_size_list(arrow::float64(), 16), "double");
  expect_refused(arrow::list(arrow::float32()), "list");
  expect_refused(arrow::fixed_size_list(arrow::float32(), 15), "15");
  expect_refused(arrow::fixed_size_list(arrow::float32(), 4097), "4097");
  expect_refused(arrow::fixed_size_list(arrow::float32(), 17), "17");
}

}  // namespace
}  // namespace infino
