#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/manifest/declared_stats.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/manifest/root_codec.h"
#include "infino/superfile/column_stats.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/manifest/sample_manifest.h"

namespace infino {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int32_t kVectorId = 3;

VersionHolder Applied(const VersionHolder& base, const ManifestChange& change, Random& random) {
  auto next = Apply(base.base(), change, RandomStamp(random));
  EXPECT_THAT(next, IsOk());
  const BaseVersion base_version = base.base();
  EXPECT_THAT(Verify(&base_version, *next, WrittenBy(change)), IsOk());
  EXPECT_THAT(DecodeRoot(*next->root_bytes, "root"), IsOk());
  return {std::move(*next)};
}

/// A table of vectors with rows and two lists of points.
VersionHolder VectorTable(Random& random) {
  VersionHolder table{*FirstVersion(VectorSampleSchema(), RandomStamp(random))};
  ManifestChange append = AppendOf({RandomSuperfile(random)});
  append.points = {RandomPoints(random, kVectorId), RandomPoints(random, kVectorId)};
  return Applied(table, append, random);
}

ManifestChange SchemaChangeOf(TableSchema schema) {
  ManifestChange change;
  change.operation = "schema";
  ++schema.schema_id;
  change.schema = std::move(schema);
  return change;
}

TEST(ManifestSchemaChange, IsAVersionWithTheSameRows) {
  Random random(TestSeed());
  const VersionHolder before = VectorTable(random);
  TableSchema schema = before.version.root.schema;
  schema.columns.push_back(
      {.field_id = ++schema.last_field_id, .field = arrow::field("new", arrow::date32())});
  const VersionHolder after = Applied(before, SchemaChangeOf(schema), random);
  const ManifestRoot& root = after.version.root;
  EXPECT_EQ(root.version, before.version.root.version + 1);
  EXPECT_EQ(root.schema.schema_id, 2);
  EXPECT_NE(root.schema.Find("new"), nullptr);
  EXPECT_NE(root.schema_hash, before.version.root.schema_hash);
  EXPECT_EQ(root.parts, before.version.root.parts);
  EXPECT_EQ(root.points, before.version.root.points);
  EXPECT_EQ(root.totals, before.version.root.totals);
  EXPECT_EQ(root.versions.front().operation, "schema");
  EXPECT_EQ(root.versions.front().rows_added, 0);
  EXPECT_THAT(root.removed, IsEmpty());
  // Only the root is new.
  EXPECT_THAT(after.version.objects, SizeIs(1));
}

TEST(ManifestSchemaChange, MustFollowTheBaseOne) {
  Random random(TestSeed());
  const VersionHolder before = VectorTable(random);
  for (const int32_t schema_id : {-1, 0, 1}) {
    TableSchema schema = before.version.root.schema;
    schema.schema_id = schema_id;
    ManifestChange change;
    change.schema = schema;
    EXPECT_THAT(Apply(before.base(), change, RandomStamp(random)),
                IsError(ErrorKind::kInvalidArgument));
  }
}

TEST(ManifestSchemaChange, ADroppedVectorColumnTakesItsPointsWithIt) {
  Random random(TestSeed());
  const VersionHolder before = VectorTable(random);
  ASSERT_THAT(before.version.root.points, SizeIs(2));
  TableSchema schema = before.version.root.schema;
  schema.columns.pop_back();
  schema.dropped_field_ids = {kVectorId};
  const VersionHolder after = Applied(before, SchemaChangeOf(schema), random);
  EXPECT_THAT(after.version.root.points, IsEmpty());
  EXPECT_THAT(after.version.root.removed, SizeIs(2));
  // An append that was under way brings some along.
  ManifestChange append = AppendOf({RandomSuperfile(random)});
  append.points = {RandomPoints(random, kVectorId)};
  const VersionHolder later = Applied(after, append, random);
  EXPECT_THAT(later.version.root.points, IsEmpty());
  append = AppendOf({RandomSuperfile(random)});
  append.points = {RandomPoints(random, 1)};
  EXPECT_THAT(Apply(after.base(), append, RandomStamp(random)),
              IsError(ErrorKind::kInvalidArgument));
}

TEST(ManifestSchemaChange, VerifyNoticesPointsThatAreGone) {
  Random random(TestSeed());
  const VersionHolder before = VectorTable(random);
  auto next = Apply(before.base(), SchemaChangeOf(before.version.root.schema), RandomStamp(random));
  ASSERT_THAT(next, IsOk());
  next->root.points.pop_back();
  next->points.pop_back();
  const BaseVersion base = before.base();
  EXPECT_THAT(Verify(&base, *next, {}), IsError(ErrorKind::kInternal));
}

ColumnStats StatsOf(const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
  const auto builder = ColumnStatsBuilder::Make(1, *type);
  EXPECT_THAT(builder->Add(*arrow::json::ArrayFromJSONString(type, json).ValueOrDie()), IsOk());
  return builder->Finish();
}

TEST(DeclaredStats, AreInTheEncodingOfTheTypeNow) {
  struct Case {
    std::shared_ptr<arrow::DataType> then;
    std::shared_ptr<arrow::DataType> now;
    std::string json;
    bool keeps_bounds;
  };

  const std::vector<Case> cases = {
      {arrow::int8(), arrow::int32(), "[-3, 5]", true},
      {arrow::uint8(), arrow::int16(), "[3, 255]", true},
      {arrow::uint16(), arrow::uint32(), "[3, 65535]", true},
      {arrow::int32(), arrow::int64(), "[-3, 5]", false},
      {arrow::uint32(), arrow::int64(), "[3, 4294967295]", false},
      {arrow::int32(), arrow::float64(), "[-3, 5]", false},
      {arrow::float16(), arrow::float32(), "[-3, 5]", false},
      {arrow::float32(), arrow::float64(), "[-3, 5]", false},
      {arrow::decimal128(5, 2), arrow::decimal128(6, 2), R"(["-3.00", "5.00"])", true},
      {arrow::decimal128(5, 2), arrow::decimal128(20, 2), R"(["-3.00", "5.00"])", false},
      {arrow::utf8(), arrow::large_utf8(), R"(["a", "bcdefghi"])", true},
      {arrow::large_binary(), arrow::binary(), R"(["a", "bcdefghi"])", true},
      {arrow::timestamp(arrow::TimeUnit::MILLI), arrow::timestamp(arrow::TimeUnit::MILLI), "[1, 2]",
       true},
      {arrow::boolean(), arrow::boolean(), "[false, true]", true},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.then->ToString() + " to " + each.now->ToString());
    SuperfileEntry entry;
    entry.columns.push_back(StatsOf(each.then, each.json));
    ASSERT_TRUE(entry.columns.front().has_bounds);
    const TableColumn column{.field_id = 1, .field = arrow::field("c", each.now)};
    const std::optional<ColumnStats> stats = DeclaredStats(entry, column);
    ASSERT_TRUE(stats.has_value());
    ASSERT_EQ(stats->has_bounds, each.keeps_bounds);
    // What is kept is what values of the new type would have given.
    ColumnStats expected = StatsOf(each.now, each.json);
    if (!each.keeps_bounds) {
      expected = ColumnStats();
      expected.field_id = 1;
    }
    EXPECT_EQ(*stats, expected);
    const TableColumn other{.field_id = 2, .field = arrow::field("d", each.now)};
    EXPECT_FALSE(DeclaredStats(entry, other).has_value());
  }
}

}  // namespace
}  // namespace infino
