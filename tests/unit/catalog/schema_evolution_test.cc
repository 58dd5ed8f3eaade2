#include "infino/catalog/schema_evolution.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/catalog/schema_document.h"
#include "infino/catalog/type_document.h"
#include "infino/common/json.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"

namespace infino {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Of the document that a caller has in mind.
constexpr const char* kDeclared = R"({"fields": [
    {"name": "n", "type": "i32"},
    {"name": "s", "type": "large_utf8", "nullable": false,
     "index": {"kind": "fts", "positions": true}},
    {"name": "v", "type": "vector", "dim": 16, "index": {"kind": "vector", "metric": "l2"}}]})";

TableSchema Declared() {
  Random random(1);
  const auto patch = ParseSchemaPatch(kDeclared);
  return SchemaFromPatch(*patch, random).ValueOrDie();
}

arrow::Result<std::optional<TableSchema>> Patched(const TableSchema& schema,
                                                  const std::string& patch,
                                                  bool has_superfiles = true) {
  ARROW_ASSIGN_OR_RAISE(const SchemaPatch parsed, ParseSchemaPatch(patch));
  return ApplyPatch(schema, parsed, has_superfiles);
}

/// The same for one field.
arrow::Result<std::optional<TableSchema>> PatchedField(const std::string& field,
                                                       bool has_superfiles = true) {
  return Patched(Declared(), R"({"fields": [)" + field + "]}", has_superfiles);
}

MATCHER(IsUnchanged, "changes nothing") {
  static_cast<void>(result_listener);
  return !arg.has_value();
}

std::vector<std::string> Names(const TableSchema& schema) {
  std::vector<std::string> names;
  for (const TableColumn& column : schema.columns) names.push_back(column.field->name());
  return names;
}

TEST(SchemaEvolution, TheDocumentSaysWhatWasDeclared) {
  const json document = SchemaToDocument(Declared());
  EXPECT_EQ(document["schema_id"], 1);
  EXPECT_EQ(document["last_field_id"], 3);
  EXPECT_EQ(document["max_depth"], 20);
  EXPECT_EQ(document["max_fields"], 10'000);
  EXPECT_EQ(document["tombstoned"], json::array());
  EXPECT_EQ(document["fields"][0],
            json::parse(R"({"id": 1, "name": "n", "type": "i32", "nullable": true})"));
  EXPECT_EQ(document["fields"][1],
            json::parse(R"({"id": 2, "name": "s", "type": "large_utf8", "nullable": false,
                           "index": {"kind": "fts", "analyzer": "standard", "k1": 1.2, "b": 0.75,
                                     "positions": true, "stored": true}})"));
  json vectors = document["fields"][2];
  EXPECT_TRUE(vectors["index"]["rot_seed"].is_number_unsigned());
  vectors["index"].erase("rot_seed");
  EXPECT_EQ(vectors,
            json::parse(R"({"id": 3, "name": "v", "type": "vector", "dim": 16, "nullable": true,
                           "index": {"kind": "vector", "metric": "l2sq",
                                     "rerank_codec": "sq8_residual", "stored": false}})"));
}

TEST(SchemaEvolution, ADocumentIsAPatchThatChangesNothing) {
  const TableSchema schema = Declared();
  EXPECT_THAT(Patched(schema, FormatJson(SchemaToDocument(schema))), HasValue(IsUnchanged()));
  EXPECT_THAT(Patched(schema, "{}"), HasValue(IsUnchanged()));
  EXPECT_THAT(PatchedField(R"({"name": "n", "type": "int32", "nullable": true})"),
              HasValue(IsUnchanged()));
  EXPECT_THAT(PatchedField(R"({"id": 2, "index": {"kind": "fts", "positions": true, "b": 0.75}})"),
              HasValue(IsUnchanged()));
}

TEST(SchemaEvolution, AddsRenamesWidensAndDrops) {
  const auto changed = Patched(Declared(), R"({"max_fields": 7, "fields": [
      {"id": 1, "name": "m", "type": "i64"},
      {"name": "v", "dropped": true},
      {"name": "s", "nullable": true},
      {"name": "t", "type": "string", "index": {"kind": "fts"}},
      {"name": "v", "type": "date"}]})");
  ASSERT_THAT(changed, IsOk());
  ASSERT_TRUE(changed->has_value());
  const TableSchema& schema = **changed;
  EXPECT_THAT(Names(schema), ElementsAre("m", "s", "t", "v"));
  EXPECT_EQ(schema.schema_id, 2);
  EXPECT_EQ(schema.last_field_id, 5);
  EXPECT_EQ(schema.columns_max, 7);
  EXPECT_THAT(schema.dropped_field_ids, ElementsAre(3));
  EXPECT_EQ(schema.columns[0].field_id, 1);
  EXPECT_TRUE(schema.columns[0].field->type()->Equals(arrow::int64()));
  EXPECT_TRUE(schema.columns[1].field->nullable());
  EXPECT_TRUE(schema.columns[1].text->positions);
  EXPECT_EQ(schema.columns[2].field_id, 4);
  EXPECT_TRUE(schema.columns[2].text.has_value());
  EXPECT_EQ(schema.columns[3].field_id, 5);
  EXPECT_FALSE(schema.columns[3].vector.has_value());
}

