#pragma once

#include <memory>

#include "infino/common/clock.h"
#include "infino/storage/object_store.h"

namespace infino {

/// An ObjectStore in memory: for `memory://` and for tests. Every future it returns is finished.
/// Buffers are kept and handed out without a copy. No two versions are ever equal, also of equal
/// bytes. `clock` gives the modification times.
[[nodiscard]] std::shared_ptr<ObjectStore> MakeMemoryStore(std::shared_ptr<Clock> clock);

}  // namespace infino
