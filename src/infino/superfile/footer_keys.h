#pragma once

#include <memory>

#include <arrow/util/key_value_metadata.h>

#include "infino/superfile/open_section.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// What stands under `inf.*` in the Parquet footer: what the file is, where its regions are, and
/// how its columns are indexed. Only inf.open.* and inf.id are ever read by infino.
[[nodiscard]] std::shared_ptr<const arrow::KeyValueMetadata> MakeFooterKeys(
    const TableSchema& schema, const OpenSection& section, const SuperfileSummary& summary);

}  // namespace infino
