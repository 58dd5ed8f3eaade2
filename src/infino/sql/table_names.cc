#include "infino/sql/table_names.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "infino/sql/sql_types.h"
#include "infino/sql/table_source.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"

namespace infino::sql {

PinnedTable WithSqlNames(const PinnedTable& table, const std::vector<SqlColumn>& columns) {
  const TableSchema& schema = table.snapshot->root.schema;
  const bool has_own_names = std::ranges::all_of(columns, [&](const SqlColumn& column) {
    const TableColumn* declared = schema.FindById(column.field_id);
    return declared == nullptr || declared->field->name() == column.name;
  });
  if (has_own_names) return table;
  auto snapshot = std::make_shared<Snapshot>(*table.snapshot);
  for (TableColumn& column : snapshot->root.schema.columns) {
    const auto named = std::ranges::find(columns, column.field_id, &SqlColumn::field_id);
    if (named != columns.end()) column.field = column.field->WithName(named->name);
  }
  PinnedTable renamed = table;
  renamed.snapshot = std::move(snapshot);
  return renamed;
}

}  // namespace infino::sql
