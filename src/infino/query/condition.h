#pragma once

#include <optional>
#include <span>
#include <string>

#include <arrow/result.h>

#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/search.h"

namespace infino {

/// The rows of `entries`, superfiles of the context's snapshot, that a request leaves to be found:
/// not deleted, passing its filter, if it has one, and its SQL condition, unless that is empty.
/// Nothing if it has neither. kInvalidArgument for a condition where nothing can evaluate SQL.
/// Thread-safe; blocks in Wait.
[[nodiscard]] arrow::Result<std::optional<RowSelection>> SelectByRequest(
    const QueryContext& context, const std::optional<TextFilter>& filter, const std::string& where,
    std::span<const SuperfileEntry* const> entries);

/// Whether any row of a superfile may be found: of `selection`, or where that is null, not deleted.
[[nodiscard]] bool MayFind(const SuperfileEntry& entry, const RowSelection* selection);

/// The rows of `entries` that a predicate selects, as RowSelector has it, with the same failures.
[[nodiscard]] arrow::Result<RowSelection> SelectByPredicate(
    const QueryContext& context, const std::string& predicate,
    std::span<const SuperfileEntry* const> entries);

}  // namespace infino
