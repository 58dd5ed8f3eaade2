#pragma once

#include <string_view>

#include <arrow/result.h>

#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/pointer.h"

namespace infino {

/// Reads the root object `ref` of the table in `folder` and checks its hash. kNotFound, naming the
/// object, if it is missing. Blocks in Wait.
[[nodiscard]] arrow::Result<ManifestRoot> ReadRoot(ObjectStore& store, std::string_view folder,
                                                   const ObjectRef& ref, const StopCondition& stop);

/// The root that `pointer` names: from its copy if it has one, else as ReadRoot. kCorrupt if the
/// two disagree on version or commit.
[[nodiscard]] arrow::Result<ManifestRoot> ReadRootOf(ObjectStore& store, std::string_view folder,
                                                     const Pointer& pointer,
                                                     const StopCondition& stop);

}  // namespace infino
