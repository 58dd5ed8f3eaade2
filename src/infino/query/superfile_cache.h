#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "infino/common/work_pool.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/storage/block_cache.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

/// Opened superfiles of a connection, by object, within a memory budget; the least recently used
/// are dropped first. Thread-safe. What was handed out stays alive with whoever holds it.
class SuperfileCache {
 public:
  /// A file of at most this size is read whole when it is opened, and searched without any further
  /// read.
  static constexpr int64_t kReadWholeBytes = 64 << 10;

  SuperfileCache(std::shared_ptr<ObjectStore> store, std::shared_ptr<BlockCache> blocks,
                 int64_t budget_bytes);
  ~SuperfileCache();
  SuperfileCache(const SuperfileCache&) = delete;
  SuperfileCache& operator=(const SuperfileCache&) = delete;
  SuperfileCache(SuperfileCache&&) = delete;
  SuperfileCache& operator=(SuperfileCache&&) = delete;

  /// The opened files of `entries`, in their order; those not opened yet are opened in one round
  /// (their open sections; a small file is read whole), and parsed on `pool`, if there is one and
  /// it is worth it. kCorrupt, naming the object, if one is missing or damaged. Blocks in Wait.
  [[nodiscard]] arrow::Result<std::vector<std::shared_ptr<const SuperfileReader>>> Open(
      const std::string& folder, std::span<const SuperfileEntry* const> entries,
      const StopCondition& stop, WorkPool* pool = nullptr);

  /// What the kept files hold in memory; at most the budget.
  [[nodiscard]] int64_t size_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infino
