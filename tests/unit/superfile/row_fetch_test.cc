#include "infino/superfile/row_fetch.h"

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_format.h"
#include "infino/superfile/superfile_reader.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/superfile/random_arrays.h"
#include "unit/superfile/superfile_fixture.h"

namespace infino {
namespace {

arrow::FieldVector ManyShapes() {
  return {
      arrow::field("text", arrow::large_utf8()),
      arrow::field("number", arrow::int64(), false),
      arrow::field("kind", arrow::dictionary(arrow::int32(), arrow::utf8())),
      arrow::field("tags", arrow::list(arrow::utf8())),
      arrow::field("pair", arrow::struct_({arrow::field("a", arrow::utf8()),
                                           arrow::field("b", arrow::int16())})),
      arrow::field("entries",
                   arrow::list(arrow::struct_({arrow::field("k", arrow::utf8()),
                                               arrow::field("v", arrow::list(arrow::int32()))})))};
}

TEST(RowFetch, GivesWhatAFullReadGivesForAnyRows) {
  constexpr int64_t kRows = 70'000;
  Random random(TestSeed());
  const TableSchema schema = SchemaOf(ManyShapes());
  const auto batch = RandomBatch(schema.ToArrow(), kRows, random);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  for (int round = 0; round < 12; ++round) {
    const auto docs = RandomDocs(random, 1 + random.Below(60), kRows);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto rows,
                                FetchRows(*superfile, docs, {6, 1, 0, 5, 2, 4, 3}));
    INFINO_ASSERT_OK(rows->ValidateFull());
    for (const TableColumn& column : schema.columns) {
      const std::string& name = column.field->name();
      EXPECT_TRUE(
          SameValues(rows->GetColumnByName(name), TakeRows({batch->GetColumnByName(name)}, docs)))
          << name;
    }
    for (size_t i = 0; i < docs.size(); ++i) {
      const RowId id = kFirstId.Plus(docs[i]);
      EXPECT_EQ(superfile->IdOf(docs[i]), id);
      EXPECT_EQ(superfile->FindId(id), docs[i]);
      const auto& ids = dynamic_cast<const arrow::Decimal128Array&>(*rows->column(2));
      const arrow::Decimal128 value(ids.GetValue(static_cast<int64_t>(i)));
      EXPECT_EQ(static_cast<uint64_t>(value.high_bits()), id.high);
      EXPECT_EQ(value.low_bits(), id.low);
    }
  }
}

TEST(RowFetch, TakesOneRoundAndFewBytes) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf({arrow::field("text", arrow::large_utf8())});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built,
                              BuildFrom(schema, {RandomBatch(schema.ToArrow(), 50'000, random)}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  INFINO_ASSERT_OK_AND_ASSIGN(auto fetch,
                              RowFetch::Make(*superfile, {7, 7, 20'000, 49'999}, {1, 0}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto reads, fetch->NextReads());
  ASSERT_EQ(reads.size(), 3U);
  for (const ByteRange& read : reads) EXPECT_LT(read.length, 32 << 10);
  INFINO_ASSERT_OK_AND_ASSIGN(Buffers bytes, Wait(superfile->file().Read(reads)));
  INFINO_ASSERT_OK(fetch->Feed(std::move(bytes)));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto none, fetch->NextReads());
  EXPECT_TRUE(none.empty());
}

TEST(RowFetch, IdsAloneAndNoRowsReadNothing) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf(ManyShapes());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built,
                              BuildFrom(schema, {RandomBatch(schema.ToArrow(), 20, random)}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  int rounds = 0;
  INFINO_ASSERT_OK_AND_ASSIGN(const auto ids, FetchRows(*superfile, {3, 1}, {0}, &rounds));
  EXPECT_EQ(ids->num_rows(), 2);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto empty, FetchRows(*superfile, {}, {1, 5, 0}, &rounds));
  EXPECT_EQ(empty->num_rows(), 0);
  EXPECT_TRUE(empty->column(1)->type()->Equals(*schema.FindById(5)->field->type()));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto nothing, FetchRows(*superfile, {1, 2}, {}, &rounds));
  EXPECT_EQ(nothing->num_rows(), 2);
  EXPECT_EQ(rounds, 0);
}

TEST(RowFetch, UnknownColumnsAndRowsAreInvalid) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf({arrow::field("number", arrow::int32())});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built,
                              BuildFrom(schema, {RandomBatch(schema.ToArrow(), 20, random)}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  EXPECT_THAT(RowFetch::Make(*superfile, {20}, {1}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(RowFetch::Make(*superfile, {1}, {2}), IsError(ErrorKind::kInvalidArgument));
}

TEST(RowFetch, AMapThatIsARegionCostsOneRoundOnce) {
  Random random(TestSeed());
  arrow::FieldVector fields;
  constexpr int kColumns = 1500;
  for (int i = 0; i < kColumns; ++i) {
    fields.push_back(arrow::field("c" + std::to_string(i), arrow::float64()));
  }
  const TableSchema schema = SchemaOf(fields);
  const auto batch = RandomBatch(schema.ToArrow(), 9000, random);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  ASSERT_EQ(superfile->row_map(), nullptr);
  EXPECT_GT(superfile->row_map_place().length, static_cast<int64_t>(kInlineRowMapMax));
  int rounds = 0;
  INFINO_ASSERT_OK_AND_ASSIGN(auto rows, FetchRows(*superfile, {8000, 1}, {77}, &rounds));
  EXPECT_EQ(rounds, 2);
  EXPECT_TRUE(rows->column(0)->ApproxEquals(*TakeRows({batch->column(76)}, {8000, 1}),
                                            arrow::EqualOptions::Defaults().nans_equal(true)));
  INFINO_ASSERT_OK_AND_ASSIGN(rows, FetchRows(*superfile, {8000, 1}, {77}, &rounds));
  EXPECT_EQ(rounds, 3);
  ASSERT_NE(superfile->row_map(), nullptr);
  INFINO_EXPECT_OK(VerifySuperfile(*superfile));
}

TEST(RowFetch, WideCellsAreFetchedAlone) {
  arrow::LargeStringBuilder builder;
  std::vector<std::string> cells;
  for (int i = 0; i < 60; ++i) {
    cells.push_back(std::string(200'000, static_cast<char>('a' + (i % 26))) + std::to_string(i));
    if (i % 9 == 0) cells.back() = "";
    if (i % 11 == 0) cells.back() = std::string("nul\0inside\0", 11);
    INFINO_ASSERT_OK(builder.Append(cells.back()));
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const auto column, builder.Finish());
  const TableSchema schema = SchemaOf({arrow::field("body", arrow::large_utf8())});
  INFINO_ASSERT_OK_AND_ASSIGN(
      const auto built,
      BuildFrom(schema, {arrow::RecordBatch::Make(schema.ToArrow(), column->length(), {column})},
                Compression::kNone));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  INFINO_ASSERT_OK_AND_ASSIGN(auto fetch, RowFetch::Make(*superfile, {17}, {1}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto reads, fetch->NextReads());
  ASSERT_EQ(reads.size(), 1U);
  EXPECT_LT(reads[0].length, 201'000);
  std::vector<DocId> all(cells.size());
  std::iota(all.begin(), all.end(), 0);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, FetchRows(*superfile, all, {1}));
  EXPECT_TRUE(rows->column(0)->Equals(*column));
}

}  // namespace
}  // namespace infino
