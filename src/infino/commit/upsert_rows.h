#pragma once

#include <string>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "infino/commit/change_context.h"
#include "infino/table.h"

namespace infino {

/// As Table::Upsert. Made anew when a commit that comes first touches the rows, or adds some that
/// have one of the keys.
[[nodiscard]] arrow::Result<ChangeResult> UpsertRows(const ChangeContext& context,
                                                     const std::string& on,
                                                     arrow::RecordBatchReader& rows);

}  // namespace infino
