// Vector columns in the root: their indexes in the schema, and their reference points.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/json.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/vector/vector_space.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/manifest/object_names.h"
#include "infino/manifest/points_codec.h"
#include "infino/manifest/root_codec.h"
#include "infino/manifest/schema_codec.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/manifest/sample_manifest.h"

namespace infino {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

/// Another vector column, field id 4.
TableSchema TwoVectorColumns() {
  TableSchema schema = VectorSampleSchema();
  TableColumn column = schema.columns.back();
  column.field_id = ++schema.last_field_id;
  column.field = column.field->WithName("w");
  column.vector->column.metric = vector::VectorMetric::kCosine;
  column.vector->column.tier = vector::RerankTier::kNone;
  column.vector->column.rotation_seed = 1;
  column.vector->stored = false;
  schema.columns.push_back(std::move(column));
  return schema;
}

TEST(SchemaCodec, KeepsVectorIndexes) {
  const TableSchema schema = TwoVectorColumns();
  const auto encoded = SchemaToJson(schema);
  ASSERT_THAT(encoded, IsOk());
  EXPECT_EQ((*encoded)["columns"][2]["vector"], json({{"metric", "l2sq"},
                                                      {"rerank", "fp16"},
                                                      {"rotation_seed", "fedcba9876543210"},
                                                      {"stored", true}}));
  const auto decoded = SchemaFromJson(*encoded, "schema");
  ASSERT_THAT(decoded, IsOk());
  ASSERT_EQ(decoded->columns.size(), schema.columns.size());
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    EXPECT_EQ(decoded->columns[i].vector, schema.columns[i].vector);
    EXPECT_EQ(decoded->columns[i].text, schema.columns[i].text);
  }
}

