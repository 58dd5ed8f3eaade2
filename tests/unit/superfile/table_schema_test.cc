#include "infino/superfile/table_schema.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/superfile/superfile_writer.h"
#include "support/matchers.h"
#include "unit/superfile/superfile_fixture.h"

namespace infino {
namespace {

TableSchema Sample() {
  TableSchema schema = SchemaOf(
      {arrow::field("text", arrow::large_utf8(), true, arrow::key_value_metadata({"a"}, {"b"})),
       arrow::field("n", arrow::int32(), false)});
  return schema;
}

TEST(TableSchema, FindsColumnsByNameAndFieldId) {
  const TableSchema schema = Sample();
  EXPECT_EQ(schema.Find("n"), &schema.columns[1]);
  EXPECT_EQ(schema.Find("N"), nullptr);
  EXPECT_EQ(schema.FindById(1), &schema.columns[0]);
  EXPECT_EQ(schema.FindById(0), nullptr);
}

TEST(TableSchema, ArrowSchemaIsAsDeclaredWithoutMetadata) {
  const auto arrow_schema = Sample().ToArrow();
  EXPECT_TRUE(arrow_schema->Equals(*arrow::schema({arrow::field("text", arrow::large_utf8()),
                                                   arrow::field("n", arrow::int32(), false)}),
                                   /*check_metadata=*/true));
}

TEST(TableSchema, FileSchemaHasIdFirstAndOnlyStoredColumns) {
  TableSchema schema = Sample();
  schema.columns[0].text->stored = false;
  const auto file_schema = schema.ToFileSchema();
  ASSERT_EQ(file_schema->num_fields(), 2);
  EXPECT_TRUE(file_schema->field(0)->Equals(*IdField()));
  EXPECT_EQ(FieldIdOf(*file_schema->field(0)), 0);
  EXPECT_EQ(file_schema->field(1)->name(), "n");
  EXPECT_EQ(FieldIdOf(*file_schema->field(1)), 2);
}

TEST(FieldIdOf, IsNothingWithoutANumberThatIsOne) {
  const auto with = [](const std::string& id) {
    return arrow::field("x", arrow::int8(), true,
                        arrow::key_value_metadata({std::string(kFieldIdKey)}, {id}));
  };
  EXPECT_EQ(FieldIdOf(*with("12")), 12);
  EXPECT_EQ(FieldIdOf(*with("12a")), std::nullopt);
  EXPECT_EQ(FieldIdOf(*with("-3")), std::nullopt);
  EXPECT_EQ(FieldIdOf(*with("")), std::nullopt);
  EXPECT_EQ(FieldIdOf(*arrow::field("x", arrow::int8())), std::nullopt);
}

TEST(ValidateTableSchema, TakesOddNamesAndEmptySchemas) {
  INFINO_EXPECT_OK(ValidateTableSchema(TableSchema()));
  INFINO_EXPECT_OK(ValidateTableSchema(
      SchemaOf({arrow::field("", arrow::int8()), arrow::field("a", arrow::int8()),
                arrow::field("A", arrow::int8()), arrow::field("a.b", arrow::int8()),
                arrow::field("score", arrow::int8()), arrow::field("inf.x", arrow::int8()),
                arrow::field("quote\"' ü", arrow::int8())})));
}

void ExpectRefused(const TableSchema& schema, const std::string& says) {
  const auto status = ValidateTableSchema(schema);
  EXPECT_THAT(status, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(status.message(), testing::HasSubstr(says));
}

void ExpectOptionsRefused(const std::function<void(TextIndexOptions&)>& change,
                          const std::string& says) {
  TableSchema schema = Sample();
  change(*schema.columns[0].text);
  ExpectRefused(schema, says);
}

TEST(ValidateTableSchema, NamesTheColumnOfABadName) {
  ExpectRefused(SchemaOf({arrow::field("x", arrow::int8()), arrow::field("x", arrow::int16())}),
                "column 'x': duplicate column name");
  ExpectRefused(SchemaOf({arrow::field("_id", arrow::int8())}), "_id");
  ExpectRefused(SchemaOf({arrow::field("\xFF", arrow::int8())}), "UTF-8");
}

TEST(ValidateTableSchema, NamesWhatIsWrongWithATextIndex) {
  TableSchema schema = SchemaOf({arrow::field("n", arrow::int32())});
  schema.columns[0].text = TextIndexOptions();
  ExpectRefused(schema, "large_utf8");
  ExpectOptionsRefused([](TextIndexOptions& options) { options.analyzer = "Standard"; },
                       "Standard");
  ExpectOptionsRefused([](TextIndexOptions& options) { options.stopwords = "klingon"; }, "klingon");
  ExpectOptionsRefused([](TextIndexOptions& options) { options.k1 = 1.0; }, "together");
  for (const double k1 : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    ExpectOptionsRefused(
        [k1](TextIndexOptions& options) {
          options.k1 = k1;
          options.b = 0.5;
        },
        "k1");
  }
  for (const double b : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    ExpectOptionsRefused(
        [b](TextIndexOptions& options) {
          options.k1 = 1.0;
          options.b = b;
        },
        "b must");
  }
  schema = Sample();
  schema.columns[0].text->k1 = 1.0;
  schema.columns[0].text->b = 1.0;
  INFINO_EXPECT_OK(ValidateTableSchema(schema));
}

TEST(ValidateTableSchema, RefusesEmptyStructsAndBottomlessNesting) {
  ExpectRefused(SchemaOf({arrow::field("s", arrow::struct_({}))}), "struct");
  auto type = arrow::int32();
  for (int i = 0; i < 30; ++i) type = arrow::list(type);
  ExpectRefused(SchemaOf({arrow::field("deep", type)}), "deeper");
}

}  // namespace
}  // namespace infino
