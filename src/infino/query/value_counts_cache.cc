#include "infino/query/value_counts_cache.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <arrow/result.h>

#include "infino/common/content_hash.h"
#include "infino/common/lru_cache.h"
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
  std::shared_ptr<const ColumnValueCounts> counts;
};

}  // namespace

struct ValueCountsCache::State {
  using Key = std::pair<std::string, int32_t>;  // Folder and column.

  State(std::shared_ptr<ObjectStore> from, int64_t budget_bytes)
      : store(std::move(from)), columns(budget_bytes) {}

  std::shared_ptr<ObjectStore> store;
  LruCache<Key, Kept> columns;
};

ValueCountsCache::ValueCountsCache(std::shared_ptr<ObjectStore> store, int64_t budget_bytes)
    : state_(std::make_unique<State>(std::move(store), budget_bytes)) {}

ValueCountsCache::~ValueCountsCache() = default;

arrow::Result<std::shared_ptr<const ColumnValueCounts>> ValueCountsCache::Get(
    const QueryContext& context, const TableColumn& column) {
  const Snapshot& snapshot = *context.snapshot;
  const State::Key key(*context.folder, column.field_id);
  const Kept kept = state_->columns.Find(key).value_or(Kept{});
  if (kept.counts != nullptr && kept.version == snapshot.version()) return kept.counts;
  const bool is_known = kept.counts != nullptr && kept.schema == snapshot.root.schema_hash;
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<const ColumnValueCounts> counts,
      CountValues(context, *state_->store, column, is_known ? kept.counts.get() : nullptr));
  state_->columns.Keep(
      key, {.version = snapshot.version(), .schema = snapshot.root.schema_hash, .counts = counts},
      counts->size_bytes(), [&](const Kept& known) { return known.version < snapshot.version(); });
  return counts;
}

std::shared_ptr<const ColumnValueCounts> ValueCountsCache::Find(const std::string& folder,
                                                                const Snapshot& snapshot,
                                                                int32_t field_id) {
  const Kept kept = state_->columns.Find({folder, field_id}).value_or(Kept{});
  return kept.version == snapshot.version() ? kept.counts : nullptr;
}

}  // namespace infino
