#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <arrow/result.h>
#include <arrow/type.h>

#include "infino/common/json.h"

namespace infino {

/// Sets `type` and what belongs to it (docs/schema.md, "Types") in the JSON object of a field.
void TypeToDocument(const arrow::DataType& type, nlohmann::json* field);

/// Reads what TypeToDocument wrote, and the short forms that people write. kInvalidArgument, naming
/// `path`, for an unknown type, what a type lacks, and what does not belong to it.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::DataType>> TypeFromDocument(
    const nlohmann::json& field, const std::string& path);

/// The keys of a field that belong to its type, `type` itself left out.
[[nodiscard]] std::span<const std::string_view> TypeParameters();

}  // namespace infino
