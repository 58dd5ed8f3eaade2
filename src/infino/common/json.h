#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/result.h>
#include <nlohmann/json.hpp>      // IWYU pragma: export
#include <nlohmann/json_fwd.hpp>  // IWYU pragma: export

namespace infino {

/// The only door to the JSON library. Nothing here throws: text that is not JSON, a missing key and
/// a value of another type are kCorrupt, naming `object` (what errors call the document) and the
/// key.
[[nodiscard]] arrow::Result<nlohmann::json> ParseJson(std::string_view text,
                                                      std::string_view object);

/// `value` as text on one line, keys in byte order, so equal values give equal bytes. Strings must
/// be UTF-8; other bytes become U+FFFD.
[[nodiscard]] std::string FormatJson(const nlohmann::json& value);

/// Whether `parent` is an object that has `key` with a value other than null.
[[nodiscard]] bool HasKey(const nlohmann::json& parent, std::string_view key);

/// The value under `key` of the JSON object `parent`, checked to be of the type in the name. The
/// pointers are into `parent` and never null.
[[nodiscard]] arrow::Result<std::string> GetString(const nlohmann::json& parent,
                                                   std::string_view key, std::string_view object);
[[nodiscard]] arrow::Result<uint64_t> GetUint64(const nlohmann::json& parent, std::string_view key,
                                                std::string_view object);
[[nodiscard]] arrow::Result<int64_t> GetInt64(const nlohmann::json& parent, std::string_view key,
                                              std::string_view object);
[[nodiscard]] arrow::Result<double> GetDouble(const nlohmann::json& parent, std::string_view key,
                                              std::string_view object);
[[nodiscard]] arrow::Result<bool> GetBool(const nlohmann::json& parent, std::string_view key,
                                          std::string_view object);
[[nodiscard]] arrow::Result<const nlohmann::json*> GetArray(const nlohmann::json& parent,
                                                            std::string_view key,
                                                            std::string_view object);
[[nodiscard]] arrow::Result<const nlohmann::json*> GetObject(const nlohmann::json& parent,
                                                             std::string_view key,
                                                             std::string_view object);

}  // namespace infino
