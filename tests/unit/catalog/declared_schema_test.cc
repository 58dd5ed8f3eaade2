#include "infino/catalog/declared_schema.h"

#include <memory>
#include <string>
#include <vector>

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/error.h"
#include "infino/index_spec.h"
#include "support/matchers.h"

namespace infino {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<arrow::Schema> SampleSchema() {
  return arrow::schema({arrow::field("title", arrow::large_utf8()),
                        arrow::field("n", arrow::int32(), /*nullable=*/false),
                        arrow::field("body", arrow::utf8())});
}

TEST(DeclareSchema, GivesBackExactlyWhatWasDeclared) {
  const auto declared = DeclareSchema(*SampleSchema(), IndexSpec().Fts("title").Fts("body"));
  ASSERT_THAT(declared, IsOk());
  EXPECT_TRUE(declared->ToArrow()->Equals(*SampleSchema(), /*check_metadata=*/true));
  EXPECT_EQ(declared->columns[2].field_id, 3);
  EXPECT_EQ(declared->last_field_id, 3);
}

TEST(DeclareSchema, LeavesMetadataOut) {
  const auto metadata = arrow::key_value_metadata({"a"}, {"b"});
  const auto schema = arrow::schema({arrow::field("n", arrow::int32(), true, metadata)}, metadata);
  const auto declared = DeclareSchema(*schema, {});
  ASSERT_THAT(declared, IsOk());
  EXPECT_EQ(declared->ToArrow()->metadata(), nullptr);
  EXPECT_EQ(declared->ToArrow()->field(0)->metadata(), nullptr);
}

TEST(DeclareSchema, KeepsTheOptionsOfIndexes) {
  const TextIndexOptions options{.stored = false, .k1 = 0.9, .b = 0.4, .stemmer = "english"};
  const IndexSpec spec = IndexSpec().Fts("title", options);
  const auto declared = DeclareSchema(*SampleSchema(), spec);
  ASSERT_THAT(declared, IsOk());
  EXPECT_EQ(IndexSpecOf(*declared), spec);
}

TEST(DeclareSchema, NamesWhatIsWrongWithAnIndex) {
  const auto expect_refused = [](const IndexSpec& spec, const std::string& why) {
    const auto declared = DeclareSchema(*SampleSchema(), spec);
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

TEST(DeclareSchema, RefusesDuplicateAndReservedNames) {
  const auto twice =
      arrow::schema({arrow::field("a", arrow::int32()), arrow::field("a", arrow::int64())});
  EXPECT_THAT(DeclareSchema(*twice, {}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(DeclareSchema(*arrow::schema({arrow::field("_id", arrow::int32())}), {}),
              IsError(ErrorKind::kInvalidArgument));
}

}  // namespace
}  // namespace infino
