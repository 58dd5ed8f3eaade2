#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "infino/common/ids.h"
#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

/// Where rows are that were looked up by their ids.
struct LocatedRows {
  /// The opened superfiles that may have had some, which hits name by their places.
  std::vector<std::shared_ptr<const SuperfileReader>> files;
  std::vector<const SuperfileEntry*> entries;  ///< As `files`.

  std::map<RowId, Hit> rows;  ///< Those that are there and not deleted.
};

/// Looks ids up in `entries`, superfiles of the context's snapshot: open sections and tombstones in
/// one round, and no page. `ids` may be in any order and repeat. Blocks in Wait.
[[nodiscard]] arrow::Result<LocatedRows> LocateRows(const QueryContext& context,
                                                    std::span<const RowId> ids,
                                                    std::span<const SuperfileEntry* const> entries);

}  // namespace infino
