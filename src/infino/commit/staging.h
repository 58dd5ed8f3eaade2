#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/status.h>

#include "infino/common/scratch.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"

namespace infino {

/// Writes all `objects` in one round, durably. A path that is taken counts as written if the same
/// bytes are there, for then an earlier try of this commit got through; else kCorrupt. After a
/// failure any of them may be there, and after kCancelled may still arrive.
[[nodiscard]] arrow::Status StageAll(ObjectStore& store, std::vector<StagedObject> objects,
                                     const StopCondition& stop);

/// OK if `path` holds exactly `bytes`, kCorrupt if it doesn't. Blocks in Wait.
[[nodiscard]] arrow::Status ConfirmStaged(ObjectStore& store, const std::string& path,
                                          const arrow::Buffer& bytes, const StopCondition& stop);

/// The same for what is in a scratch file.
[[nodiscard]] arrow::Status ConfirmStaged(ObjectStore& store, const std::string& path,
                                          const ScratchFile& file, const StopCondition& stop);

/// Deletes staged objects that no version names or ever will, waiting a second at most. What it
/// can't delete is left to the garbage collection.
void Discard(ObjectStore& store, std::span<const std::string> paths);

}  // namespace infino
