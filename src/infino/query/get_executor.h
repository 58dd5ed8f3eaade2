#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>
#include <arrow/table.h>

#include "infino/query/query_environment.h"
#include "infino/search.h"
#include "infino/supertable/snapshot.h"

namespace infino {

/// The rows of a request's ids, in its order: superfiles by the manifest's ranges of ids, rows by
/// their id maps, then their pages. Thread-safe; blocks in Wait.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> GetRows(
    const QueryEnvironment& environment, const Snapshot& snapshot, const std::string& folder,
    const GetRequest& request);

}  // namespace infino
