#include "infino/catalog/declared_schema.h"

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index_spec.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

using ::testing::HasSubstr;

arrow::Result<TableSchema> Declare(const arrow::Schema& schema, const IndexSpec& spec) {
  Random random(TestSeed());
  return DeclareSchema(schema, spec, random);
}

std::shared_ptr<arrow::Schema> SampleSchema() {
  return arrow::schema({arrow::field("title", arrow::large_utf8()),
                        arrow::field("n", arrow::int32(), /*nullable=*/false),
                        arrow::field("body", arrow::utf8())});
}

TEST(DeclareSchema, GivesBackExactlyWhatWasDeclared) {
  const auto declared = Declare(*SampleSchema(), IndexSpec().Fts("title").Fts("body"));
  ASSERT_THAT(declared, IsOk());
  EXPECT_TRUE(declared->ToArrow()->Equals(*SampleSchema(), /*check_metadata=*/true));
  EXPECT_EQ(declared->columns[2].field_id, 3);
  EXPECT_EQ(declared->last_field_id, 3);
}

TEST(DeclareSchema, LeavesMetadataOut) {
  const auto metadata = arrow::key_value_metadata({"a"}, {"b"});
  const auto schema = arrow::schema({arrow::field("n", arrow::int32(), true, metadata)}, metadata);
  const auto declared = Declare(*schema, {});
  ASSERT_THAT(declared, IsOk());
  EXPECT_EQ(declared->ToArrow()->metadata(), nullptr);
  EXPECT_EQ(declared->ToArrow()->field(0)->metadata(), nullptr);
}

TEST(DeclareSchema, KeepsTheOptionsOfIndexes) {
  const TextIndexOptions options{.stored = false, .k1 = 0.9, .b = 0.4, .stemmer = "english"};
  const IndexSpec spec = IndexSpec().Fts("title", options);
  const auto declared = Declare(*SampleSchema(), spec);
  ASSERT_THAT(declared, IsOk());
  EXPECT_EQ(IndexSpecOf(*declared), spec);
}

TEST(DeclareSchema, NamesWhatIsWrongWithAnIndex) {
  const auto expect_refused = [](const IndexSpec& spec, const std::string& why) {
    const auto declared = Declare(*SampleSchema(), spec);
    EXPECT_THAT(declared, IsError(ErrorKind::kInvalidArgument)) << why;
    EXPECT_THAT(declared.status().message(), HasSubstr(why));
  };
  expect_refused(IndexSpec().Fts("nope"), "'nope'");
  expect_refused(IndexSpec().Fts("n"), "n");
  expect_refused(IndexSpec().Fts("title").Fts("title"), "duplicated");
  expect_refused(IndexSpec().Fts("title", {.analyzer = "Standard"}), "Standard");
  expect_refused(IndexSpec().Fts("title", {.stopwords = "klingon"}), "klingon");
  expect_refused(IndexSpec().Fts("title", {.k1 = 1.0}), "both");
  expect_refused(IndexSpec().Fts("title", {.k1 = -1.0, .b = 0.5}), "k1");
}

std::shared_ptr<arrow::Schema> VectorSchema(int32_t dimension = 384) {
  const auto number = arrow::field("element", arrow::float32(), /*nullable=*/false);
  return arrow::schema({arrow::field("title", arrow::large_utf8()),
                        arrow::field("v", arrow::fixed_size_list(number, dimension))});
}

TEST(DeclareSchema, GivesBackVectorIndexesByTheirFirstNames) {
  const IndexSpec spec =
      IndexSpec().Vector("v", 0, {.metric = "DOT", .rerank = "FP16", .stored = true}).Fts("title");
  const auto declared = Declare(*VectorSchema(), spec);
  ASSERT_THAT(declared, IsOk());
  EXPECT_TRUE(declared->ToArrow()->Equals(*VectorSchema()));
  const auto& index = declared->columns[1].vector;
  ASSERT_TRUE(index.has_value());
  EXPECT_EQ(index->column.dimension, 384U);
  EXPECT_EQ(index->column.metric, vector::VectorMetric::kNegativeDot);
  EXPECT_EQ(index->column.tier, vector::RerankTier::kFp16);
  EXPECT_TRUE(index->stored);
  const IndexSpec filled = IndexSpec().Fts("title").Vector(
      "v", 384, {.metric = "negdot", .rerank = "fp16", .stored = true});
  EXPECT_EQ(IndexSpecOf(*declared), filled);
  const auto again = Declare(*VectorSchema(), filled);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(IndexSpecOf(*again), filled);
}

TEST(DeclareSchema, DrawsARotationForEachColumn) {
  const auto type = arrow::fixed_size_list(arrow::float32(), 16);
  const auto schema = arrow::schema({arrow::field("v", type), arrow::field("w", type)});
  const auto declared = Declare(*schema, IndexSpec().Vector("v").Vector("w", 16));
  ASSERT_THAT(declared, IsOk());
  EXPECT_NE(declared->columns[0].vector->column.rotation_seed,
            declared->columns[1].vector->column.rotation_seed);
}

TEST(DeclareSchema, NamesWhatIsWrongWithAVectorIndex) {
  const auto expect_refused = [](const arrow::Schema& schema, const IndexSpec& spec,
                                 const std::vector<std::string>& words) {
    const auto declared = Declare(schema, spec);
    EXPECT_THAT(declared, IsError(ErrorKind::kInvalidArgument)) << words[0];
    for (const std::string& word : words) {
      EXPECT_THAT(declared.status().message(), HasSubstr(word));
    }
  };
  const auto schema = VectorSchema();
  expect_refused(*schema, IndexSpec().Vector("nope"), {"'nope'", "no such column"});
  expect_refused(*schema, IndexSpec().Vector("title"), {"'title'", "large_string"});
  expect_refused(*schema, IndexSpec().Vector("v", 128),
                 {"column 'v' has vectors of 384 dimensions, the index says 128"});
  expect_refused(*schema, IndexSpec().Vector("v").Vector("v"), {"'v'", "duplicated"});
  expect_refused(*schema, IndexSpec().Vector("v", 0, {.metric = "manhattan"}),
                 {"'v'", "manhattan", "cosine", "l2sq", "negdot"});
  expect_refused(*schema, IndexSpec().Vector("v", 0, {.rerank = "fp64"}),
                 {"'v'", "fp64", "fp32", "fp16", "sq8", "sq8_residual", "none"});
  expect_refused(*VectorSchema(15), IndexSpec().Vector("v"), {"'v'", "15", "16 to 4096"});
  expect_refused(*VectorSchema(4097), IndexSpec().Vector("v", 4097), {"'v'", "4097"});
  const auto doubles =
      arrow::schema({arrow::field("v", arrow::fixed_size_list(arrow::float64(), 16))});
  expect_refused(*doubles, IndexSpec().Vector("v", 16), {"'v'", "double"});
  for (const int32_t dimension : {16, 17, 4096}) {
    EXPECT_THAT(Declare(*VectorSchema(dimension), IndexSpec().Vector("v")), IsOk());
  }
}

TEST(DeclareSchema, RefusesDuplicateAndReservedNames) {
  const auto twice =
      arrow::schema({arrow::field("a", arrow::int32()), arrow::field("a", arrow::int64())});
  EXPECT_THAT(Declare(*twice, {}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Declare(*arrow::schema({arrow::field("_id", arrow::int32())}), {}),
              IsError(ErrorKind::kInvalidArgument));
}

}  // namespace
}  // namespace infino
