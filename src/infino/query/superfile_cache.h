#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/storage/block_cache.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

/// Opened superfiles of a connection, by object, within a memory budget. Thread-safe.
class SuperfileCache {
 public:
  SuperfileCache(std::shared_ptr<ObjectStore> store, std::shared_ptr<BlockCache> blocks,
                 int64_t budget_bytes);
  ~SuperfileCache();

  /// The opened files of `entries`, in their order; those not opened yet are opened in one round
  /// (their open sections; a small file is read whole). Blocks in Wait.
  [[nodiscard]] arrow::Result<std::vector<std::shared_ptr<const SuperfileReader>>> Open(
      const std::string& folder, std::span<const SuperfileEntry* const> entries,
      const StopCondition& stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infino
