#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type.h>

#include "infino/superfile/table_schema.h"

namespace infino {

/// The name of the column that holds a hit's score.
inline constexpr std::string_view kScoreColumn = "score";

/// The name of the column that tells which of several queries found a row.
inline constexpr std::string_view kQueryColumn = "query";

/// One column of a result.
struct ProjectedColumn {
  /// kStored is read from the Parquet body, kVector from a vector index.
  enum class Source : uint8_t { kId, kScore, kQuery, kStored, kVector };

  Source source = Source::kId;

  /// kStored: its place in Projection::fetched_field_ids; kVector: in vector_field_ids.
  size_t fetched = 0;
};

/// Which columns a result has, in which order, and what must be fetched for them. A plain value.
struct Projection {
  std::shared_ptr<arrow::Schema> schema;
  std::vector<ProjectedColumn> columns;    ///< As the fields of `schema`.
  std::vector<int32_t> fetched_field_ids;  ///< Each stored column once.
  arrow::FieldVector fetched_fields;       ///< The same as the table declares them.
  std::vector<int32_t> vector_field_ids;   ///< Each column that is read from its index once.
};

/// Resolves the columns that a request asks for; unset means `_id` and `score`. A column of the
/// table that is itself called `score` is hidden by the score, where rows are `scored`; else there
/// is no other. With `number_queries` the first column is kQueryColumn, uint32. kInvalidArgument,
/// listing what there is, for a name that is no column, or one that nothing keeps the values of.
[[nodiscard]] arrow::Result<Projection> ResolveProjection(
    const TableSchema& schema, const std::optional<std::vector<std::string>>& names,
    bool number_queries = false, bool scored = true);

}  // namespace infino
