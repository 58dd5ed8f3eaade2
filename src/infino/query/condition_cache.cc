#include "infino/query/condition_cache.h"

#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/manifest/manifest.h"

namespace infino {
namespace {

/// Superfile, name of its tombstones, condition.
using Key = std::tuple<SuperfileId, std::string, std::string>;

Key KeyOf(const SuperfileEntry& superfile, const std::string& condition) {
  return {superfile.id, superfile.tombstones ? superfile.tombstones->object.name : std::string(),
          condition};
}

struct Kept {
  Key key;
  std::shared_ptr<const DocFilter> rows;
  int64_t bytes = 0;
};

int64_t BytesOf(const Key& key, const DocFilter& rows) {
  constexpr int64_t kBits = 8;
  constexpr int64_t kOverhead = 256;
  return kOverhead + static_cast<int64_t>(std::get<1>(key).size() + std::get<2>(key).size()) * 2 +
         (int64_t{rows.row_count()} / kBits);
}

}  // namespace

struct ConditionCache::State {
  int64_t budget_bytes = 0;

  std::mutex mutex;
  std::list<Kept> by_use;  // the newest first
  std::map<Key, std::list<Kept>::iterator> by_key;
  int64_t size_bytes = 0;

  void Drop(std::list<Kept>::iterator kept) {
    size_bytes -= kept->bytes;
    by_key.erase(kept->key);
    by_use.erase(kept);
  }
};

ConditionCache::ConditionCache(int64_t budget_bytes) : state_(std::make_unique<State>()) {
  state_->budget_bytes = budget_bytes;
}

ConditionCache::~ConditionCache() = default;

std::shared_ptr<const DocFilter> ConditionCache::Find(const SuperfileEntry& superfile,
                                                      const std::string& condition) {
  const Key key = KeyOf(superfile, condition);
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->by_key.find(key);
  if (found == state_->by_key.end()) return nullptr;
  state_->by_use.splice(state_->by_use.begin(), state_->by_use, found->second);
  return found->second->rows;
}

void ConditionCache::Keep(const SuperfileEntry& superfile, const std::string& condition,
                          std::shared_ptr<const DocFilter> rows) {
  Key key = KeyOf(superfile, condition);
  const int64_t bytes = BytesOf(key, *rows);
  if (bytes > state_->budget_bytes) return;
  const std::lock_guard lock(state_->mutex);
  if (const auto known = state_->by_key.find(key); known != state_->by_key.end()) {
    state_->Drop(known->second);
  }
  while (state_->size_bytes + bytes > state_->budget_bytes) {
    state_->Drop(std::prev(state_->by_use.end()));
  }
  state_->by_use.push_front({.key = key, .rows = std::move(rows), .bytes = bytes});
  state_->by_key.emplace(std::move(key), state_->by_use.begin());
  state_->size_bytes += bytes;
}

}  // namespace infino
