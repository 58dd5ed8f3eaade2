#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/manifest/manifest.h"

namespace infino {

/// The sums over a part's entries, texts in order of their field ids. kInvalidArgument if one does
/// not fit 64 bits.
[[nodiscard]] arrow::Result<ManifestTotals> TotalsOf(const ManifestPart& part);

/// Adds `more` to `totals`, with the same failure.
[[nodiscard]] arrow::Status AddTotals(const ManifestTotals& more, ManifestTotals* totals);

}  // namespace infino
