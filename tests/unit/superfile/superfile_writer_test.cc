#include "infino/superfile/superfile_writer.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/concatenate.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/codec/bloom_filter.h"
#include "infino/common/bytes.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/superfile/block_checksums.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_format.h"
#include "infino/superfile/superfile_reader.h"
#include "support/matchers.h"
#include "support/memory_scratch.h"
#include "support/seed.h"
#include "unit/superfile/random_arrays.h"
#include "unit/superfile/superfile_fixture.h"

namespace infino {
namespace {

ByteSpan SpanOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

TEST(SuperfileWriter, ASummarySaysWhatTheFileHolds) {
  Random random(TestSeed());
  const TableSchema schema =
      SchemaOf({arrow::field("text", arrow::large_utf8()), arrow::field("n", arrow::int32())});
  const auto batch = RandomBatch(schema.ToArrow(), 1000, random);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}));
  const SuperfileSummary& summary = built.summary;
  EXPECT_EQ(summary.size_bytes, built.bytes->size());
  EXPECT_EQ(summary.hash, Blake3(SpanOf(*built.bytes)));
  EXPECT_EQ(summary.row_count, 1000);
  EXPECT_EQ(summary.min_id, kFirstId);
  EXPECT_EQ(summary.max_id, kFirstId.Plus(999));
  ASSERT_EQ(summary.columns.size(), 2U);
  EXPECT_EQ(summary.columns[1].field_id, 2);
  EXPECT_EQ(summary.columns[1].null_count, batch->column(1)->null_count());
  ASSERT_EQ(summary.texts.size(), 1U);
  EXPECT_GT(summary.texts[0].token_total, summary.texts[0].rows_with_token);
  EXPECT_GT(summary.texts[0].term_count, 9);
  EXPECT_LT(summary.texts[0].min_term, summary.texts[0].max_term);
}

TEST(SuperfileWriter, TheTermFilterKnowsTheTerms) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf({arrow::field("text", arrow::large_utf8())});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built,
                              BuildFrom(schema, {RandomBatch(schema.ToArrow(), 300, random)}));
  ASSERT_EQ(built.term_filters.size(), 1U);
  EXPECT_EQ(built.term_filters[0].field_id, 1);
  INFINO_ASSERT_OK_AND_ASSIGN(
      const auto filter, BloomFilterView::Open(SpanOf(*built.term_filters[0].filter), "filter"));
  EXPECT_TRUE(filter.MayContain("fox"));
  EXPECT_TRUE(filter.MayContain("käse"));
  int absent = 0;
  for (int i = 0; i < 200; ++i) absent += filter.MayContain("absent" + std::to_string(i)) ? 0 : 1;
  EXPECT_GT(absent, 150);
}

TEST(SuperfileWriter, EqualRowsGiveEqualBytes) {
  const TableSchema schema = SchemaOf(AllTypes());
  Random first(TestSeed());
  Random second(TestSeed());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto a,
                              BuildFrom(schema, {RandomBatch(schema.ToArrow(), 400, first)}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto b,
                              BuildFrom(schema, {RandomBatch(schema.ToArrow(), 400, second)}));
  EXPECT_EQ(a.summary.hash, b.summary.hash);
}

TEST(SuperfileWriter, OneRowIsEnoughAndNoneIsNot) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf({arrow::field("text", arrow::large_utf8())});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built,
                              BuildFrom(schema, {RandomBatch(schema.ToArrow(), 1, random)}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenAlone(built.bytes));
  EXPECT_EQ(superfile->row_count(), 1);
  INFINO_EXPECT_OK(VerifySuperfile(*superfile));
  EXPECT_THAT(BuildFrom(schema, {}), IsError(ErrorKind::kInvalidArgument));
}

TEST(SuperfileWriter, ATableWithoutColumnsHasIds) {
  const TableSchema schema;
  const auto batch = arrow::RecordBatch::Make(schema.ToArrow(), 12, arrow::ArrayVector());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, FetchRows(*superfile, {11}, {0}));
  EXPECT_EQ(rows->num_rows(), 1);
  INFINO_EXPECT_OK(VerifySuperfile(*superfile));
}

