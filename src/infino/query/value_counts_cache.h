#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/result.h>

#include "infino/query/query_environment.h"
#include "infino/query/value_counts.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"

namespace infino {

/// The value counts of a connection's columns: for each column those of the newest version that was
/// asked for, within a memory budget; the least recently used are dropped first. Thread-safe.
class ValueCountsCache {
 public:
  ValueCountsCache(std::shared_ptr<ObjectStore> store, int64_t budget_bytes);
  ~ValueCountsCache();
  ValueCountsCache(const ValueCountsCache&) = delete;
  ValueCountsCache& operator=(const ValueCountsCache&) = delete;
  ValueCountsCache(ValueCountsCache&&) = delete;
  ValueCountsCache& operator=(ValueCountsCache&&) = delete;

  /// The counts of a column in the context's snapshot; only those of superfiles that are new, or
  /// lost rows, are read when a version has followed another. As CountValues.
  [[nodiscard]] arrow::Result<std::shared_ptr<const ColumnValueCounts>> Get(
      const QueryContext& context, const TableColumn& column);

  /// What Get would return, if that is here; else null.
  [[nodiscard]] std::shared_ptr<const ColumnValueCounts> Find(const std::string& folder,
                                                              const Snapshot& snapshot,
                                                              int32_t field_id);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infino
