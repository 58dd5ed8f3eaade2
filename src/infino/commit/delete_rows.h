#pragma once

#include <string>

#include <arrow/result.h>

#include "infino/commit/change_context.h"
#include "infino/table.h"

namespace infino {

/// As Table::Delete. Another commit that comes first is taken into account: rows that it deleted
/// are its own, and the predicate is asked of the superfiles it added.
[[nodiscard]] arrow::Result<ChangeResult> DeleteRows(const ChangeContext& context,
                                                     const std::string& predicate);

}  // namespace infino
