#include "infino/query/term_filter_cache.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <arrow/result.h>

#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/snapshot.h"
#include "infino/supertable/term_filters.h"

namespace infino {
namespace {

struct Kept {
  uint64_t version = 0;
  int64_t bytes = 0;
  uint64_t last_use = 0;
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
    if (slot.filters != nullptr && slot.version >= kept.version) return;
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

TermFilterCache::TermFilterCache(std::shared_ptr<ObjectStore> store, int64_t budget_bytes)
    : state_(std::make_unique<State>()) {
  state_->store = std::move(store);
  state_->budget_bytes = budget_bytes;
}

TermFilterCache::~TermFilterCache() = default;

arrow::Result<std::shared_ptr<const ColumnTermFilters>> TermFilterCache::Get(
    const std::string& folder, const Snapshot& snapshot, int32_t field_id,
    const StopCondition& stop) {
  const State::Key key(folder, field_id);
  const Kept kept = state_->Find(key);
  if (kept.filters != nullptr && kept.version == snapshot.version()) return kept.filters;
  const int64_t bytes = FilterBytes(snapshot, field_id);
  if (bytes > state_->budget_bytes) return nullptr;
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<const ColumnTermFilters> filters,
      LoadTermFilters(*state_->store, folder, snapshot, field_id, kept.filters.get(), stop));
  state_->Keep(key, {.version = snapshot.version(), .bytes = bytes, .filters = filters});
  return filters;
}

}  // namespace infino
