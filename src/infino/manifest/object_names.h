#pragma once

#include <cstdint>
#include <string>

#include "infino/common/content_hash.h"
#include "infino/common/ids.h"

namespace infino {

/// Names of a table's immutable objects, relative to the table's folder (docs/format/overview.md).
/// All but superfiles are named by their content. supertable/layout.h makes full paths of them.

/// "data/<superfile>.parquet".
[[nodiscard]] std::string SuperfileName(const SuperfileId& id);

/// "manifest/<version, 20 digits>-<hash>.json".
[[nodiscard]] std::string RootName(uint64_t version, const ContentHash& hash);

/// "manifest/part-<hash>.arrow".
[[nodiscard]] std::string PartName(const ContentHash& hash);

/// "manifest/summary-<hash>.arrow".
[[nodiscard]] std::string SummaryName(const ContentHash& hash);

/// "manifest/points-<hash>.arrow".
[[nodiscard]] std::string PointsName(const ContentHash& hash);

/// "tombstones/<superfile>-<commit>-<hash>.roaring".
[[nodiscard]] std::string TombstonesName(const SuperfileId& id, const CommitId& commit,
                                         const ContentHash& hash);

}  // namespace infino
