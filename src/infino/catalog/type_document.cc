#include "infino/catalog/type_document.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <arrow/extension_type.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

#include "infino/catalog/document_fields.h"
#include "infino/common/json.h"

namespace infino {
namespace {

using arrow::internal::checked_cast;
using nlohmann::json;
using Type = std::shared_ptr<arrow::DataType>;

struct NamedType {
  std::string_view name;
  Type type;
};

/// Types without parameters. Those that are written come first; the others are only read.
const std::vector<NamedType>& PlainTypes() {
  using arrow::TimeUnit;
  static const std::vector<NamedType> kTypes = {
      {"i8", arrow::int8()},
      {"i16", arrow::int16()},
      {"i32", arrow::int32()},
      {"i64", arrow::int64()},
      {"u8", arrow::uint8()},
      {"u16", arrow::uint16()},
      {"u32", arrow::uint32()},
      {"u64", arrow::uint64()},
      {"f16", arrow::float16()},
      {"f32", arrow::float32()},
      {"f64", arrow::float64()},
      {"bool", arrow::boolean()},
      {"utf8", arrow::utf8()},
      {"large_utf8", arrow::large_utf8()},
      {"utf8_view", arrow::utf8_view()},
      {"binary", arrow::binary()},
      {"large_binary", arrow::large_binary()},
      {"binary_view", arrow::binary_view()},
      {"date32", arrow::date32()},
      {"date64", arrow::date64()},
      {"time32_s", arrow::time32(TimeUnit::SECOND)},
      {"time32_ms", arrow::time32(TimeUnit::MILLI)},
      {"time64_us", arrow::time64(TimeUnit::MICRO)},
      {"time64_ns", arrow::time64(TimeUnit::NANO)},
      {"duration_s", arrow::duration(TimeUnit::SECOND)},
      {"duration_ms", arrow::duration(TimeUnit::MILLI)},
      {"duration_us", arrow::duration(TimeUnit::MICRO)},
      {"duration_ns", arrow::duration(TimeUnit::NANO)},
      {"null", arrow::null()},
      {"int8", arrow::int8()},
      {"int16", arrow::int16()},
      {"int32", arrow::int32()},
      {"int64", arrow::int64()},
      {"uint8", arrow::uint8()},
      {"uint16", arrow::uint16()},
      {"uint32", arrow::uint32()},
      {"uint64", arrow::uint64()},
      {"float16", arrow::float16()},
      {"float32", arrow::float32()},
      {"float64", arrow::float64()},
      {"float", arrow::float32()},
      {"double", arrow::float64()},
      {"boolean", arrow::boolean()},
      {"string", arrow::large_utf8()},
      {"string_view", arrow::utf8_view()},
      {"date", arrow::date32()},
  };
  return kTypes;
}

struct NamedUnit {
  std::string_view name;
  arrow::TimeUnit::type unit;
};

constexpr std::array<NamedUnit, 5> kTimestamps = {{{"timestamp_s", arrow::TimeUnit::SECOND},
                                                   {"timestamp_ms", arrow::TimeUnit::MILLI},
                                                   {"timestamp_us", arrow::TimeUnit::MICRO},
                                                   {"timestamp_ns", arrow::TimeUnit::NANO},
                                                   {"timestamp", arrow::TimeUnit::MILLI}}};

constexpr std::string_view kFixedBinary = "fixed_size_binary(";

constexpr std::array<std::string_view, 14> kParameters = {
    "dim",     "extension_name", "fields", "index_type", "item", "key",   "keys_sorted",
    "ordered", "precision",      "scale",  "size",       "tz",   "value", "storage"};

std::string_view ListName(arrow::Type::type id) {
  switch (id) {
    case arrow::Type::LARGE_LIST:
      return "large_list";
    case arrow::Type::LIST_VIEW:
      return "list_view";
    case arrow::Type::LARGE_LIST_VIEW:
      return "large_list_view";
    default:
      return "list";
  }
}

std::string_view DecimalName(arrow::Type::type id) {
  switch (id) {
    case arrow::Type::DECIMAL32:
      return "decimal32";
    case arrow::Type::DECIMAL64:
      return "decimal64";
    case arrow::Type::DECIMAL256:
      return "decimal256";
    default:
      return "decimal";
  }
}

json FieldToDocument(const arrow::Field& field) {
  json out = {{"name", field.name()}, {"nullable", field.nullable()}};
  TypeToDocument(*field.type(), &out);
  return out;
}

json BareTypeToDocument(const arrow::DataType& type) {
  json out = json::object();
  TypeToDocument(type, &out);
  return out;
}

void FixedListToDocument(const arrow::FixedSizeListType& type, json* out) {
  const arrow::Field& item = *type.value_field();
  const bool is_vector = item.type()->id() == arrow::Type::FLOAT;
  (*out)["type"] = is_vector ? "vector" : "fixed_size_list";
  (*out)[is_vector ? "dim" : "size"] = type.list_size();
  // What a vector is usually called inside needs no saying.
  if (is_vector && item.name() == "item" && item.nullable()) return;
  (*out)["item"] = FieldToDocument(item);
}

void NestedToDocument(const arrow::DataType& type, json* out) {
  switch (type.id()) {
    case arrow::Type::STRUCT: {
      (*out)["type"] = "struct";
      json& fields = (*out)["fields"] = json::array();
      for (const auto& field : type.fields()) fields.push_back(FieldToDocument(*field));
      return;
    }
    case arrow::Type::FIXED_SIZE_LIST:
      FixedListToDocument(checked_cast<const arrow::FixedSizeListType&>(type), out);
      return;
    case arrow::Type::MAP: {
      const auto& map = checked_cast<const arrow::MapType&>(type);
      (*out)["type"] = "map";
      (*out)["key"] = FieldToDocument(*map.key_field());
      (*out)["value"] = FieldToDocument(*map.item_field());
      if (map.keys_sorted()) (*out)["keys_sorted"] = true;
      return;
    }
    case arrow::Type::DICTIONARY: {
      const auto& dictionary = checked_cast<const arrow::DictionaryType&>(type);
      (*out)["type"] = "dictionary";
      (*out)["index_type"] = BareTypeToDocument(*dictionary.index_type());
      (*out)["value"] = BareTypeToDocument(*dictionary.value_type());
      if (dictionary.ordered()) (*out)["ordered"] = true;
      return;
    }
    case arrow::Type::EXTENSION: {
      const auto& extension = checked_cast<const arrow::ExtensionType&>(type);
      (*out)["type"] = "extension";
      (*out)["extension_name"] = extension.extension_name();
      (*out)["storage"] = BareTypeToDocument(*extension.storage_type());
      return;
    }
    default:
      (*out)["type"] = ListName(type.id());
      (*out)["item"] = FieldToDocument(*type.field(0));
  }
}

arrow::Status RequireObject(const json& field, std::string_view key, const std::string& path) {
  if (HasKey(field, key) && field.at(key).is_object()) return arrow::Status::OK();
  return BadDocument(path, "its type needs '" + std::string(key) + "', an object with a type");
}

arrow::Result<Type> BareTypeFromDocument(const json& field, std::string_view key,
                                         const std::string& path) {
  ARROW_RETURN_NOT_OK(RequireObject(field, key, path));
  return TypeFromDocument(field.at(key), path + "." + std::string(key));
}

/// A field inside of another; `name` if it has none of its own.
arrow::Result<std::shared_ptr<arrow::Field>> FieldFromDocument(const json& field,
                                                               const std::string& name,
                                                               const std::string& path) {
  if (!field.is_object()) return BadDocument(path, "a field must be an object");
  for (const auto& [key, value] : field.items()) {
    const bool is_known = key == "name" || key == "type" || key == "nullable" ||
                          std::ranges::find(kParameters, key) != kParameters.end();
    if (!is_known) return BadDocument(path, "unknown key '" + key + "' of a field inside a type");
  }
  ARROW_ASSIGN_OR_RAISE(const std::optional<std::string> own, TextIn(field, "name", path));
  ARROW_ASSIGN_OR_RAISE(const std::optional<bool> nullable, BoolIn(field, "nullable", path));
  ARROW_ASSIGN_OR_RAISE(const Type type, TypeFromDocument(field, path));
  return arrow::field(own.value_or(name), type, nullable.value_or(true));
}

arrow::Result<std::shared_ptr<arrow::Field>> FieldUnder(const json& field, std::string_view key,
                                                        const std::string& path) {
  ARROW_RETURN_NOT_OK(RequireObject(field, key, path));
  return FieldFromDocument(field.at(key), std::string(key), path + "." + std::string(key));
}

arrow::Result<Type> StructFromDocument(const json& field, const std::string& path) {
  if (!HasKey(field, "fields") || !field.at("fields").is_array()) {
    return BadDocument(path, "a struct needs 'fields', a list");
  }
  arrow::FieldVector fields;
  for (const json& inner : field.at("fields")) {
    const std::string inner_path = path + ".fields[" + std::to_string(fields.size()) + "]";
    if (!inner.is_object() || !HasKey(inner, "name")) {
      return BadDocument(inner_path, "a field of a struct needs a name");
    }
    ARROW_ASSIGN_OR_RAISE(auto parsed, FieldFromDocument(inner, std::string(), inner_path));
    fields.push_back(std::move(parsed));
  }
  return arrow::struct_(std::move(fields));
}

arrow::Result<Type> DecimalFromDocument(std::string_view name, const json& field,
                                        const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const std::optional<int32_t> precision,
                        CountIn(field, "precision", 1, path));
  constexpr int32_t kScaleMin = -128;
  ARROW_ASSIGN_OR_RAISE(const std::optional<int32_t> scale,
                        CountIn(field, "scale", kScaleMin, path));
  if (!precision || !scale) return BadDocument(path, "a decimal needs 'precision' and 'scale'");
  arrow::Result<Type> type = name == "decimal32"   ? arrow::Decimal32Type::Make(*precision, *scale)
                             : name == "decimal64" ? arrow::Decimal64Type::Make(*precision, *scale)
                             : name == "decimal256"
                                 ? arrow::Decimal256Type::Make(*precision, *scale)
                                 : arrow::Decimal128Type::Make(*precision, *scale);
  if (!type.ok()) return BadDocument(path, type.status().message());
  return type;
}

arrow::Result<Type> FixedListFromDocument(bool is_vector, const json& field,
                                          const std::string& path) {
  const std::string_view key = is_vector ? "dim" : "size";
  ARROW_ASSIGN_OR_RAISE(const std::optional<int32_t> size, CountIn(field, key, 1, path));
  if (!size) return BadDocument(path, "its type needs '" + std::string(key) + "'");
  if (is_vector && !HasKey(field, "item")) return arrow::fixed_size_list(arrow::float32(), *size);
  ARROW_ASSIGN_OR_RAISE(const auto item, FieldUnder(field, "item", path));
  return arrow::fixed_size_list(item, *size);
}

arrow::Result<Type> ListFromDocument(std::string_view name, const json& field,
                                     const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto item, FieldUnder(field, "item", path));
  if (name == "large_list") return arrow::large_list(item);
  if (name == "list_view") return arrow::list_view(item);
  if (name == "large_list_view") return arrow::large_list_view(item);
  return arrow::list(item);
}

