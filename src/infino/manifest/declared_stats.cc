#include "infino/manifest/declared_stats.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "infino/manifest/manifest.h"
#include "infino/superfile/column_stats.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"

namespace infino {

std::optional<ColumnStats> DeclaredStats(const SuperfileEntry& entry, const TableColumn& column) {
  const auto found = std::ranges::find(entry.columns, column.field_id, &ColumnStats::field_id);
  if (found == entry.columns.end()) return std::nullopt;
  ColumnStats stats = *found;
  // Types of one length that a column can have one after the other have one encoding.
  const std::optional<size_t> length = BoundLengthOf(*column.field->type());
  if (stats.has_bounds && length && (stats.min.size() != *length || stats.max.size() != *length)) {
    stats.has_bounds = false;
    stats.min_exact = false;
    stats.max_exact = false;
    stats.min.clear();
    stats.max.clear();
  }
  return stats;
}

}  // namespace infino
