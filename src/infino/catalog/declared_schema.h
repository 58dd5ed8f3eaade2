#pragma once

#include <arrow/result.h>
#include <arrow/type.h>

#include "infino/index_spec.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// The schema of a new table from what its creator declares; metadata of the fields is left out,
/// field ids count from 1. kInvalidArgument, naming the column and what would do, if a superfile
/// could not be written with it.
[[nodiscard]] arrow::Result<TableSchema> DeclareSchema(const arrow::Schema& schema,
                                                       const IndexSpec& spec);

/// The indexes of a table, in the order of its columns.
[[nodiscard]] IndexSpec IndexSpecOf(const TableSchema& schema);

}  // namespace infino
