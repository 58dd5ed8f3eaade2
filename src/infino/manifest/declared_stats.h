#pragma once

#include <optional>

#include "infino/manifest/manifest.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// What a superfile's entry says of a column as the table declares it now; nothing if it keeps no
/// statistics of it, which a file that lacks the column does not either.
///
/// Bounds are in the encoding of the declared type. Those of a narrower type, which the column had
/// when the file was written, are left out where that encoding is another one.
[[nodiscard]] std::optional<ColumnStats> DeclaredStats(const SuperfileEntry& entry,
                                                       const TableColumn& column);

}  // namespace infino
