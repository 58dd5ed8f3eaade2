#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <arrow/result.h>
#include <arrow/type.h>

#include "infino/common/json.h"
#include "infino/index_spec.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// How deeply types may be nested, as the document says.
inline constexpr int32_t kSchemaDepthMax = 20;

/// The schema as callers see it (docs/schema.md).
[[nodiscard]] nlohmann::json SchemaToDocument(const TableSchema& schema);

/// A vector index that a patch asks for.
struct VectorIndexPatch {
  VectorIndexOptions options;
  std::optional<uint64_t> rotation_seed{};
};

/// What a patch says of one column. What it does not say stays as it is.
struct FieldPatch {
  std::string path;  ///< Where it stands in the patch, for messages.
  std::optional<int32_t> id{};
  std::optional<std::string> name{};
  std::shared_ptr<arrow::DataType> type{};
  std::optional<bool> nullable{};

  /// The index it asks for; monostate: explicitly none.
  std::optional<std::variant<std::monostate, TextIndexOptions, VectorIndexPatch>> index{};

  bool dropped = false;
};

/// A change of a schema as its author wrote it, checked for its form only.
struct SchemaPatch {
  std::vector<FieldPatch> fields{};
  std::optional<int32_t> fields_max{};

  /// Field ids that it says are dropped, as the document does.
  std::vector<int32_t> dropped_field_ids{};
};

/// Reads a patch: a JSON document of the shape that SchemaToDocument gives, any part of it.
/// kInvalidArgument, naming the place, for anything that has no meaning there.
[[nodiscard]] arrow::Result<SchemaPatch> ParseSchemaPatch(std::string_view text);

}  // namespace infino
