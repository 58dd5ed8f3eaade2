#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type.h>

#include "infino/superfile/table_schema.h"

namespace infino {

/// The name of the column that holds a hit's score.
inline constexpr std::string_view kScoreColumn = "score";

/// One column of a result.
struct ProjectedColumn {
  enum class Source : uint8_t { kId, kScore, kStored };

  Source source = Source::kId;
  size_t fetched = 0;  ///< kStored: its place in Projection::fetched_field_ids.
};

/// Which columns a result has, in which order, and what must be fetched for them. A plain value.
struct Projection {
  std::shared_ptr<arrow::Schema> schema;
  std::vector<ProjectedColumn> columns;    ///< As the fields of `schema`.
  std::vector<int32_t> fetched_field_ids;  ///< Each stored column once.
};

/// Resolves the columns that a request asks for; unset means `_id` and `score`. A column of the
/// table that is itself called `score` is hidden by the score. kInvalidArgument, listing what there
/// is, for a name that is no stored column.
[[nodiscard]] arrow::Result<Projection> ResolveProjection(
    const TableSchema& schema, const std::optional<std::vector<std::string>>& names);

}  // namespace infino
