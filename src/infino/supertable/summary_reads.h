#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"

namespace infino {

/// A piece of a summary object that is wanted. Borrowed from a snapshot.
struct WantedSummary {
  const SummaryRef* ref = nullptr;
  const ObjectRef* object = nullptr;
};

/// Reads pieces of summary objects, in one parallel round: one range of each object. The result is
/// as `wanted`. kCorrupt, naming the object and `what` is read, if an object is missing or a piece
/// damaged. Blocks in Wait.
[[nodiscard]] arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> ReadSummaries(
    ObjectStore& store, std::string_view folder, std::span<const WantedSummary> wanted,
    std::string_view what, const StopCondition& stop);

}  // namespace infino
