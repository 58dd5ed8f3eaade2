#include "infino/manifest/schema_codec.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/base64.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/json.h"
#include "infino/error.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index_spec.h"
#include "infino/manifest/json_fields.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

using nlohmann::json;

json TextOptionsToJson(const TextIndexOptions& options) {
  json out = {
      {"analyzer", options.analyzer}, {"stored", options.stored}, {"positions", options.positions}};
  if (options.k1) out["k1"] = *options.k1;
  if (options.b) out["b"] = *options.b;
  if (options.stopwords) out["stopwords"] = *options.stopwords;
  if (options.stemmer) out["stemmer"] = *options.stemmer;
  return out;
}

arrow::Result<std::optional<double>> OptionalDouble(const json& parent, std::string_view key,
                                                    std::string_view object) {
  if (!HasKey(parent, key)) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const double value, GetDouble(parent, key, object));
  return value;
}

arrow::Result<std::optional<std::string>> OptionalString(const json& parent, std::string_view key,
                                                         std::string_view object) {
  if (!HasKey(parent, key)) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(std::string value, GetString(parent, key, object));
  return value;
}

arrow::Result<TextIndexOptions> TextOptionsFromJson(const json& value, std::string_view object) {
  TextIndexOptions options;
  ARROW_ASSIGN_OR_RAISE(options.analyzer, GetString(value, "analyzer", object));
  ARROW_ASSIGN_OR_RAISE(options.stored, GetBool(value, "stored", object));
  ARROW_ASSIGN_OR_RAISE(options.positions, GetBool(value, "positions", object));
  ARROW_ASSIGN_OR_RAISE(options.k1, OptionalDouble(value, "k1", object));
  ARROW_ASSIGN_OR_RAISE(options.b, OptionalDouble(value, "b", object));
  ARROW_ASSIGN_OR_RAISE(options.stopwords, OptionalString(value, "stopwords", object));
  ARROW_ASSIGN_OR_RAISE(options.stemmer, OptionalString(value, "stemmer", object));
  if (options.k1.has_value() != options.b.has_value()) {
    return CorruptObject(object, "only one of k1 and b is set");
  }
  return options;
}

/// A seed as 16 hexadecimal digits: not every reader of JSON keeps 64 bits of a number.
std::string SeedToHex(uint64_t seed) {
  std::array<uint8_t, sizeof(seed)> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[bytes.size() - 1 - i] = static_cast<uint8_t>(seed >> (8 * i));
  }
  return FormatHex(bytes);
}

arrow::Result<uint64_t> SeedFromHex(const std::string& hex, std::string_view object) {
  std::array<uint8_t, sizeof(uint64_t)> bytes{};
  if (!ParseHex(hex, bytes).ok()) return CorruptObject(object, "a rotation seed is not a number");
  uint64_t seed = 0;
  for (const uint8_t byte : bytes) seed = seed << 8 | byte;
  return seed;
}

json VectorIndexToJson(const TableVectorIndex& index) {
  return {{"metric", vector::NameOf(index.column.metric)},
          {"rerank", vector::NameOf(index.column.tier)},
          {"rotation_seed", SeedToHex(index.column.rotation_seed)},
          {"stored", index.stored}};
}

arrow::Result<TableVectorIndex> VectorIndexFromJson(const json& value, const arrow::Field& field,
                                                    std::string_view object) {
  TableVectorIndex index;
  const std::optional<uint32_t> dimension = DimensionOf(*field.type());
  if (!dimension || *dimension < vector::kDimensionMin || *dimension > vector::kDimensionMax) {
    return CorruptObject(object, "a vector index over a column of another type");
  }
  index.column.dimension = *dimension;
  ARROW_ASSIGN_OR_RAISE(const std::string metric_name, GetString(value, "metric", object));
  const std::optional<vector::VectorMetric> metric = vector::MetricOfName(metric_name);
  if (!metric || vector::NameOf(*metric) != metric_name) {
    return CorruptObject(object, "unknown metric of a vector index");
  }
  index.column.metric = *metric;
  ARROW_ASSIGN_OR_RAISE(const std::string tier_name, GetString(value, "rerank", object));
  const std::optional<vector::RerankTier> tier = vector::TierOfName(tier_name);
  if (!tier || vector::NameOf(*tier) != tier_name) {
    return CorruptObject(object, "unknown rerank tier of a vector index");
  }
  index.column.tier = *tier;
  ARROW_ASSIGN_OR_RAISE(const std::string seed, GetString(value, "rotation_seed", object));
  ARROW_ASSIGN_OR_RAISE(index.column.rotation_seed, SeedFromHex(seed, object));
  ARROW_ASSIGN_OR_RAISE(index.stored, GetBool(value, "stored", object));
  return index;
}

