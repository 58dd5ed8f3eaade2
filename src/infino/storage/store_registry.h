#pragma once

#include <memory>
#include <string_view>

#include <arrow/result.h>

#include "infino/common/clock.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"

namespace infino {

/// Opens the store that `uri` names.
///
///   memory:// memory: memory     a new, empty store in memory
///   file://PATH, or just PATH    the folder PATH, created if absent; PATH is taken as it stands,
///   so
///                                nothing is decoded and ~ is a name like any other
///
/// kInvalidArgument for an empty path, a scheme that is not known (schemes are case-sensitive), an
/// object store that this build lacks, and a path where a file is. Retries and counting are the
/// caller's to wrap round it.
[[nodiscard]] arrow::Result<std::shared_ptr<ObjectStore>> OpenStore(std::string_view uri,
                                                                    const ConnectOptions& options,
                                                                    std::shared_ptr<Clock> clock);

}  // namespace infino