TEST(SuperfileWriter, GapsBetweenIdsAreKept) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf({arrow::field("n", arrow::int32())});
  INFINO_ASSERT_OK_AND_ASSIGN(auto writer, SuperfileWriter::Make(schema, {}));
  std::vector<RowId> ids;
  RowId next = kFirstId;
  for (int i = 0; i < 500; ++i) {
    INFINO_ASSERT_OK(writer->Add(*RandomBatch(schema.ToArrow(), 2, random), next));
    ids.push_back(next);
    ids.push_back(next.Plus(1));
    next = next.Plus(2 + random.Below(9));
  }
  EXPECT_EQ(writer->row_count(), 1000);
  EXPECT_GT(writer->memory_bytes(), 0);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, writer->Finish());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  for (DocId doc = 0; doc < 1000; ++doc) ASSERT_EQ(superfile->IdOf(doc), ids[doc]);
  INFINO_EXPECT_OK(VerifySuperfile(*superfile));
}

TEST(SuperfileWriter, IdsMayBeGivenOneByOne) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf({arrow::field("n", arrow::int32())});
  INFINO_ASSERT_OK_AND_ASSIGN(auto by_runs, SuperfileWriter::Make(schema, {}));
  INFINO_ASSERT_OK_AND_ASSIGN(auto by_ids, SuperfileWriter::Make(schema, {}));
  RowId next = kFirstId;
  for (int i = 0; i < 40; ++i) {
    arrow::ArrayVector pieces;
    std::vector<RowId> ids;
    const auto runs = 1 + random.Below(9);
    for (uint64_t run = 0; run < runs; ++run) {
      const auto rows = static_cast<int64_t>(1 + random.Below(5));
      const auto batch = RandomBatch(schema.ToArrow(), rows, random);
      INFINO_ASSERT_OK(by_runs->Add(*batch, next));
      pieces.push_back(batch->column(0));
      for (int64_t row = 0; row < rows; ++row) ids.push_back(next.Plus(static_cast<uint64_t>(row)));
      next = next.Plus(static_cast<uint64_t>(rows) + 1 + random.Below(3));
    }
    const auto column = arrow::Concatenate(pieces).ValueOrDie();
    const auto batch = arrow::RecordBatch::Make(schema.ToArrow(), column->length(), {column});
    EXPECT_THAT(by_ids->Add(*batch, std::span(ids).first(ids.size() - 1)),
                IsError(ErrorKind::kInvalidArgument));
    INFINO_ASSERT_OK(by_ids->Add(*batch, ids));
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const auto expected_file, by_runs->Finish());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, by_ids->Finish());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto expected, ReadParquet(expected_file.bytes));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto table, ReadParquet(built.bytes));
  EXPECT_TRUE(table->Equals(*expected));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto one, OpenBuilt(expected_file));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto other, OpenBuilt(built));
  for (DocId doc = 0; doc < static_cast<uint64_t>(one->row_count()); ++doc) {
    ASSERT_EQ(other->IdOf(doc), one->IdOf(doc));
  }
  INFINO_EXPECT_OK(VerifySuperfile(*other));
}

TEST(SuperfileWriter, RowsThatDoNotFitTheSchemaAreInvalid) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf({arrow::field("n", arrow::int32(), false)});
  INFINO_ASSERT_OK_AND_ASSIGN(auto writer, SuperfileWriter::Make(schema, {}));
  const auto nulls = RandomArray(arrow::int32(), 100, random, 0.5);
  EXPECT_THAT(writer->Add(*arrow::RecordBatch::Make(schema.ToArrow(), 100, {nulls}), kFirstId),
              IsError(ErrorKind::kInvalidArgument));
  const auto other = arrow::schema({arrow::field("n", arrow::int64(), false)});
  EXPECT_THAT(writer->Add(*RandomBatch(other, 3, random), kFirstId),
              IsError(ErrorKind::kInvalidArgument));
  INFINO_EXPECT_OK(writer->Add(*RandomBatch(schema.ToArrow(), 3, random), kFirstId));
  EXPECT_THAT(writer->Add(*RandomBatch(schema.ToArrow(), 3, random), kFirstId),
              IsError(ErrorKind::kInvalidArgument));
}

TEST(SuperfileWriter, AnIdOfMoreThan38DigitsIsInvalid) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf({arrow::field("n", arrow::int32())});
  INFINO_ASSERT_OK_AND_ASSIGN(auto writer, SuperfileWriter::Make(schema, {}));
  EXPECT_THAT(writer->Add(*RandomBatch(schema.ToArrow(), 3, random),
                          {.high = 5'421'010'862'427'522'170, .low = 0}),
              IsError(ErrorKind::kInvalidArgument));
}

