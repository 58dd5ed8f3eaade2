#include "infino/common/json.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "infino/error.h"

namespace infino {
namespace {

using nlohmann::json;

arrow::Status Corrupt(std::string_view object, std::string_view what, std::string_view key) {
  std::string message(object);
  message += ": ";
  message += what;
  if (!key.empty()) {
    message += ": key=";
    message += key;
  }
  return MakeError(ErrorKind::kCorrupt, std::move(message));
}

arrow::Result<const json*> Find(const json& parent, std::string_view key, std::string_view object) {
  if (!parent.is_object()) return Corrupt(object, "expected a JSON object around the key", key);
  const auto found = parent.find(key);
  if (found == parent.end()) return Corrupt(object, "missing key", key);
  return &*found;
}

}  // namespace

arrow::Result<json> ParseJson(std::string_view text, std::string_view object) {
  json value = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return Corrupt(object, "not valid JSON", {});
  return value;
}

std::string FormatJson(const json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

bool HasKey(const json& parent, std::string_view key) {
  if (!parent.is_object()) return false;
  const auto found = parent.find(key);
  return found != parent.end() && !found->is_null();
}

arrow::Result<std::string> GetString(const json& parent, std::string_view key,
                                     std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const json* value, Find(parent, key, object));
  const auto* text = value->get_ptr<const json::string_t*>();
  if (text == nullptr) return Corrupt(object, "expected a string", key);
  return *text;
}

arrow::Result<uint64_t> GetUint64(const json& parent, std::string_view key,
                                  std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const json* value, Find(parent, key, object));
  const auto* number = value->get_ptr<const json::number_unsigned_t*>();
  if (number == nullptr) return Corrupt(object, "expected a whole number of 64 bits", key);
  return *number;
}

arrow::Result<int64_t> GetInt64(const json& parent, std::string_view key, std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const json* value, Find(parent, key, object));
  // Numbers that aren't negative are parsed as unsigned ones.
  if (const auto* number = value->get_ptr<const json::number_unsigned_t*>(); number != nullptr) {
    if (*number <= uint64_t{std::numeric_limits<int64_t>::max()}) {
      return static_cast<int64_t>(*number);
    }
  } else if (const auto* signed_number = value->get_ptr<const json::number_integer_t*>();
             signed_number != nullptr) {
    return *signed_number;
  }
  return Corrupt(object, "expected a signed whole number of 64 bits", key);
}

arrow::Result<double> GetDouble(const json& parent, std::string_view key, std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const json* value, Find(parent, key, object));
  if (!value->is_number()) return Corrupt(object, "expected a number", key);
  return value->get<double>();
}

arrow::Result<bool> GetBool(const json& parent, std::string_view key, std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const json* value, Find(parent, key, object));
  const auto* flag = value->get_ptr<const json::boolean_t*>();
  if (flag == nullptr) return Corrupt(object, "expected true or false", key);
  return *flag;
}

arrow::Result<const json*> GetArray(const json& parent, std::string_view key,
                                    std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const json* value, Find(parent, key, object));
  if (!value->is_array()) return Corrupt(object, "expected an array", key);
  return value;
}

arrow::Result<const json*> GetObject(const json& parent, std::string_view key,
                                     std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const json* value, Find(parent, key, object));
  if (!value->is_object()) return Corrupt(object, "expected an object", key);
  return value;
}

}  // namespace infino
