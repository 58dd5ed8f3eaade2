#pragma once

#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/query/tombstones.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

/// Opened superfiles, and which of their rows are deleted.
struct OpenedFiles {
  std::vector<std::shared_ptr<const SuperfileReader>> files;  ///< As the entries.
  Tombstones tombstones;
};

/// Opens `entries`, superfiles of the context's snapshot, and in the same round reads the
/// tombstones of `with_deleted`, which are some of them. Fails as SuperfileCache::Open and
/// TombstoneCache::Finish. Blocks in Wait.
[[nodiscard]] arrow::Result<OpenedFiles> OpenFiles(
    const QueryContext& context, std::span<const SuperfileEntry* const> entries,
    std::span<const SuperfileEntry* const> with_deleted);

/// Opens `entries` with the tombstones of them all.
[[nodiscard]] inline arrow::Result<OpenedFiles> OpenFiles(
    const QueryContext& context, std::span<const SuperfileEntry* const> entries) {
  return OpenFiles(context, entries, entries);
}

}  // namespace infino