arrow::Result<Type> MapFromDocument(const json& field, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto key, FieldUnder(field, "key", path));
  ARROW_ASSIGN_OR_RAISE(const auto value, FieldUnder(field, "value", path));
  ARROW_ASSIGN_OR_RAISE(const std::optional<bool> sorted, BoolIn(field, "keys_sorted", path));
  return std::make_shared<arrow::MapType>(key->WithNullable(false), value, sorted.value_or(false));
}

arrow::Result<Type> DictionaryFromDocument(const json& field, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const Type index, BareTypeFromDocument(field, "index_type", path));
  ARROW_ASSIGN_OR_RAISE(const Type value, BareTypeFromDocument(field, "value", path));
  ARROW_ASSIGN_OR_RAISE(const std::optional<bool> ordered, BoolIn(field, "ordered", path));
  arrow::Result<Type> type = arrow::DictionaryType::Make(index, value, ordered.value_or(false));
  if (!type.ok()) return BadDocument(path, type.status().message());
  return type;
}

arrow::Result<Type> FixedBinaryFromDocument(std::string_view name, const std::string& path) {
  const std::string_view digits = name.substr(kFixedBinary.size());
  int32_t width = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), width);
  if (error != std::errc() || std::string_view(end, digits.data() + digits.size()) != ")" ||
      width < 1) {
    return BadDocument(path,
                       "'" + std::string(name) + "' is no type; one is fixed_size_binary(16)");
  }
  return arrow::fixed_size_binary(width);
}

