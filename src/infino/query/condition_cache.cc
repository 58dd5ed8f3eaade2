#include "infino/query/condition_cache.h"

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "infino/common/ids.h"
#include "infino/common/lru_cache.h"
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

int64_t BytesOf(const Key& key, const DocFilter& rows) {
  constexpr int64_t kBits = 8;
  constexpr int64_t kOverhead = 256;
  return kOverhead + static_cast<int64_t>(std::get<1>(key).size() + std::get<2>(key).size()) * 2 +
         (int64_t{rows.row_count()} / kBits);
}

}  // namespace

struct ConditionCache::State {
  explicit State(int64_t budget_bytes) : rows(budget_bytes) {}

  LruCache<Key, std::shared_ptr<const DocFilter>> rows;
};

ConditionCache::ConditionCache(int64_t budget_bytes)
    : state_(std::make_unique<State>(budget_bytes)) {}

ConditionCache::~ConditionCache() = default;

std::shared_ptr<const DocFilter> ConditionCache::Find(const SuperfileEntry& superfile,
                                                      const std::string& condition) {
  return state_->rows.Find(KeyOf(superfile, condition)).value_or(nullptr);
}

void ConditionCache::Keep(const SuperfileEntry& superfile, const std::string& condition,
                          std::shared_ptr<const DocFilter> rows) {
  const Key key = KeyOf(superfile, condition);
  const int64_t bytes = BytesOf(key, *rows);
  state_->rows.Keep(key, std::move(rows), bytes);
}

}  // namespace infino
