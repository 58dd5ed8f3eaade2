#pragma once

#include <memory>
#include <string>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "infino/commit/change_context.h"
#include "infino/table.h"

namespace infino {

/// As Table::Update. Made anew when a commit that comes first touches the rows, or adds some that
/// match.
[[nodiscard]] arrow::Result<ChangeResult> UpdateRows(const ChangeContext& context,
                                                     const std::string& predicate,
                                                     arrow::RecordBatchReader& rows);

}  // namespace infino