/// A type and the parameters that belong to it.
struct Parsed {
  Type type;
  std::vector<std::string_view> parameters{};
};

arrow::Result<Parsed> ParseType(std::string_view name, const json& field, const std::string& path) {
  for (const NamedType& plain : PlainTypes()) {
    if (plain.name == name) return Parsed{.type = plain.type};
  }
  for (const NamedUnit& timestamp : kTimestamps) {
    if (timestamp.name != name) continue;
    ARROW_ASSIGN_OR_RAISE(const std::optional<std::string> zone, TextIn(field, "tz", path));
    return Parsed{.type = arrow::timestamp(timestamp.unit, zone.value_or("")),
                  .parameters = {"tz"}};
  }
  Parsed parsed;
  if (name.starts_with(kFixedBinary)) {
    ARROW_ASSIGN_OR_RAISE(parsed.type, FixedBinaryFromDocument(name, path));
  } else if (name == "decimal" || name == "decimal32" || name == "decimal64" ||
             name == "decimal128" || name == "decimal256") {
    parsed.parameters = {"precision", "scale"};
    ARROW_ASSIGN_OR_RAISE(parsed.type, DecimalFromDocument(name, field, path));
  } else if (name == "vector" || name == "fixed_size_list") {
    parsed.parameters = {name == "vector" ? "dim" : "size", "item"};
    ARROW_ASSIGN_OR_RAISE(parsed.type, FixedListFromDocument(name == "vector", field, path));
  } else if (name == "list" || name == "large_list" || name == "list_view" ||
             name == "large_list_view") {
    parsed.parameters = {"item"};
    ARROW_ASSIGN_OR_RAISE(parsed.type, ListFromDocument(name, field, path));
  } else if (name == "struct") {
    parsed.parameters = {"fields"};
    ARROW_ASSIGN_OR_RAISE(parsed.type, StructFromDocument(field, path));
  } else if (name == "map") {
    parsed.parameters = {"key", "value", "keys_sorted"};
    ARROW_ASSIGN_OR_RAISE(parsed.type, MapFromDocument(field, path));
  } else if (name == "dictionary") {
    parsed.parameters = {"index_type", "value", "ordered"};
    ARROW_ASSIGN_OR_RAISE(parsed.type, DictionaryFromDocument(field, path));
  } else if (name == "extension") {
    return BadDocument(path, "a column of an extension type can't be declared in a document");
  } else {
    return BadDocument(path, "unknown type '" + std::string(name) +
                                 "'; known are i8 to i64, u8 to u64, f16 to f64, bool, utf8, "
                                 "large_utf8, binary, large_binary, date32, timestamp_ms, decimal, "
                                 "list, struct, map, vector and others");
  }
  return parsed;
}

}  // namespace