TEST(SchemaEvolution, NamesMaySwap) {
  const auto changed =
      Patched(Declared(), R"({"fields": [{"id": 1, "name": "s"}, {"id": 2, "name": "n"}]})");
  ASSERT_THAT(changed, IsOk());
  ASSERT_TRUE(changed->has_value());
  EXPECT_THAT(Names(**changed), ElementsAre("s", "n", "v"));
  EXPECT_TRUE((*changed)->columns[1].text.has_value());
}

TEST(SchemaEvolution, AnEmptyTableTakesColumnsThatAreNotNull) {
  const std::string added = R"({"name": "x", "type": "i8", "nullable": false})";
  EXPECT_THAT(PatchedField(added, /*has_superfiles=*/false), IsOk());
  EXPECT_THAT(PatchedField(added), IsError(ErrorKind::kInvalidArgument));
  const std::string tightened = R"({"name": "n", "nullable": false})";
  EXPECT_THAT(PatchedField(tightened, /*has_superfiles=*/false), IsOk());
  EXPECT_THAT(PatchedField(tightened), IsError(ErrorKind::kInvalidArgument));
}

TEST(SchemaEvolution, RefusesWhatHasNoMeaning) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"[]", "object"},
      {"{", "JSON"},
      {R"({"fields": {}})", "'fields' must be a list"},
      {R"({"field": []})", "unknown key 'field'"},
      {R"({"max_fields": 0})", "max_fields"},
      {R"({"max_depth": 21})", "max_depth"},
      {R"({"tombstoned": [1]})", "tombstoned"},
      {R"({"fields": [{"name": "n", "drop": true}]})", "unknown key 'drop'"},
      {R"({"fields": [{"name": "n", "rename": "m"}]})", "unknown key 'rename'"},
      {R"({"fields": [{"type": "i8"}]})", "name or an id"},
      {R"({"fields": [{"name": "x"}]})", "give its type"},
      {R"({"fields": [{"name": "x", "type": "int"}]})", "unknown type 'int'"},
      {R"({"fields": [{"name": "x", "type": "i8", "dim": 3}]})", "'dim' does not belong"},
      {R"({"fields": [{"name": "x", "dropped": true}]})", "no such column"},
      {R"({"fields": [{"id": 9, "name": "n"}]})", "no column with id 9"},
      {R"({"fields": [{"id": 1, "name": "s"}]})", "duplicate"},
      {R"({"fields": [{"id": 1, "name": "_id"}]})", "reserved"},
      {R"({"fields": [{"id": 1, "name": "x", "dropped": true}]})", "not both"},
      {R"({"fields": [{"name": "n", "type": "i16"}]})", "can't become int16"},
      {R"({"fields": [{"name": "n", "type": "large_utf8"}]})", "can't become large_string"},
      {R"({"fields": [{"name": "n"}, {"id": 1}]})", "twice"},
      {R"({"fields": [{"name": "n", "index": {"kind": "fts"}}]})", "index of a column"},
      {R"({"fields": [{"name": "s", "index": null}]})", "index of a column"},
      {R"({"fields": [{"name": "s", "index": {"kind": "fts"}}]})", "index of a column"},
      {R"({"fields": [{"name": "x", "type": "i8", "index": {"kind": "fts"}}]})",
       "text index needs"},
      {R"({"fields": [{"name": "x", "type": "vector", "dim": 16, "index": {"kind": "vector"}}]})",
       "with its table"},
      {R"({"max_fields": 3, "fields": [{"name": "x", "type": "i8"}]})", "max_fields=3"},
      {R"({"fields": [{"name": "x", "type": "decimal", "precision": 5}]})", "'scale'"},
      {R"({"fields": [{"name": "x", "type": "list"}]})", "'item'"},
      {R"({"fields": [{"name": 5}]})", "'name' must be a string"},
      {R"({"fields": [{"name": "n", "nullable": 1}]})", "'nullable' must be"},
  };
  for (const auto& [patch, reason] : refused) {
    const auto result = Patched(Declared(), patch);
    EXPECT_THAT(result, IsError(ErrorKind::kInvalidArgument)) << patch;
    EXPECT_THAT(result.status().message(), HasSubstr(reason)) << patch;
  }
}