/// Two indexed columns of many different words, in batches.
std::vector<std::shared_ptr<arrow::RecordBatch>> WordyBatches(const TableSchema& schema) {
  Random random(TestSeed());
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  for (int batch = 0; batch < 30; ++batch) {
    arrow::ArrayVector columns;
    for (int column = 0; column < 2; ++column) {
      arrow::LargeStringBuilder texts;
      for (int row = 0; row < 2000; ++row) {
        std::string text = "row" + std::to_string(batch * 2000 + row);
        for (int i = 0; i < 5; ++i) text += " w" + std::to_string(random.Below(20'000));
        EXPECT_TRUE(texts.Append(text).ok());
      }
      columns.push_back(texts.Finish().ValueOrDie());
    }
    batches.push_back(arrow::RecordBatch::Make(schema.ToArrow(), 2000, std::move(columns)));
  }
  return batches;
}

TEST(SuperfileWriter, IndexesOutOfMemoryChangeNoByte) {
  TableSchema schema =
      SchemaOf({arrow::field("a", arrow::large_utf8()), arrow::field("b", arrow::large_utf8())});
  schema.columns[0].text = TextIndexOptions{.positions = true};
  schema.columns[1].text = TextIndexOptions{.stored = false};
  const auto batches = WordyBatches(schema);
  const auto build = [&](int64_t text_bytes, const std::shared_ptr<MemoryScratch>& scratch,
                         int64_t* peak_bytes) -> arrow::Result<BuiltSuperfile> {
    ARROW_ASSIGN_OR_RAISE(
        const auto writer,
        SuperfileWriter::Make(schema,
                              {.id = {}, .scratch = scratch, .index_memory_bytes = text_bytes}));
    RowId id = kFirstId;
    for (const auto& batch : batches) {
      ARROW_RETURN_NOT_OK(writer->Add(*batch, id));
      id = id.Plus(static_cast<uint64_t>(batch->num_rows()));
      *peak_bytes = std::max(*peak_bytes, writer->memory_bytes());
    }
    return writer->Finish();
  };
  int64_t held_bytes = 0;
  int64_t spilled_bytes = 0;
  const auto scratch = std::make_shared<MemoryScratch>();
  INFINO_ASSERT_OK_AND_ASSIGN(const auto held, build(0, nullptr, &held_bytes));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto spilled, build(int64_t{4} << 20, scratch, &spilled_bytes));
  EXPECT_TRUE(spilled.bytes->Equals(*held.bytes));
  EXPECT_EQ(spilled.summary.texts, held.summary.texts);
  ASSERT_EQ(spilled.term_filters.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(spilled.term_filters[i].filter->Equals(*held.term_filters[i].filter));
  }
  EXPECT_EQ(scratch->files(), 2);
  EXPECT_EQ(scratch->open_files(), 0);
  // The rows of a row group, which both hold, are most of the rest.
  EXPECT_LT(spilled_bytes, held_bytes);
}

TEST(SuperfileWriter, AFileInScratchHasTheSameBytes) {
  TableSchema schema =
      SchemaOf({arrow::field("text", arrow::large_utf8()), arrow::field("n", arrow::int32())});
  schema.columns[0].text = TextIndexOptions{.positions = true};
  Random random(TestSeed());
  const auto build = [&](const SuperfileWriterOptions& options) -> arrow::Result<BuiltSuperfile> {
    Random rows(TestSeed());
    ARROW_ASSIGN_OR_RAISE(const auto writer, SuperfileWriter::Make(schema, options));
    RowId id = kFirstId;
    for (const int64_t count : {40'000, 30'000, 50'000}) {
      ARROW_RETURN_NOT_OK(writer->Add(*RandomBatch(schema.ToArrow(), count, rows), id));
      id = id.Plus(static_cast<uint64_t>(count));
    }
    return writer->Finish();
  };
  INFINO_ASSERT_OK_AND_ASSIGN(const auto held, build({.id = {}}));
  for (const int64_t file_bytes :
       {int64_t{0}, static_cast<int64_t>(random.Below(static_cast<uint64_t>(held.bytes->size()))),
        held.bytes->size() - 1}) {
    const auto scratch = std::make_shared<MemoryScratch>();
    INFINO_ASSERT_OK_AND_ASSIGN(
        const auto spilled, build({.id = {}, .scratch = scratch, .file_memory_bytes = file_bytes}));
    SCOPED_TRACE(file_bytes);
    ASSERT_EQ(spilled.bytes, nullptr);
    ASSERT_NE(spilled.file, nullptr);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto bytes,
                                spilled.file->Read({.offset = 0, .length = spilled.file->size()}));
    EXPECT_TRUE(bytes->Equals(*held.bytes));
    EXPECT_EQ(spilled.summary.texts, held.summary.texts);
    EXPECT_EQ(spilled.summary.open_section, held.summary.open_section);
    EXPECT_EQ(spilled.summary.footer, held.summary.footer);
    EXPECT_EQ(spilled.summary.size_bytes, bytes->size());
    EXPECT_EQ(spilled.summary.hash, Blake3(SpanOf(*bytes)));
  }
  const auto scratch = std::make_shared<MemoryScratch>();
  INFINO_ASSERT_OK_AND_ASSIGN(
      const auto fits,
      build({.id = {}, .scratch = scratch, .file_memory_bytes = held.bytes->size()}));
  ASSERT_NE(fits.bytes, nullptr);
  EXPECT_TRUE(fits.bytes->Equals(*held.bytes));
  EXPECT_EQ(fits.file, nullptr);
  EXPECT_EQ(scratch->files(), 0);
}

TEST(SuperfileWriter, AFileInScratchIsNotInMemory) {
  const TableSchema schema = SchemaOf({arrow::field("b", arrow::fixed_size_binary(1000))});
  const auto peak_of =
      [&](const std::shared_ptr<MemoryScratch>& scratch) -> arrow::Result<int64_t> {
    Random random(TestSeed());
    ARROW_ASSIGN_OR_RAISE(
        const auto writer,
        SuperfileWriter::Make(
            schema, {.id = {}, .scratch = scratch, .file_memory_bytes = int64_t{1} << 20}));
    int64_t peak = 0;
    for (RowId id = kFirstId; writer->row_count() < 120'000; id = id.Plus(10'000)) {
      ARROW_RETURN_NOT_OK(writer->Add(*RandomBatch(schema.ToArrow(), 10'000, random), id));
      peak = std::max(peak, writer->memory_bytes());
    }
    EXPECT_GT(writer->file_bytes(), int64_t{80} << 20);
    return peak;
  };
  INFINO_ASSERT_OK_AND_ASSIGN(const int64_t with_scratch,
                              peak_of(std::make_shared<MemoryScratch>()));
  INFINO_ASSERT_OK_AND_ASSIGN(const int64_t without, peak_of(nullptr));
  // A row group that waits to be encoded is 32 MiB, and is counted twice; one that was is 32 MiB.
  EXPECT_LT(with_scratch, int64_t{140} << 20);
  EXPECT_GT(without, int64_t{80} << 20);
  EXPECT_GT(without, with_scratch);
}

TEST(SuperfileWriter, AScratchFolderThatIsFullIsSaid) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf({arrow::field("text", arrow::large_utf8())});
  const auto scratch = std::make_shared<MemoryScratch>(MemoryScratch::Plan{.bytes_max = 5000});
  INFINO_ASSERT_OK_AND_ASSIGN(
      const auto writer,
      SuperfileWriter::Make(schema, {.id = {}, .scratch = scratch, .file_memory_bytes = 1000}));
  arrow::Status status = writer->Add(*RandomBatch(schema.ToArrow(), 70'000, random), kFirstId);
  if (status.ok()) status = writer->Finish().status();
  ASSERT_THAT(status, IsError(ErrorKind::kResourceExhausted));
  EXPECT_THAT(status.message(), testing::HasSubstr("/memory"));
}

TEST(SuperfileWriter, RowGroupsEndByRowsAndByBytes) {
  Random random(TestSeed());
  const TableSchema narrow = SchemaOf({arrow::field("b", arrow::boolean())});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto many,
                              BuildFrom(narrow, {RandomBatch(narrow.ToArrow(), 65'537, random)}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto by_rows, OpenBuilt(many));
  EXPECT_EQ(by_rows->row_map()->row_group_starts(), (std::vector<int64_t>{0, 65'536, 65'537}));
  const TableSchema wide = SchemaOf({arrow::field("b", arrow::fixed_size_binary(1 << 20))});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto large,
                              BuildFrom(wide, {RandomBatch(wide.ToArrow(), 40, random)}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto by_bytes, OpenBuilt(large));
  EXPECT_EQ(by_bytes->row_map()->row_group_count(), 2);
  EXPECT_GT(by_bytes->block_checksums().count(), 30);
}

}  // namespace
}  // namespace infino
