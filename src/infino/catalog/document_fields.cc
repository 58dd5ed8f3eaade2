#include "infino/catalog/document_fields.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/json.h"
#include "infino/error.h"

namespace infino {
namespace {

using nlohmann::json;

arrow::Status WrongType(const std::string& path, std::string_view key, const std::string& wanted) {
  return BadDocument(path, "'" + std::string(key) + "' must be " + wanted);
}

}  // namespace

arrow::Status BadDocument(const std::string& path, const std::string& what) {
  return MakeError(ErrorKind::kInvalidArgument, path + ": " + what);
}

arrow::Result<std::optional<std::string>> TextIn(const json& object, std::string_view key,
                                                 const std::string& path) {
  if (!HasKey(object, key)) return std::optional<std::string>();
  const json& value = object.at(key);
  if (!value.is_string()) return WrongType(path, key, "a string");
  return value.get<std::string>();
}

arrow::Result<std::optional<bool>> BoolIn(const json& object, std::string_view key,
                                          const std::string& path) {
  if (!HasKey(object, key)) return std::optional<bool>();
  const json& value = object.at(key);
  if (!value.is_boolean()) return WrongType(path, key, "true or false");
  return value.get<bool>();
}

arrow::Result<std::optional<double>> NumberIn(const json& object, std::string_view key,
                                              const std::string& path) {
  if (!HasKey(object, key)) return std::optional<double>();
  const json& value = object.at(key);
  if (!value.is_number()) return WrongType(path, key, "a number");
  return value.get<double>();
}

arrow::Result<std::optional<int32_t>> CountIn(const json& object, std::string_view key,
                                              int32_t least, const std::string& path) {
  if (!HasKey(object, key)) return std::optional<int32_t>();
  const json& value = object.at(key);
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  const bool is_in_range =
      value.is_number_integer() &&
      (value.is_number_unsigned()
           ? value.get<uint64_t>() <= uint64_t{kMost} && value.get<int64_t>() >= int64_t{least}
           : value.get<int64_t>() >= int64_t{least} && value.get<int64_t>() <= int64_t{kMost});
  if (!is_in_range) {
    return WrongType(path, key, "a whole number from " + std::to_string(least) + " to 2^31 - 1");
  }
  return value.get<int32_t>();
}

}  // namespace infino
