#include "infino/catalog/schema_document.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/catalog/document_fields.h"
#include "infino/catalog/type_document.h"
#include "infino/common/json.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index_spec.h"
#include "infino/query/text_plan.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 6> kPatchKeys = {
    "fields", "last_field_id", "max_depth", "max_fields", "schema_id", "tombstoned"};
constexpr std::array<std::string_view, 6> kFieldKeys = {"id",       "name",  "type",
                                                        "nullable", "index", "dropped"};
constexpr std::array<std::string_view, 8> kTextKeys = {
    "kind", "analyzer", "k1", "b", "positions", "stored", "stopwords", "stemmer"};
constexpr std::array<std::string_view, 5> kVectorKeys = {"kind", "metric", "rerank_codec",
                                                         "rot_seed", "stored"};

json TextIndexToDocument(const TextIndexOptions& text) {
  const Bm25Parameters standard;
  json out = {{"kind", "fts"},
              {"analyzer", text.analyzer},
              {"k1", text.k1.value_or(standard.k1)},
              {"b", text.b.value_or(standard.b)},
              {"positions", text.positions},
              {"stored", text.stored}};
  if (text.stopwords) out["stopwords"] = *text.stopwords;
  if (text.stemmer) out["stemmer"] = *text.stemmer;
  return out;
}

json VectorIndexToDocument(const TableVectorIndex& index) {
  return {{"kind", "vector"},
          {"metric", vector::NameOf(index.column.metric)},
          {"rerank_codec", vector::NameOf(index.column.tier)},
          {"rot_seed", index.column.rotation_seed},
          {"stored", index.stored}};
}

std::string Listed(std::span<const std::string_view> keys) {
  std::string list;
  for (const std::string_view key : keys) {
    if (!list.empty()) list += ", ";
    list += key;
  }
  return list;
}

arrow::Status CheckKeys(const json& object, std::span<const std::string_view> keys,
                        std::span<const std::string_view> more, const std::string& path) {
  for (const auto& [key, value] : object.items()) {
    const bool is_known =
        std::ranges::find(keys, key) != keys.end() || std::ranges::find(more, key) != more.end();
    if (!is_known) {
      return BadDocument(path, "unknown key '" + key + "'; known are " + Listed(keys));
    }
  }
  return arrow::Status::OK();
}

arrow::Result<TextIndexOptions> TextIndexFromDocument(const json& index, const std::string& path) {
  ARROW_RETURN_NOT_OK(CheckKeys(index, kTextKeys, {}, path));
  TextIndexOptions text;
  ARROW_ASSIGN_OR_RAISE(const std::optional<std::string> analyzer, TextIn(index, "analyzer", path));
  text.analyzer = analyzer.value_or(text.analyzer);
  ARROW_ASSIGN_OR_RAISE(const std::optional<bool> stored, BoolIn(index, "stored", path));
  text.stored = stored.value_or(text.stored);
  ARROW_ASSIGN_OR_RAISE(const std::optional<bool> positions, BoolIn(index, "positions", path));
  text.positions = positions.value_or(text.positions);
  ARROW_ASSIGN_OR_RAISE(text.k1, NumberIn(index, "k1", path));
  ARROW_ASSIGN_OR_RAISE(text.b, NumberIn(index, "b", path));
  ARROW_ASSIGN_OR_RAISE(text.stopwords, TextIn(index, "stopwords", path));
  ARROW_ASSIGN_OR_RAISE(text.stemmer, TextIn(index, "stemmer", path));
  return text;
}

arrow::Result<VectorIndexPatch> VectorIndexFromDocument(const json& index,
                                                        const std::string& path) {
  ARROW_RETURN_NOT_OK(CheckKeys(index, kVectorKeys, {}, path));
  VectorIndexPatch vectors;
  ARROW_ASSIGN_OR_RAISE(const std::optional<std::string> metric, TextIn(index, "metric", path));
  vectors.options.metric = metric.value_or(vectors.options.metric);
  ARROW_ASSIGN_OR_RAISE(const std::optional<std::string> codec,
                        TextIn(index, "rerank_codec", path));
  // Other programs' names for two bytes a dimension.
  const bool is_usual = codec == "sq16" || codec == "sq16_adaptive";
  if (codec && !is_usual) vectors.options.rerank = *codec;
  ARROW_ASSIGN_OR_RAISE(const std::optional<bool> stored, BoolIn(index, "stored", path));
  vectors.options.stored = stored.value_or(vectors.options.stored);
  if (HasKey(index, "rot_seed")) {
    const json& seed = index.at("rot_seed");
    if (!seed.is_number_unsigned()) {
      return BadDocument(path, "'rot_seed' must be a whole number that is not negative");
    }
    vectors.rotation_seed = seed.get<uint64_t>();
  }
  return vectors;
}

arrow::Status ReadIndex(const json& field, FieldPatch* out) {
  if (!field.contains("index")) return arrow::Status::OK();
  const json& index = field.at("index");
  const std::string path = out->path + ".index";
  if (index.is_null()) {
    out->index = std::monostate();
    return arrow::Status::OK();
  }
  if (!index.is_object()) return BadDocument(path, "an index must be an object or null");
  ARROW_ASSIGN_OR_RAISE(const std::optional<std::string> kind, TextIn(index, "kind", path));
  if (kind == "fts") {
    ARROW_ASSIGN_OR_RAISE(out->index, TextIndexFromDocument(index, path));
  } else if (kind == "vector") {
    ARROW_ASSIGN_OR_RAISE(out->index, VectorIndexFromDocument(index, path));
  } else {
    return BadDocument(path, "'kind' must be 'fts' or 'vector'");
  }
  return arrow::Status::OK();
}

