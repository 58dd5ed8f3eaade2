#include "infino/manifest/schema_codec.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/json.h"
#include "infino/error.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"
#include "unit/manifest/sample_manifest.h"

namespace infino {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

/// A schema with a past: columns 3 and the one that an append added were dropped.
TableSchema ChangedSchema() {
  TableSchema schema = SampleSchema();
  schema.schema_id = 9;
  schema.last_field_id = 4;
  schema.columns_max = 12;
  schema.dropped_field_ids = {3, kNamedFieldIdMin + 5};
  schema.columns.push_back(
      {.field_id = kNamedFieldIdMin, .field = arrow::field("new", arrow::utf8())});
  schema.columns.push_back({.field_id = 4, .field = arrow::field("more", arrow::utf8())});
  return schema;
}

/// What a reader gets of a document: numbers have lost what type they had.
arrow::Result<TableSchema> Read(const json& document) {
  ARROW_ASSIGN_OR_RAISE(const json read, ParseJson(FormatJson(document), "root"));
  return SchemaFromJson(read, "root");
}

TEST(ChangedSchemaCodec, KeepsWhatBecameOfTheSchema) {
  INFINO_ASSERT_OK_AND_ASSIGN(const json document, SchemaToJson(ChangedSchema()));
  INFINO_ASSERT_OK_AND_ASSIGN(const TableSchema schema, Read(document));
  EXPECT_EQ(schema.schema_id, 9);
  EXPECT_EQ(schema.last_field_id, 4);
  EXPECT_EQ(schema.columns_max, 12);
  EXPECT_THAT(schema.dropped_field_ids, ElementsAre(3, kNamedFieldIdMin + 5));
  ASSERT_EQ(schema.columns.size(), 4U);
  EXPECT_EQ(schema.columns[2].field_id, kNamedFieldIdMin);
  EXPECT_EQ(schema.columns[3].field_id, 4);
  INFINO_ASSERT_OK_AND_ASSIGN(const json again, SchemaToJson(schema));
  EXPECT_EQ(again, document);
}

TEST(ChangedSchemaCodec, WhatDoesNotFitTogetherIsCorrupt) {
  using Damage = std::function<void(json&)>;
  const std::vector<std::pair<std::string, Damage>> damages = {
      {"no dropped ids", [](json& schema) { schema.erase("dropped"); }},
      {"dropped ids that are none", [](json& schema) { schema["dropped"] = "3"; }},
      {"a dropped id that is none", [](json& schema) { schema["dropped"][0] = "3"; }},
      {"a dropped id of a row id", [](json& schema) { schema["dropped"][0] = 0; }},
      {"a dropped id never given", [](json& schema) { schema["dropped"][0] = 5; }},
      {"a dropped id too large", [](json& schema) { schema["dropped"][1] = 1LL << 40; }},
      {"a dropped id twice", [](json& schema) { schema["dropped"] = {3, 3}; }},
      {"dropped ids out of order",
       [](json& schema) { schema["dropped"] = {kNamedFieldIdMin + 5, 3}; }},
      {"a column that was dropped", [](json& schema) { schema["dropped"] = {2}; }},
      {"a column never given", [](json& schema) { schema["columns"][3]["field_id"] = 5; }},
      {"a column twice", [](json& schema) { schema["columns"][3]["field_id"] = 1; }},
      {"a named id as the last counted",
       [](json& schema) { schema["last_field_id"] = kNamedFieldIdMin; }},
      {"no columns allowed", [](json& schema) { schema["columns_max"] = 0; }},
      {"no limit of columns", [](json& schema) { schema.erase("columns_max"); }},
  };
  for (const auto& [what, damage] : damages) {
    INFINO_ASSERT_OK_AND_ASSIGN(json document, SchemaToJson(ChangedSchema()));
    damage(document);
    EXPECT_THAT(Read(document), IsError(ErrorKind::kCorrupt)) << what;
  }
}

}  // namespace
}  // namespace infino
