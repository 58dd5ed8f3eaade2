#include "infino/query/projection.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/error.h"
#include "infino/index/vector/vector_column.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

/// Whether the column's values can be read back.
bool IsReadable(const TableColumn& column) {
  return column.stored() ||
         (column.vector.has_value() && column.vector->column.tier != vector::RerankTier::kNone);
}

std::string WhyUnreadable(const TableColumn* column) {
  if (column == nullptr) return "' is no column of the table";
  if (!column->vector.has_value()) return "' is indexed, but not stored";
  return "' is indexed without its vectors (rerank 'none'), and not stored";
}

arrow::Status UnknownColumn(const TableSchema& schema, const std::string& name, bool scored) {
  std::string valid(kIdColumn);
  if (scored) valid += ", " + std::string(kScoreColumn);
  for (const TableColumn& column : schema.columns) {
    if (IsReadable(column) && !(scored && column.field->name() == kScoreColumn)) {
      valid += ", " + column.field->name();
    }
  }
  return MakeError(
      ErrorKind::kInvalidArgument,
      "projection: '" + name + WhyUnreadable(schema.Find(name)) + "; valid columns: " + valid);
}

/// The place of `field_id` in `ids`, to which it is added if it is new.
size_t PlaceOf(int32_t field_id, std::vector<int32_t>& ids) {
  const auto place = std::ranges::find(ids, field_id) - ids.begin();
  if (static_cast<size_t>(place) == ids.size()) ids.push_back(field_id);
  return static_cast<size_t>(place);
}

}  // namespace

arrow::Result<Projection> ResolveProjection(const TableSchema& schema,
                                            const std::optional<std::vector<std::string>>& names,
                                            bool number_queries, bool scored) {
  const std::vector<std::string> standard = {std::string(kIdColumn), std::string(kScoreColumn)};
  Projection projection;
  arrow::FieldVector fields;
  if (number_queries) {
    fields.push_back(arrow::field(std::string(kQueryColumn), arrow::uint32(), /*nullable=*/false));
    projection.columns.push_back({.source = ProjectedColumn::Source::kQuery});
  }
  for (const std::string& name : names ? *names : standard) {
    ProjectedColumn column;
    if (name == kIdColumn) {
      fields.push_back(IdField());
    } else if (scored && name == kScoreColumn) {
      column.source = ProjectedColumn::Source::kScore;
      fields.push_back(arrow::field(name, arrow::float32(), /*nullable=*/false));
    } else {
      const TableColumn* kept = schema.Find(name);
      if (kept == nullptr || !IsReadable(*kept)) return UnknownColumn(schema, name, scored);
      const bool is_stored = kept->stored();
      column.source =
          is_stored ? ProjectedColumn::Source::kStored : ProjectedColumn::Source::kVector;
      column.fetched = PlaceOf(
          kept->field_id, is_stored ? projection.fetched_field_ids : projection.vector_field_ids);
      if (projection.fetched_fields.size() < projection.fetched_field_ids.size()) {
        projection.fetched_fields.push_back(kept->field);
      }
      fields.push_back(kept->field);
    }
    projection.columns.push_back(column);
  }
  projection.schema = arrow::schema(std::move(fields));
  return projection;
}

}  // namespace infino
