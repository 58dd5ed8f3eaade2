// Every type that a superfile holds goes in and comes out again.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/options.h"
#include "infino/superfile/conform.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/superfile/random_arrays.h"
#include "unit/superfile/superfile_fixture.h"

namespace infino {
namespace {

void ExpectEqual(const std::shared_ptr<arrow::Array>& actual,
                 const std::shared_ptr<arrow::Array>& expected, const std::string& what) {
  EXPECT_THAT(actual->ValidateFull(), IsOk()) << what;
  EXPECT_TRUE(SameValues(actual, expected))
      << what << ": got " << actual->ToString() << "\nexpected " << expected->ToString();
}

/// The same rows as a slice of a longer batch, in three chunks of which one is a single row.
std::vector<std::shared_ptr<arrow::RecordBatch>> Chunks(const arrow::RecordBatch& padded) {
  const auto rows = padded.Slice(3, padded.num_rows() - 5);
  const int64_t half = rows->num_rows() / 2;
  return {rows->Slice(0, half), rows->Slice(half, 1), rows->Slice(half + 1)};
}

class EveryType : public testing::TestWithParam<Compression> {};

TEST_P(EveryType, ComesBackAsItWasWritten) {
  constexpr int64_t kRows = 300;
  Random random(TestSeed());
  for (const auto& field : AllTypes()) {
    SCOPED_TRACE(field->ToString());
    const TableSchema schema = SchemaOf({field});
    INFINO_EXPECT_OK(ValidateTableSchema(schema));
    const auto batches = Chunks(*RandomBatch(schema.ToArrow(), kRows + 5, random));
    arrow::ArrayVector chunks;
    for (const auto& batch : batches) chunks.push_back(batch->column(0));

    const auto built = BuildFrom(schema, batches, GetParam());
    EXPECT_THAT(built, IsOk());
    if (!built.ok()) continue;
    INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(*built));
    INFINO_EXPECT_OK(VerifySuperfile(*superfile));

    std::vector<DocId> all(kRows);
    std::iota(all.begin(), all.end(), 0);
    for (const auto& docs : {all, RandomDocs(random, 10, kRows), RandomDocs(random, 1, kRows)}) {
      const auto rows = FetchRows(*superfile, docs, {1});
      EXPECT_THAT(rows, IsOk());
      if (!rows.ok()) continue;
      EXPECT_EQ((*rows)->schema()->field(0)->type()->ToString(), field->type()->ToString());
      ExpectEqual((*rows)->column(0), TakeRows(chunks, docs), "fetched");
    }

    INFINO_ASSERT_OK_AND_ASSIGN(const auto table, ReadParquet(built->bytes));
    INFINO_ASSERT_OK_AND_ASSIGN(const auto column, arrow::Concatenate(table->column(1)->chunks()));
    INFINO_ASSERT_OK_AND_ASSIGN(const auto conformed, Conform(column, field->type()));
    ExpectEqual(conformed, TakeRows(chunks, all), "read as Parquet");
  }
}

INSTANTIATE_TEST_SUITE_P(Compressions, EveryType,
                         testing::Values(Compression::kZstd, Compression::kLz4,
                                         Compression::kNone));

TEST(SuperfileTypes, AllInOneFileComeBack) {
  Random random(TestSeed() + 1);
  const TableSchema schema = SchemaOf(AllTypes());
  INFINO_ASSERT_OK(ValidateTableSchema(schema));
  const auto batch = RandomBatch(schema.ToArrow(), 700, random);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenAlone(built.bytes));
  std::vector<int32_t> field_ids;
  for (const TableColumn& column : schema.columns)
    field_ids.insert(field_ids.begin(), column.field_id);
  const std::vector<DocId> docs = RandomDocs(random, 25, batch->num_rows());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, FetchRows(*superfile, docs, field_ids));
  ASSERT_EQ(rows->num_columns(), batch->num_columns());
  for (int i = 0; i < rows->num_columns(); ++i) {
    const auto declared = schema.FindById(field_ids[static_cast<size_t>(i)]);
    const auto expected = batch->GetColumnByName(declared->field->name());
    ExpectEqual(rows->column(i), TakeRows({expected}, docs), declared->field->name());
  }
}

TEST(SuperfileTypes, WhatIsRefusedNamesColumnAndType) {
  for (const auto& type :
       {arrow::month_day_nano_interval(), arrow::month_interval(), arrow::day_time_interval(),
        arrow::dense_union({arrow::field("a", arrow::int32())}),
        arrow::sparse_union({arrow::field("a", arrow::int32())}),
        arrow::run_end_encoded(arrow::int32(), arrow::utf8()),
        arrow::fixed_size_list(arrow::int32(), 0),
        arrow::dictionary(arrow::int8(), arrow::utf8_view()),
        arrow::list(arrow::month_day_nano_interval())}) {
    const auto status = ValidateTableSchema(SchemaOf({arrow::field("bad column", type)}));
    EXPECT_THAT(status, IsError(ErrorKind::kInvalidArgument)) << type->ToString();
    EXPECT_THAT(status.message(), testing::HasSubstr("bad column")) << type->ToString();
    const auto& inner = type->id() == arrow::Type::LIST ? type->field(0)->type() : type;
    EXPECT_THAT(status.message(), testing::HasSubstr(inner->ToString()));
  }
}

}  // namespace
}  // namespace infino