TEST(SchemaEvolution, RefusesDepthsWithoutEnd) {
  constexpr int kDepth = 50'000;
  std::string patch = R"({"fields": [{"name": "x")";
  for (int i = 0; i < kDepth; ++i) patch += R"(, "type": "list", "item": {"name": "i")";
  patch += R"(, "type": "i8")" + std::string(kDepth, '}') + "}]}";
  EXPECT_THAT(Patched(Declared(), patch), IsError(ErrorKind::kInvalidArgument));
}

TEST(SchemaEvolution, EveryTypeIsReadAsItWasWritten) {
  using arrow::TimeUnit;
  const std::vector<std::shared_ptr<arrow::DataType>> types = {
      arrow::int8(),
      arrow::uint64(),
      arrow::float16(),
      arrow::float64(),
      arrow::boolean(),
      arrow::utf8(),
      arrow::large_utf8(),
      arrow::utf8_view(),
      arrow::binary(),
      arrow::large_binary(),
      arrow::binary_view(),
      arrow::fixed_size_binary(16),
      arrow::date32(),
      arrow::date64(),
      arrow::time32(TimeUnit::SECOND),
      arrow::time64(TimeUnit::NANO),
      arrow::duration(TimeUnit::MICRO),
      arrow::timestamp(TimeUnit::SECOND),
      arrow::timestamp(TimeUnit::NANO, "Europe/Berlin"),
      arrow::decimal32(5, 2),
      arrow::decimal64(15, -3),
      arrow::decimal128(38, 10),
      arrow::decimal256(60, 0),
      arrow::null(),
      arrow::list(arrow::field("element", arrow::utf8(), /*nullable=*/false)),
      arrow::large_list(arrow::list(arrow::int8())),
      arrow::list_view(arrow::int8()),
      arrow::large_list_view(arrow::int8()),
      arrow::fixed_size_list(arrow::float32(), 17),
      arrow::fixed_size_list(arrow::field("x", arrow::float32(), /*nullable=*/false), 3),
      arrow::fixed_size_list(arrow::int16(), 2),
      arrow::struct_({arrow::field("a", arrow::int8(), /*nullable=*/false),
                      arrow::field("", arrow::timestamp(TimeUnit::MILLI, "UTC"))}),
      arrow::map(arrow::utf8(), arrow::list(arrow::date32())),
      arrow::map(arrow::utf8(), arrow::int8(), /*keys_sorted=*/true),
      arrow::dictionary(arrow::int16(), arrow::utf8(), /*ordered=*/true),
  };
  for (const auto& type : types) {
    SCOPED_TRACE(type->ToString());
    json field = json::object();
    TypeToDocument(*type, &field);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto read, TypeFromDocument(field, "field"));
    EXPECT_TRUE(read->Equals(*type)) << read->ToString() << " from " << field;
    json again = json::object();
    TypeToDocument(*read, &again);
    EXPECT_EQ(again, field);
  }
}

TEST(SchemaEvolution, ATableIsMadeOfAPatch) {
  Random random(1);
  for (const char* patch :
       {R"({"fields": [{"name": "x", "dropped": true}]})",
        R"({"fields": [{"id": 1, "type": "i8"}]})", R"({"fields": [{"name": "x"}]})",
        R"({"fields": [{"name": "x", "type": "i8"}, {"name": "x", "type": "i8"}]})",
        R"({"max_fields": 1, "fields": [{"name": "x", "type": "i8"},
                                                            {"name": "y", "type": "i8"}]})"}) {
    INFINO_ASSERT_OK_AND_ASSIGN(const SchemaPatch parsed, ParseSchemaPatch(patch));
    EXPECT_THAT(SchemaFromPatch(parsed, random), IsError(ErrorKind::kInvalidArgument)) << patch;
  }
  json document = SchemaToDocument(Declared());
  INFINO_ASSERT_OK_AND_ASSIGN(const SchemaPatch copy, ParseSchemaPatch(FormatJson(document)));
  INFINO_ASSERT_OK_AND_ASSIGN(const TableSchema copied, SchemaFromPatch(copy, random));
  EXPECT_EQ(SchemaToDocument(copied), document);
}

}  // namespace
}  // namespace infino
