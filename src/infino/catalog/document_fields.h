#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/json.h"

namespace infino {

/// How documents that callers wrote are read: whatever is wrong with one is kInvalidArgument and
/// names `path`, the place in the document. A key with the value null counts as not there.

[[nodiscard]] arrow::Status BadDocument(const std::string& path, const std::string& what);

[[nodiscard]] arrow::Result<std::optional<std::string>> TextIn(const nlohmann::json& object,
                                                               std::string_view key,
                                                               const std::string& path);
[[nodiscard]] arrow::Result<std::optional<bool>> BoolIn(const nlohmann::json& object,
                                                        std::string_view key,
                                                        const std::string& path);
[[nodiscard]] arrow::Result<std::optional<double>> NumberIn(const nlohmann::json& object,
                                                            std::string_view key,
                                                            const std::string& path);

/// A whole number of at least `least` that fits 31 bits.
[[nodiscard]] arrow::Result<std::optional<int32_t>> CountIn(const nlohmann::json& object,
                                                            std::string_view key, int32_t least,
                                                            const std::string& path);

}  // namespace infino
