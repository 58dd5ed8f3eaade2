#pragma once

#include <optional>

#include <arrow/result.h>
#include <arrow/type.h>

#include "infino/superfile/table_schema.h"

namespace infino {

/// `schema` and behind its columns one for each column of `input` that it lacks: nullable, of the
/// input's type, with a field id made from its name. Columns of type null add nothing.
/// kInvalidArgument, naming the column, if a table can't have one of that name or type, or no more.
[[nodiscard]] arrow::Result<TableSchema> GrowSchema(const TableSchema& schema,
                                                    const arrow::Schema& input);

/// What the schema `now` becomes by adding superfiles to the table that were written with the
/// schema `written`, which GrowSchema made of an earlier one; nothing if it stays.
///
/// Columns are the same if their field ids are. One that was dropped meanwhile is lost, one that
/// was widened or renamed meanwhile is still that one. kInvalidArgument or kConflict, naming the
/// column, if it has another type now, and if appending the rows again can't or might help;
/// kConflict, too, if a column is not null now that the files may lack.
[[nodiscard]] arrow::Result<std::optional<TableSchema>> SchemaForFiles(const TableSchema& now,
                                                                       const TableSchema& written);

}  // namespace infino
