#include "infino/query/get_executor.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/table.h>
#include <arrow/util/decimal.h>

#include "infino/common/ids.h"
#include "infino/query/id_lookup.h"
#include "infino/query/projection.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/search.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"

namespace infino {
namespace {

std::vector<std::string> StoredColumns(const TableSchema& schema) {
  std::vector<std::string> names = {std::string(kIdColumn)};
  for (const TableColumn& column : schema.columns) {
    if (column.stored()) names.push_back(column.field->name());
  }
  return names;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Table>> GetRows(const QueryEnvironment& environment,
                                                     const Snapshot& snapshot,
                                                     const std::string& folder,
                                                     const GetRequest& request) {
  const QueryContext context{&environment, &snapshot, &folder, &request.stop};
  const TableSchema& schema = snapshot.root.schema;
  ARROW_ASSIGN_OR_RAISE(
      const Projection projection,
      ResolveProjection(schema, request.projection ? request.projection : StoredColumns(schema),
                        /*number_queries=*/false, /*scored=*/false));
  std::vector<RowId> ids;
  ids.reserve(request.ids.size());
  for (const arrow::Decimal128& id : request.ids) {
    if (id.high_bits() < 0) continue;  // No row has such an id.
    ids.push_back({.high = static_cast<uint64_t>(id.high_bits()), .low = id.low_bits()});
  }
  ARROW_ASSIGN_OR_RAISE(const LocatedRows located, LocateRows(context, ids, EntriesOf(snapshot)));
  std::vector<Hit> hits;
  for (const RowId& id : ids) {
    const auto found = located.rows.find(id);
    if (found != located.rows.end()) hits.push_back(found->second);
  }
  return FetchRows(hits, located.files, projection, context);
}

}  // namespace infino
