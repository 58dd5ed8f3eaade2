#pragma once

#include <vector>

#include "infino/sql/sql_types.h"
#include "infino/sql/table_source.h"

namespace infino::sql {

/// The table with its columns under the names that SQL has for them.
[[nodiscard]] PinnedTable WithSqlNames(const PinnedTable& table,
                                       const std::vector<SqlColumn>& columns);

}  // namespace infino::sql
