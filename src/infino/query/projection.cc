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
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

arrow::Status UnknownColumn(const TableSchema& schema, const std::string& name) {
  std::string valid = std::string(kIdColumn) + ", " + std::string(kScoreColumn);
  for (const TableColumn& column : schema.columns) {
    if (column.stored() && column.field->name() != kScoreColumn) {
      valid += ", " + column.field->name();
    }
  }
  const TableColumn* column = schema.Find(name);
  const std::string why =
      column != nullptr ? "' is indexed, but not stored" : "' is no column of the table";
  return MakeError(ErrorKind::kInvalidArgument,
                   "projection: '" + name + why + "; valid columns: " + valid);
}

}  // namespace

arrow::Result<Projection> ResolveProjection(const TableSchema& schema,
                                            const std::optional<std::vector<std::string>>& names) {
  const std::vector<std::string> standard = {std::string(kIdColumn), std::string(kScoreColumn)};
  Projection projection;
  arrow::FieldVector fields;
  for (const std::string& name : names ? *names : standard) {
    ProjectedColumn column;
    if (name == kIdColumn) {
      fields.push_back(IdField());
    } else if (name == kScoreColumn) {
      column.source = ProjectedColumn::Source::kScore;
      fields.push_back(arrow::field(name, arrow::float32(), /*nullable=*/false));
    } else {
      const TableColumn* stored = schema.Find(name);
      if (stored == nullptr || !stored->stored()) return UnknownColumn(schema, name);
      std::vector<int32_t>& fetched = projection.fetched_field_ids;
      const auto place = std::ranges::find(fetched, stored->field_id);
      column.source = ProjectedColumn::Source::kStored;
      column.fetched = static_cast<size_t>(place - fetched.begin());
      if (place == fetched.end()) fetched.push_back(stored->field_id);
      fields.push_back(stored->field);
    }
    projection.columns.push_back(column);
  }
  projection.schema = arrow::schema(std::move(fields));
  return projection;
}

}  // namespace infino
