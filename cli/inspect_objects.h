#pragma once

#include <memory>
#include <string>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/common/json.h"
#include "infino/manifest/manifest.h"

namespace infino::cli {

/// Reads one object of a table or the catalog, tells what is in it, and checks all of it:
/// checksums, the hash in its name, every page and region of a superfile. `name` ends as the
/// object's path does, which says what it is. Fails with the first fault.
[[nodiscard]] arrow::Result<nlohmann::ordered_json> DescribeObject(
    const std::string& name, const std::shared_ptr<arrow::Buffer>& bytes);

/// What a manifest says of a superfile.
[[nodiscard]] nlohmann::ordered_json DescribeEntry(const SuperfileEntry& entry);

[[nodiscard]] nlohmann::ordered_json DescribeTotals(const ManifestTotals& totals);

/// A row id as the decimal number that `_id` shows.
[[nodiscard]] std::string TextOfRowId(const RowId& id);

}  // namespace infino::cli