TEST(SchemaCodec, AVectorIndexThatDoesNotFitIsCorrupt) {
  const auto decode = [](const auto& change) {
    json value = SchemaToJson(VectorSampleSchema()).ValueOrDie();
    change(value["columns"][2]["vector"], value);
    return SchemaFromJson(value, "schema");
  };
  EXPECT_THAT(decode([](json&, json&) {}), IsOk());
  const std::vector<std::pair<std::string, json>> changes = {{"metric", "l2"},
                                                             {"metric", "L2SQ"},
                                                             {"metric", 2},
                                                             {"rerank", "fp64"},
                                                             {"rerank", nullptr},
                                                             {"rotation_seed", 7},
                                                             {"rotation_seed", "fedcba987654321"},
                                                             {"rotation_seed", "fedcba987654321G"},
                                                             {"rotation_seed", "FEDCBA9876543210"},
                                                             {"stored", 1}};
  for (const auto& [key, changed] : changes) {
    EXPECT_THAT(decode([&](json& index, json&) { index[key] = changed; }),
                IsError(ErrorKind::kCorrupt))
        << key << ": " << changed.dump();
    EXPECT_THAT(decode([&](json& index, json&) { index.erase(key); }),
                IsError(ErrorKind::kCorrupt));
  }
  EXPECT_THAT(decode([](json& index, json&) { index = "l2sq"; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& index, json& all) { all["columns"][1]["vector"] = index; }),
              IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(
      decode([](json&, json& all) { all["columns"][2]["text"] = all["columns"][0]["text"]; }),
      IsError(ErrorKind::kCorrupt));
}

std::vector<ContentHash> ListsOf(const NextVersion& version) {
  std::vector<ContentHash> ids;
  for (const ReferencePoints& points : version.points) ids.push_back(points.list->id());
  return ids;
}

class PointsOfAVersion : public testing::Test {
 protected:
  /// The version after `base` with an append that brings `points`.
  arrow::Result<NextVersion> Append(const VersionHolder& base,
                                    std::vector<ReferencePoints> points) {
    ManifestChange change = AppendOf({RandomSuperfile(random_)});
    change.points = std::move(points);
    ARROW_ASSIGN_OR_RAISE(NextVersion next, Apply(base.base(), change, RandomStamp(random_)));
    const BaseVersion base_version = base.base();
    ARROW_RETURN_NOT_OK(Verify(&base_version, next, WrittenBy(change)));
    return next;
  }

  [[nodiscard]] static bool IsStaged(const NextVersion& next, const ObjectRef& ref) {
    for (const NamedObject& object : next.objects) {
      if (object.ref == ref) return true;
    }
    return false;
  }

  Random random_{TestSeed()};
  VersionHolder first_{*FirstVersion(TwoVectorColumns(), RandomStamp(random_))};
};

TEST_F(PointsOfAVersion, StandByFieldIdAndThenInTheOrderTheyCame) {
  const ReferencePoints a = RandomPoints(random_, 4);
  const ReferencePoints b = RandomPoints(random_, 3);
  const ReferencePoints c = RandomPoints(random_, 4);
  const ReferencePoints d = RandomPoints(random_, 3);
  INFINO_ASSERT_OK_AND_ASSIGN(NextVersion second, Append(first_, {a}));
  const VersionHolder base{std::move(second)};
  INFINO_ASSERT_OK_AND_ASSIGN(const NextVersion third, Append(base, {b, c, d}));
  EXPECT_THAT(ListsOf(third), ElementsAre(b.list->id(), d.list->id(), a.list->id(), c.list->id()));
  ASSERT_EQ(third.root.points.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    const PointsRef& ref = third.root.points[i];
    EXPECT_EQ(ref.field_id, third.points[i].field_id);
    EXPECT_EQ(ref.object.name, PointsName(ref.object.hash));
    EXPECT_EQ(IsStaged(third, ref.object), i != 2) << i;
  }
  EXPECT_EQ(third.root.points[2], base.version.root.points[0]);
  INFINO_ASSERT_OK_AND_ASSIGN(const ManifestRoot decoded, DecodeRoot(*third.root_bytes, "root"));
  EXPECT_EQ(decoded.points, third.root.points);
  EXPECT_THAT(decoded.removed, testing::Each(testing::Not(testing::HasSubstr("points-"))));
}

TEST_F(PointsOfAVersion, AreNotWrittenTwice) {
  const ReferencePoints known = RandomPoints(random_, 3);
  const ReferencePoints fresh = RandomPoints(random_, 3);
  INFINO_ASSERT_OK_AND_ASSIGN(NextVersion second, Append(first_, {known, known}));
  EXPECT_THAT(ListsOf(second), ElementsAre(known.list->id()));
  const VersionHolder base{std::move(second)};
  INFINO_ASSERT_OK_AND_ASSIGN(const NextVersion third, Append(base, {known, fresh}));
  EXPECT_THAT(ListsOf(third), ElementsAre(known.list->id(), fresh.list->id()));
  EXPECT_EQ(third.root.points[0], base.version.root.points[0]);
}

TEST_F(PointsOfAVersion, OfAColumnAreAtMost256Lists) {
  std::vector<ReferencePoints> lists;
  for (size_t i = 0; i < vector::VectorSpace::kListsMax; ++i) {
    lists.push_back(RandomPoints(random_, 3, 16, 1));
  }
  INFINO_ASSERT_OK_AND_ASSIGN(NextVersion full, Append(first_, lists));
  INFINO_ASSERT_OK(DecodeRoot(*full.root_bytes, "root"));
  const VersionHolder base{std::move(full)};
  EXPECT_THAT(Append(base, {RandomPoints(random_, 3)}), IsError(ErrorKind::kConflict));
  INFINO_EXPECT_OK(Append(base, {lists[17]}));
  INFINO_EXPECT_OK(Append(base, {RandomPoints(random_, 4)}));
}

TEST_F(PointsOfAVersion, AreOfVectorColumns) {
  EXPECT_THAT(Append(first_, {RandomPoints(random_, 1)}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Append(first_, {RandomPoints(random_, 9)}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Append(first_, {RandomPoints(random_, 3, 17)}), IsError(ErrorKind::kInvalidArgument));
}

TEST_F(PointsOfAVersion, StayWhenSuperfilesGo) {
  INFINO_ASSERT_OK_AND_ASSIGN(NextVersion second, Append(first_, {RandomPoints(random_, 3)}));
  const VersionHolder base{std::move(second)};
  ManifestChange change{
      .operation = "optimize", .added = {}, .removed = {}, .tombstones = {}, .points = {}};
  change.removed = SuperfilesOf(base.version);
  INFINO_ASSERT_OK_AND_ASSIGN(const NextVersion third,
                              Apply(base.base(), change, RandomStamp(random_)));
  EXPECT_EQ(third.root.points, base.version.root.points);
  for (const std::string& name : third.root.removed) {
    EXPECT_NE(name, third.root.points[0].object.name);
  }
}

TEST_F(PointsOfAVersion, MustBeStagedAndKeptToBePublished) {
  INFINO_ASSERT_OK_AND_ASSIGN(NextVersion second, Append(first_, {RandomPoints(random_, 3)}));
  const VersionHolder base{std::move(second)};
  const BaseVersion base_version = base.base();
  ManifestChange change = AppendOf({RandomSuperfile(random_)});
  change.points = {RandomPoints(random_, 3)};
  const auto verify = [&](const auto& spoil) {
    NextVersion next = *Apply(base_version, change, RandomStamp(random_));
    spoil(next);
    return Verify(&base_version, next, WrittenBy(change));
  };
  INFINO_EXPECT_OK(verify([](NextVersion&) {}));
  EXPECT_THAT(verify([](NextVersion& next) {
                std::erase_if(next.objects, [&](const NamedObject& object) {
                  return object.ref == next.root.points[1].object;
                });
              }),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(verify([](NextVersion& next) {
                next.root.points.erase(next.root.points.begin());
                next.points.erase(next.points.begin());
              }),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(verify([](NextVersion& next) { next.points.pop_back(); }),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(verify([](NextVersion& next) { next.root.points[1] = next.root.points[0]; }),
              IsError(ErrorKind::kInternal));
}

TEST_F(PointsOfAVersion, ThatDontFitTheSchemaAreCorrupt) {
  INFINO_ASSERT_OK_AND_ASSIGN(const NextVersion second,
                              Append(first_, {RandomPoints(random_, 3), RandomPoints(random_, 3),
                                              RandomPoints(random_, 4)}));
  const auto decode = [&](const auto& change) {
    json document = *ParseJson(std::string_view(*second.root_bytes), "root");
    change(document["points"]);
    return DecodeRoot(*arrow::Buffer::FromString(FormatJson(document)), "root");
  };
  EXPECT_THAT(decode([](json&) {}), IsOk());
  EXPECT_THAT(decode([](json& points) { points = json::array(); }), IsOk());
  EXPECT_THAT(decode([](json& points) { points = nullptr; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& points) { points[0][0] = 1; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& points) { points[0][0] = 0; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& points) { points[0][0] = int64_t{1} << 32 | 3; }),
              IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& points) { points[2][0] = 9; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& points) { points[0][1] = "00"; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& points) { points[0][2] = -1; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& points) { points[0].push_back(1); }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& points) { points[1] = points[0]; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& points) { std::swap(points[0], points[2]); }),
              IsError(ErrorKind::kCorrupt));
}

}  // namespace
}  // namespace infino
