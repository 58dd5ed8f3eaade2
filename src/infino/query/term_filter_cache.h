#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/result.h>

#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/snapshot.h"
#include "infino/supertable/term_filters.h"

namespace infino {

/// The term filters of a connection's columns: for each column those of the newest version that was
/// asked for, within a memory budget. Thread-safe.
class TermFilterCache {
 public:
  TermFilterCache(std::shared_ptr<ObjectStore> store, int64_t budget_bytes);
  ~TermFilterCache();
  TermFilterCache(const TermFilterCache&) = delete;
  TermFilterCache& operator=(const TermFilterCache&) = delete;
  TermFilterCache(TermFilterCache&&) = delete;
  TermFilterCache& operator=(TermFilterCache&&) = delete;

  /// The filters of a column for all superfiles of `snapshot`, read in one round unless they are
  /// here; only new ones are read when a version has followed another. Null if they would take more
  /// than the budget: pruning does without them then. Blocks in Wait.
  [[nodiscard]] arrow::Result<std::shared_ptr<const ColumnTermFilters>> Get(
      const std::string& folder, const Snapshot& snapshot, int32_t field_id,
      const StopCondition& stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infino