arrow::Result<std::shared_ptr<arrow::Schema>> ReadArrowSchema(const std::string& base64,
                                                              std::string_view object) {
  auto bytes = arrow::util::base64_decode(base64);
  if (!bytes.ok()) return CorruptObject(object, "the Arrow schema is not base64");
  arrow::io::BufferReader reader(arrow::Buffer::FromString(std::move(*bytes)));
  arrow::ipc::DictionaryMemo dictionaries;
  auto schema = arrow::ipc::ReadSchema(&reader, &dictionaries);
  if (!schema.ok()) {
    return CorruptObject(object, "the Arrow schema can't be read: " + schema.status().message());
  }
  return schema;
}

arrow::Result<int32_t> GetFieldId(const json& parent, std::string_view key,
                                  std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const int64_t value, GetCount(parent, key, object));
  if (value > std::numeric_limits<int32_t>::max()) {
    return CorruptObject(object, "number out of range: key=" + std::string(key));
  }
  return static_cast<int32_t>(value);
}

/// Whether a column may have that field id.
bool IsGiven(const TableSchema& schema, int32_t field_id) {
  const bool is_counted = field_id > kIdFieldId && field_id <= schema.last_field_id;
  return is_counted || field_id >= kNamedFieldIdMin;
}

arrow::Status ReadDropped(const json& value, std::string_view object, TableSchema* schema) {
  ARROW_ASSIGN_OR_RAISE(const json* dropped, GetArray(value, "dropped", object));
  JsonRow row(*dropped, object);
  for (size_t i = 0; i < dropped->size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const int64_t id, row.NextCount());
    const bool is_id =
        id <= std::numeric_limits<int32_t>::max() && IsGiven(*schema, static_cast<int32_t>(id));
    if (!is_id || (i > 0 && id <= schema->dropped_field_ids.back())) {
      return CorruptObject(object, "bad list of dropped columns");
    }
    schema->dropped_field_ids.push_back(static_cast<int32_t>(id));
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<json> SchemaToJson(const TableSchema& schema) {
  arrow::FieldVector fields;
  json columns = json::array();
  for (const TableColumn& column : schema.columns) {
    fields.push_back(column.field);
    json out = {{"field_id", column.field_id}};
    if (column.text) out["text"] = TextOptionsToJson(*column.text);
    if (column.vector) out["vector"] = VectorIndexToJson(*column.vector);
    columns.push_back(std::move(out));
  }
  auto bytes = arrow::ipc::SerializeSchema(*arrow::schema(std::move(fields)));
  if (!bytes.ok()) return FromForeign(bytes.status(), "encode the table's schema");
  return json{{"schema_id", schema.schema_id},
              {"last_field_id", schema.last_field_id},
              {"dropped", schema.dropped_field_ids},
              {"columns_max", schema.columns_max},
              {"columns", std::move(columns)},
              {"arrow", arrow::util::base64_encode(std::string_view(**bytes))}};
}

arrow::Result<TableSchema> SchemaFromJson(const json& value, std::string_view object) {
  TableSchema schema;
  ARROW_ASSIGN_OR_RAISE(schema.schema_id, GetFieldId(value, "schema_id", object));
  ARROW_ASSIGN_OR_RAISE(schema.last_field_id, GetFieldId(value, "last_field_id", object));
  ARROW_ASSIGN_OR_RAISE(schema.columns_max, GetFieldId(value, "columns_max", object));
  if (schema.last_field_id >= kNamedFieldIdMin || schema.columns_max == 0) {
    return CorruptObject(object, "bad limits of a schema");
  }
  ARROW_RETURN_NOT_OK(ReadDropped(value, object, &schema));
  ARROW_ASSIGN_OR_RAISE(const std::string base64, GetString(value, "arrow", object));
  ARROW_ASSIGN_OR_RAISE(const auto fields, ReadArrowSchema(base64, object));
  ARROW_ASSIGN_OR_RAISE(const json* columns, GetArray(value, "columns", object));
  if (columns->size() != static_cast<size_t>(fields->num_fields())) {
    return CorruptObject(object, "columns and Arrow schema differ in length");
  }
  std::set<int32_t> field_ids;
  for (int i = 0; i < fields->num_fields(); ++i) {
    const json& in = (*columns)[static_cast<size_t>(i)];
    TableColumn column;
    column.field = fields->field(i);
    ARROW_ASSIGN_OR_RAISE(column.field_id, GetFieldId(in, "field_id", object));
    if (HasKey(in, "text")) {
      ARROW_ASSIGN_OR_RAISE(const json* text, GetObject(in, "text", object));
      ARROW_ASSIGN_OR_RAISE(column.text, TextOptionsFromJson(*text, object));
    }
    if (HasKey(in, "vector")) {
      if (column.text) return CorruptObject(object, "a column with two indexes");
      ARROW_ASSIGN_OR_RAISE(const json* index, GetObject(in, "vector", object));
      ARROW_ASSIGN_OR_RAISE(column.vector, VectorIndexFromJson(*index, *column.field, object));
    }
    if (!IsGiven(schema, column.field_id) || schema.IsDropped(column.field_id) ||
        !field_ids.insert(column.field_id).second) {
      return CorruptObject(object, "bad field id: field_id=" + std::to_string(column.field_id));
    }
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

}  // namespace infino
