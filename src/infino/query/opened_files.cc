#include "infino/query/opened_files.h"

#include <span>
#include <utility>

#include <arrow/result.h>

#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/query/tombstones.h"

namespace infino {

arrow::Result<OpenedFiles> OpenFiles(const QueryContext& context,
                                     std::span<const SuperfileEntry* const> entries,
                                     std::span<const SuperfileEntry* const> with_deleted) {
  ARROW_ASSIGN_OR_RAISE(TombstoneCache::Reads reads, BeginTombstones(context, with_deleted));
  const QueryEnvironment& environment = *context.environment;
  OpenedFiles opened;
  ARROW_ASSIGN_OR_RAISE(opened.files,
                        environment.superfiles->Open(*context.folder, entries, *context.stop,
                                                     environment.pool.get()));
  ARROW_ASSIGN_OR_RAISE(opened.tombstones, FinishTombstones(context, std::move(reads)));
  return opened;
}

}  // namespace infino
