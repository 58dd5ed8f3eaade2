#include "infino/manifest/schema_codec.h"

#include <cmath>
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

#include "infino/common/json.h"
#include "infino/error.h"
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

}  // namespace

arrow::Result<json> SchemaToJson(const TableSchema& schema) {
  arrow::FieldVector fields;
  json columns = json::array();
  for (const TableColumn& column : schema.columns) {
    fields.push_back(column.field);
    json out = {{"field_id", column.field_id}};
    if (column.text) out["text"] = TextOptionsToJson(*column.text);
    columns.push_back(std::move(out));
  }
  auto bytes = arrow::ipc::SerializeSchema(*arrow::schema(std::move(fields)));
  if (!bytes.ok()) return FromForeign(bytes.status(), "encode the table's schema");
  return json{{"schema_id", schema.schema_id},
              {"last_field_id", schema.last_field_id},
              {"columns", std::move(columns)},
              {"arrow", arrow::util::base64_encode(std::string_view(**bytes))}};
}

arrow::Result<TableSchema> SchemaFromJson(const json& value, std::string_view object) {
  TableSchema schema;
  ARROW_ASSIGN_OR_RAISE(schema.schema_id, GetFieldId(value, "schema_id", object));
  ARROW_ASSIGN_OR_RAISE(schema.last_field_id, GetFieldId(value, "last_field_id", object));
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
    const bool is_declared = column.field_id > kIdFieldId;
    if (!is_declared || column.field_id > schema.last_field_id ||
        !field_ids.insert(column.field_id).second) {
      return CorruptObject(object, "bad field id: field_id=" + std::to_string(column.field_id));
    }
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

}  // namespace infino
