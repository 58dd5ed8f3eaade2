#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>
#include <arrow/table.h>

#include "infino/query/query_environment.h"
#include "infino/search.h"
#include "infino/supertable/snapshot.h"

namespace infino {

/// Runs `request` on one snapshot: the filter if there is one, codes of all superfiles, the rows of
/// the candidates, merge, rows of the winners. Thread-safe; blocks in Wait.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> SearchVectors(
    const QueryEnvironment& environment, const Snapshot& snapshot, const std::string& folder,
    const VectorSearchRequest& request);

/// Runs a keyword and a vector search side by side and fuses their ranks. Thread-safe; blocks in
/// Wait.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> SearchHybrid(
    const QueryEnvironment& environment, const Snapshot& snapshot, const std::string& folder,
    const HybridSearchRequest& request);

}  // namespace infino
