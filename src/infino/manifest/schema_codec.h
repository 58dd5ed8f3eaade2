#pragma once

#include <string_view>

#include <arrow/result.h>

#include "infino/common/json.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// A table's schema and index spec as JSON (docs/format/manifest.md, "Schema"): the declared fields
/// as Arrow IPC schema bytes in base64, and for each its field id and index options.
[[nodiscard]] arrow::Result<nlohmann::json> SchemaToJson(const TableSchema& schema);

/// Reads what SchemaToJson wrote; anything else is kCorrupt, naming `object`.
[[nodiscard]] arrow::Result<TableSchema> SchemaFromJson(const nlohmann::json& value,
                                                        std::string_view object);

}  // namespace infino
