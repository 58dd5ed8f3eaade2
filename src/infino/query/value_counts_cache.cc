#include "infino/query/value_counts_cache.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <arrow/result.h>

#include "infino/common/content_hash.h"
#include "infino/query/query_environment.h"
#include "infino/query/value_counts.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"

namespace infino {
namespace {

struct Kept {
  uint64_t version = 0;
  ContentHash schema;  // Values are encoded for the type that it declares.
  int64_t bytes = 0;
  uint64_t last_use = 0;
  std::shared_ptr<const ColumnValueCounts> counts;
};

}  // namespace

struct ValueCountsCache::State {
  using Key = std::pair<std::string, int32_t>;  // Folder and column.

  std::shared_ptr<ObjectStore> store;
  int64_t budget_bytes = 0;

  std::mutex mutex;
  std::map<Key, Kept> columns;
  int64_t size_bytes = 0;
  uint64_t uses = 0;

  Kept Find(const Key& key) {
    const std::lock_guard lock(mutex);
    const auto found = columns.find(key);
    if (found == columns.end()) return {};
    found->second.last_use = ++uses;
    return found->second;
  }

  void Keep(const Key& key, Kept kept) {
    const std::lock_guard lock(mutex);
    Kept& slot = columns[key];
    if (slot.counts != nullptr && slot.version >= kept.version) return;
    size_bytes += kept.bytes - slot.bytes;
    kept.last_use = ++uses;
    slot = std::move(kept);
    while (size_bytes > budget_bytes) {
      const auto oldest = std::ranges::min_element(
          columns, {}, [](const auto& column) { return column.second.last_use; });
      size_bytes -= oldest->second.bytes;
      columns.erase(oldest);
    }
  }
};

ValueCountsCache::ValueCountsCache(std::shared_ptr<ObjectStore> store, int64_t budget_bytes)
    : state_(std::make_unique<State>()) {
  state_->store = std::move(store);
  state_->budget_bytes = budget_bytes;
}

ValueCountsCache::~ValueCountsCache() = default;

arrow::Result<std::shared_ptr<const ColumnValueCounts>> ValueCountsCache::Get(
    const QueryContext& context, const TableColumn& column) {
  const Snapshot& snapshot = *context.snapshot;
  const State::Key key(*context.folder, column.field_id);
  const Kept kept = state_->Find(key);
  if (kept.counts != nullptr && kept.version == snapshot.version()) return kept.counts;
  const bool is_known = kept.counts != nullptr && kept.schema == snapshot.root.schema_hash;
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<const ColumnValueCounts> counts,
      CountValues(context, *state_->store, column, is_known ? kept.counts.get() : nullptr));
  state_->Keep(key, {.version = snapshot.version(),
                     .schema = snapshot.root.schema_hash,
                     .bytes = counts->size_bytes(),
                     .last_use = 0,
                     .counts = counts});
  return counts;
}

std::shared_ptr<const ColumnValueCounts> ValueCountsCache::Find(const std::string& folder,
                                                                const Snapshot& snapshot,
                                                                int32_t field_id) {
  const Kept kept = state_->Find({folder, field_id});
  return kept.version == snapshot.version() ? kept.counts : nullptr;
}

}  // namespace infino
