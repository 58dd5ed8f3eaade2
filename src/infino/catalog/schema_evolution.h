#pragma once

#include <optional>

#include <arrow/result.h>

#include "infino/catalog/schema_document.h"
#include "infino/common/random.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// The schema that `patch` makes of `schema`, with the next schema_id; nothing if it changes
/// nothing. `has_superfiles`: whether there are files with columns of their own, which a column
/// that is not null would contradict. kInvalidArgument, naming the field, for a change that can't
/// be.
[[nodiscard]] arrow::Result<std::optional<TableSchema>> ApplyPatch(const TableSchema& schema,
                                                                   const SchemaPatch& patch,
                                                                   bool has_superfiles);

/// The schema of a new table: the fields of a patch, in its order. Their ids are counted anew;
/// rotations of vector columns that it does not give are drawn from `random`.
[[nodiscard]] arrow::Result<TableSchema> SchemaFromPatch(const SchemaPatch& patch, Random& random);

}  // namespace infino