arrow::Result<FieldPatch> ReadField(const json& field, std::string path) {
  FieldPatch out{.path = std::move(path)};
  if (!field.is_object()) return BadDocument(out.path, "a field must be an object");
  ARROW_RETURN_NOT_OK(CheckKeys(field, kFieldKeys, TypeParameters(), out.path));
  ARROW_ASSIGN_OR_RAISE(out.id, CountIn(field, "id", 1, out.path));
  ARROW_ASSIGN_OR_RAISE(out.name, TextIn(field, "name", out.path));
  if (!out.id && !out.name) return BadDocument(out.path, "a field needs a name or an id");
  if (out.name) out.path += " ('" + *out.name + "')";
  ARROW_ASSIGN_OR_RAISE(out.nullable, BoolIn(field, "nullable", out.path));
  ARROW_ASSIGN_OR_RAISE(const std::optional<bool> dropped, BoolIn(field, "dropped", out.path));
  out.dropped = dropped.value_or(false);
  const bool has_parameters = std::ranges::any_of(
      TypeParameters(), [&](std::string_view key) { return HasKey(field, key); });
  if (HasKey(field, "type") || has_parameters) {
    ARROW_ASSIGN_OR_RAISE(out.type, TypeFromDocument(field, out.path));
  }
  ARROW_RETURN_NOT_OK(ReadIndex(field, &out));
  return out;
}

/// Whether values are nested deeper than `depth`.
bool IsDeeperThan(int depth, const json& value) {
  if (!value.is_structured()) return false;
  return depth == 0 || std::ranges::any_of(value, [&](const json& inner) {
           return IsDeeperThan(depth - 1, inner);
         });
}

arrow::Status ReadLimits(const json& document, SchemaPatch* patch) {
  const std::string path = "patch";
  ARROW_ASSIGN_OR_RAISE(patch->fields_max, CountIn(document, "max_fields", 1, path));
  ARROW_ASSIGN_OR_RAISE(const std::optional<int32_t> depth,
                        CountIn(document, "max_depth", 1, path));
  if (depth.value_or(kSchemaDepthMax) != kSchemaDepthMax) {
    return BadDocument(
        path, "'max_depth' is " + std::to_string(kSchemaDepthMax) + " and can't be changed");
  }
  ARROW_RETURN_NOT_OK(CountIn(document, "schema_id", 0, path).status());
  ARROW_RETURN_NOT_OK(CountIn(document, "last_field_id", 0, path).status());
  if (!HasKey(document, "tombstoned")) return arrow::Status::OK();
  const json& dropped = document.at("tombstoned");
  if (!dropped.is_array()) return BadDocument(path, "'tombstoned' must be a list");
  for (const json& id : dropped) {
    const json entry = {{"id", id}};
    ARROW_ASSIGN_OR_RAISE(const std::optional<int32_t> field_id,
                          CountIn(entry, "id", 1, path + ".tombstoned"));
    if (!field_id) return BadDocument(path, "'tombstoned' must be a list of field ids");
    patch->dropped_field_ids.push_back(*field_id);
  }
  return arrow::Status::OK();
}

}  // namespace

json SchemaToDocument(const TableSchema& schema) {
  json fields = json::array();
  for (const TableColumn& column : schema.columns) {
    json field = {{"id", column.field_id},
                  {"name", column.field->name()},
                  {"nullable", column.field->nullable()}};
    TypeToDocument(*column.field->type(), &field);
    if (column.text) field["index"] = TextIndexToDocument(*column.text);
    if (column.vector) field["index"] = VectorIndexToDocument(*column.vector);
    fields.push_back(std::move(field));
  }
  return {{"fields", std::move(fields)},   {"last_field_id", schema.last_field_id},
          {"max_depth", kSchemaDepthMax},  {"max_fields", schema.columns_max},
          {"schema_id", schema.schema_id}, {"tombstoned", schema.dropped_field_ids}};
}

arrow::Result<SchemaPatch> ParseSchemaPatch(std::string_view text) {
  arrow::Result<json> parsed = ParseJson(text, "patch");
  if (!parsed.ok()) return BadDocument("patch", "it is not JSON: " + parsed.status().message());
  const json& document = *parsed;
  if (!document.is_object()) return BadDocument("patch", "it must be an object");
  // A level of a type is at most two of the document.
  if (IsDeeperThan(3 * kSchemaDepthMax, document)) {
    return BadDocument(
        "patch", "types are nested deeper than " + std::to_string(kSchemaDepthMax) + " levels");
  }
  ARROW_RETURN_NOT_OK(CheckKeys(document, kPatchKeys, {}, "patch"));
  SchemaPatch patch;
  ARROW_RETURN_NOT_OK(ReadLimits(document, &patch));
  if (!document.contains("fields")) return patch;
  const json& fields = document.at("fields");
  if (!fields.is_array()) return BadDocument("patch", "'fields' must be a list");
  for (size_t i = 0; i < fields.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(FieldPatch field,
                          ReadField(fields[i], "fields[" + std::to_string(i) + "]"));
    patch.fields.push_back(std::move(field));
  }
  return patch;
}

}  // namespace infino
