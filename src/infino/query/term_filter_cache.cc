#include "infino/query/term_filter_cache.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <arrow/result.h>

#include "infino/common/lru_cache.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/snapshot.h"
#include "infino/supertable/term_filters.h"

namespace infino {
namespace {

struct Kept {
  uint64_t version = 0;
  std::shared_ptr<const ColumnTermFilters> filters;
};

int64_t FilterBytes(const Snapshot& snapshot, int32_t field_id) {
  int64_t bytes = 0;
  for (const Snapshot::File& file : snapshot.files) {
    for (const SummaryRef& filter : file.entry->term_filters) {
      if (filter.field_id == field_id) bytes += filter.place.length;
    }
  }
  return bytes;
}

}  // namespace

struct TermFilterCache::State {
  using Key = std::pair<std::string, int32_t>;  // Folder and column.

  State(std::shared_ptr<ObjectStore> from, int64_t budget_bytes)
      : store(std::move(from)), columns(budget_bytes) {}

  std::shared_ptr<ObjectStore> store;
  LruCache<Key, Kept> columns;
};

TermFilterCache::TermFilterCache(std::shared_ptr<ObjectStore> store, int64_t budget_bytes)
    : state_(std::make_unique<State>(std::move(store), budget_bytes)) {}

TermFilterCache::~TermFilterCache() = default;

arrow::Result<std::shared_ptr<const ColumnTermFilters>> TermFilterCache::Get(
    const std::string& folder, const Snapshot& snapshot, int32_t field_id,
    const StopCondition& stop) {
  const State::Key key(folder, field_id);
  const Kept kept = state_->columns.Find(key).value_or(Kept{});
  if (kept.filters != nullptr && kept.version == snapshot.version()) return kept.filters;
  const int64_t bytes = FilterBytes(snapshot, field_id);
  if (bytes > state_->columns.budget_bytes()) return nullptr;
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<const ColumnTermFilters> filters,
      LoadTermFilters(*state_->store, folder, snapshot, field_id, kept.filters.get(), stop));
  state_->columns.Keep(key, {.version = snapshot.version(), .filters = filters}, bytes,
                       [&](const Kept& known) { return known.version < snapshot.version(); });
  return filters;
}

}  // namespace infino
