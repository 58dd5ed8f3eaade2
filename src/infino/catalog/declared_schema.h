#pragma once

#include <arrow/result.h>
#include <arrow/type.h>

#include "infino/common/random.h"
#include "infino/index_spec.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// The schema of a new table from what its creator declares; metadata of the fields is left out,
/// field ids count from 1. The rotations of vector columns are drawn from `random`.
/// kInvalidArgument, naming the column and what would do, if a superfile could not be written with
/// it.
[[nodiscard]] arrow::Result<TableSchema> DeclareSchema(const arrow::Schema& schema,
                                                       const IndexSpec& spec, Random& random);

/// The indexes of a table, in the order of its columns, with dimensions, and metrics and tiers by
/// the first of their names.
[[nodiscard]] IndexSpec IndexSpecOf(const TableSchema& schema);

}  // namespace infino