std::span<const std::string_view> TypeParameters() {
  return kParameters;
}

void TypeToDocument(const arrow::DataType& type, json* field) {
  for (const NamedType& plain : PlainTypes()) {
    if (!plain.type->Equals(type)) continue;
    (*field)["type"] = plain.name;
    return;
  }
  if (type.id() == arrow::Type::TIMESTAMP) {
    const auto& timestamp = checked_cast<const arrow::TimestampType&>(type);
    const auto named = std::ranges::find(kTimestamps, timestamp.unit(), &NamedUnit::unit);
    (*field)["type"] = named->name;
    if (!timestamp.timezone().empty()) (*field)["tz"] = timestamp.timezone();
  } else if (arrow::is_decimal(type.id())) {
    const auto& decimal = checked_cast<const arrow::DecimalType&>(type);
    (*field)["type"] = DecimalName(type.id());
    (*field)["precision"] = decimal.precision();
    (*field)["scale"] = decimal.scale();
  } else if (type.id() == arrow::Type::FIXED_SIZE_BINARY) {
    const auto& binary = checked_cast<const arrow::FixedSizeBinaryType&>(type);
    (*field)["type"] = std::string(kFixedBinary) + std::to_string(binary.byte_width()) + ")";
  } else {
    NestedToDocument(type, field);
  }
}

arrow::Result<Type> TypeFromDocument(const json& field, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const std::optional<std::string> name, TextIn(field, "type", path));
  if (!name) return BadDocument(path, "it needs a type");
  ARROW_ASSIGN_OR_RAISE(Parsed parsed, ParseType(*name, field, path));
  for (const std::string_view parameter : kParameters) {
    if (!HasKey(field, parameter)) continue;
    if (std::ranges::find(parsed.parameters, parameter) == parsed.parameters.end()) {
      return BadDocument(path,
                         "'" + std::string(parameter) + "' does not belong to the type " + *name);
    }
  }
  return std::move(parsed.type);
}

}  // namespace infino
