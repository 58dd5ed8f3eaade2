#include "infino/query/projection.h"

#include <optional>
#include <string>
#include <vector>

#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/error.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"

namespace infino {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// `title` and `body` are indexed, `body` is not stored; `price` is stored.
TableSchema SampleSchema() {
  TableSchema schema;
  const auto add = [&](arrow::FieldVector::value_type field,
                       std::optional<TextIndexOptions> text = {}) {
    schema.columns.push_back(
        {.field_id = ++schema.last_field_id, .field = std::move(field), .text = std::move(text)});
  };
  add(arrow::field("title", arrow::large_utf8()), TextIndexOptions{});
  add(arrow::field("body", arrow::utf8()), TextIndexOptions{.stored = false});
  add(arrow::field("price", arrow::float64(), /*nullable=*/false));
  return schema;
}

using Names = std::vector<std::string>;

TEST(Projection, DefaultsToIdAndScore) {
  const auto projection = ResolveProjection(SampleSchema(), std::nullopt);
  ASSERT_THAT(projection, IsOk());
  EXPECT_TRUE(projection->schema->Equals(
      *arrow::schema({arrow::field("_id", arrow::decimal128(38, 0), false),
                      arrow::field("score", arrow::float32(), false)})));
  EXPECT_TRUE(projection->fetched_field_ids.empty());
}

TEST(Projection, KeepsTheOrderAndTheDeclaredTypes) {
  const auto projection =
      ResolveProjection(SampleSchema(), Names{"price", "score", "title", "_id"});
  ASSERT_THAT(projection, IsOk());
  EXPECT_THAT(projection->schema->field_names(), ElementsAre("price", "score", "title", "_id"));
  EXPECT_TRUE(projection->schema->field(0)->Equals(
      *arrow::field("price", arrow::float64(), /*nullable=*/false)));
  EXPECT_TRUE(projection->schema->field(2)->Equals(*arrow::field("title", arrow::large_utf8())));
  EXPECT_THAT(projection->fetched_field_ids, ElementsAre(3, 1));
}

TEST(Projection, FetchesAColumnThatIsAskedForTwiceOnce) {
  const auto projection = ResolveProjection(SampleSchema(), Names{"title", "title"});
  ASSERT_THAT(projection, IsOk());
  EXPECT_THAT(projection->schema->field_names(), ElementsAre("title", "title"));
  EXPECT_THAT(projection->fetched_field_ids, ElementsAre(1));
  EXPECT_EQ(projection->columns[1].fetched, 0U);
}

TEST(Projection, MayHaveNoColumns) {
  const auto projection = ResolveProjection(SampleSchema(), Names{});
  ASSERT_THAT(projection, IsOk());
  EXPECT_EQ(projection->schema->num_fields(), 0);
}

TEST(Projection, RefusesAnUnknownColumnAndListsTheValidOnes) {
  const auto projection = ResolveProjection(SampleSchema(), Names{"nope"});
  EXPECT_THAT(projection, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(projection.status().message(),
              AllOf(HasSubstr("'nope'"), HasSubstr("valid columns: _id, score, title, price"),
                    Not(HasSubstr("body"))));
}

TEST(Projection, RefusesAColumnThatIsNotStored) {
  const auto projection = ResolveProjection(SampleSchema(), Names{"body"});
  EXPECT_THAT(projection, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(projection.status().message(), HasSubstr("not stored"));
}

}  // namespace
}  // namespace infino
