#include "infino/storage/block_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/common/never_destroyed.h"
#include "infino/error.h"

namespace infino {
namespace {

using BufferFuture = arrow::Future<std::shared_ptr<arrow::Buffer>>;

bool Contains(const ByteRange& outer, const ByteRange& inner) {
  return outer.offset <= inner.offset && inner.end() <= outer.end();
}

std::shared_ptr<arrow::Buffer> Cut(const std::shared_ptr<arrow::Buffer>& bytes, int64_t offset,
                                   const ByteRange& wanted) {
  if (offset == wanted.offset && bytes->size() == wanted.length) return bytes;
  return arrow::SliceBuffer(bytes, wanted.offset - offset, wanted.length);
}

const std::shared_ptr<arrow::Buffer>& EmptyBuffer() {
  static const NeverDestroyed<std::shared_ptr<arrow::Buffer>> kEmpty(
      std::make_shared<arrow::Buffer>(nullptr, 0));
  return kEmpty.value;
}

}  // namespace

/// The entries of some of the objects. All entries of an object are in one shard, under one lock.
struct BlockCache::Shard {
  struct Object;

  struct Entry {
    Object* object = nullptr;
    int64_t offset = 0;
    std::shared_ptr<arrow::Buffer> bytes;
    uint64_t tick = 0;  ///< Of its last use.

    [[nodiscard]] ByteRange range() const { return {.offset = offset, .length = bytes->size()}; }
  };

  using Entries = std::list<Entry>;

  /// Entries by offset. None contains another, so their ends rise with their offsets, and only the
  /// last one that starts at or before a wanted range can contain it.
  struct Object {
    const CacheKey* key = nullptr;
    std::map<int64_t, Entries::iterator> entries;
    std::vector<std::pair<ByteRange, BufferFuture>> under_way;
  };

  struct Hash {
    size_t operator()(const CacheKey& key) const { return key.hash(); }
  };

  std::mutex mutex;
  std::unordered_map<CacheKey, Object, Hash> objects;
  Entries by_use;  ///< Least recently used first.

  Object* Find(const CacheKey& key) {
    const auto found = objects.find(key);
    return found == objects.end() ? nullptr : &found->second;
  }

  Object& FindOrAdd(const CacheKey& key) {
    const auto [at, is_new] = objects.try_emplace(key);
    if (is_new) at->second.key = &at->first;
    return at->second;
  }

  void DropIfUnused(Object& object) {
    if (!object.entries.empty() || !object.under_way.empty()) return;
    objects.erase(objects.find(*object.key));
  }

  std::shared_ptr<arrow::Buffer> Use(Object& object, const ByteRange& wanted, uint64_t tick) {
    const auto after = object.entries.upper_bound(wanted.offset);
    if (after == object.entries.begin()) return nullptr;
    const Entries::iterator entry = std::prev(after)->second;
    if (!Contains(entry->range(), wanted)) return nullptr;
    entry->tick = tick;
    by_use.splice(by_use.end(), by_use, entry);
    return Cut(entry->bytes, entry->offset, wanted);
  }

  /// Adds an entry and drops those inside it; returns by how many bytes the shard grew.
  int64_t Add(Object& object, int64_t offset, std::shared_ptr<arrow::Buffer> bytes, uint64_t tick) {
    const ByteRange range{.offset = offset, .length = bytes->size()};
    if (Use(object, range, tick) != nullptr) return 0;
    int64_t grown = range.length;
    auto at = object.entries.lower_bound(offset);
    while (at != object.entries.end() && Contains(range, at->second->range())) {
      grown -= at->second->bytes->size();
      by_use.erase(at->second);
      at = object.entries.erase(at);
    }
    by_use.push_back(
        Entry{.object = &object, .offset = offset, .bytes = std::move(bytes), .tick = tick});
    object.entries.emplace(offset, std::prev(by_use.end()));
    return grown;
  }

  /// Drops the least recently used entry and returns its size.
  int64_t DropOldest() {
    const Entry& oldest = by_use.front();
    const int64_t size = oldest.bytes->size();
    Object& object = *oldest.object;
    object.entries.erase(oldest.offset);
    by_use.pop_front();
    DropIfUnused(object);
    return size;
  }
};

CacheKey::CacheKey(std::string path)
    : path_(std::move(path)), hash_(std::hash<std::string>()(path_)) {}

/// All of the cache.
class BlockCache::State final : public std::enable_shared_from_this<BlockCache::State> {
 public:
  explicit State(int64_t budget_bytes) : budget_bytes_(budget_bytes) {
    for (std::unique_ptr<Shard>& shard : shards_) shard = std::make_unique<Shard>();
  }

  /// Fills the slots of resident ranges and returns how many there are. Ends at the first other one
  /// if `all_or_nothing`.
  size_t Find(const CacheKey& key, std::span<const ByteRange> ranges, bool all_or_nothing,
              Buffers& found);
  BufferFuture GetOrFetch(const CacheKey& key, ByteRange range, const Fetch& fetch);
  void Insert(const CacheKey& key, int64_t offset, std::shared_ptr<arrow::Buffer> bytes);

  [[nodiscard]] int64_t size_bytes() const { return size_bytes_; }

  [[nodiscard]] int64_t budget_bytes() const { return budget_bytes_; }

  [[nodiscard]] BlockCacheCounters counters() const {
    return {.hits = hits_, .misses = misses_, .joined = joined_, .evicted = evicted_};
  }

 private:
  static constexpr size_t kShardCount = 16;

  Shard& ShardOf(const CacheKey& key);
  void EndFetch(const CacheKey& key, ByteRange range,
                arrow::Result<std::shared_ptr<arrow::Buffer>> result, BufferFuture shared);
  void EvictUntilFits();

  const int64_t budget_bytes_;
  std::array<std::unique_ptr<Shard>, kShardCount> shards_;
  std::atomic<int64_t> size_bytes_ = 0;
  std::atomic<uint64_t> tick_ = 0;  ///< Orders uses over all shards.
  std::atomic<int64_t> hits_ = 0;
  std::atomic<int64_t> misses_ = 0;
  std::atomic<int64_t> joined_ = 0;
  std::atomic<int64_t> evicted_ = 0;
};

BlockCache::Shard& BlockCache::State::ShardOf(const CacheKey& key) {
  // Not the low bits, which choose the bucket inside the shard.
  constexpr int kTopBits = 60;
  static_assert(kShardCount == size_t{1} << (64 - kTopBits));
  return *shards_.at(key.hash() >> kTopBits);
}

size_t BlockCache::State::Find(const CacheKey& key, std::span<const ByteRange> ranges,
                               bool all_or_nothing, Buffers& found) {
  size_t count = 0;
  const uint64_t tick = ++tick_;
  Shard& shard = ShardOf(key);
  {
    const std::lock_guard lock(shard.mutex);
    Shard::Object* const object = shard.Find(key);
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i].length == 0) {
        found[i] = EmptyBuffer();
      } else if (object != nullptr) {
        found[i] = shard.Use(*object, ranges[i], tick);
      }
      if (found[i] != nullptr) {
        ++count;
      } else if (all_or_nothing) {
        return count;
      }
    }
  }
  hits_.fetch_add(static_cast<int64_t>(count), std::memory_order_relaxed);
  return count;
}

BufferFuture BlockCache::State::GetOrFetch(const CacheKey& key, ByteRange range,
                                           const Fetch& fetch) {
  auto shared = BufferFuture::Make();
  Shard& shard = ShardOf(key);
  {
    const std::lock_guard lock(shard.mutex);
    Shard::Object& object = shard.FindOrAdd(key);
    if (std::shared_ptr<arrow::Buffer> bytes = shard.Use(object, range, ++tick_)) {
      ++hits_;
      return bytes;
    }
    const auto joined = std::ranges::find_if(
        object.under_way, [&](const auto& other) { return Contains(other.first, range); });
    if (joined != object.under_way.end()) {
      ++joined_;
      return joined->second.Then(
          [offset = joined->first.offset, range](const std::shared_ptr<arrow::Buffer>& bytes) {
            return Cut(bytes, offset, range);
          });
    }
    object.under_way.emplace_back(range, shared);
  }
  ++misses_;
  fetch(range).AddCallback([self = shared_from_this(), key, range,
                            shared](const arrow::Result<std::shared_ptr<arrow::Buffer>>& result) {
    self->EndFetch(key, range, result, shared);
  });
  return shared;
}

void BlockCache::State::EndFetch(const CacheKey& key, ByteRange range,
                                 arrow::Result<std::shared_ptr<arrow::Buffer>> result,
                                 BufferFuture shared) {
  if (result.ok() && (*result)->size() != range.length) {
    result = MakeError(ErrorKind::kCorrupt,
                       "cannot read " + key.path() + ": got " + std::to_string((*result)->size()) +
                           " bytes for offset=" + std::to_string(range.offset) +
                           " length=" + std::to_string(range.length));
  }
  if (result.ok()) Insert(key, range.offset, *result);
  Shard& shard = ShardOf(key);
  {
    const std::lock_guard lock(shard.mutex);
    Shard::Object& object = *shard.Find(key);
    std::erase_if(object.under_way, [&](const auto& other) { return other.first == range; });
    shard.DropIfUnused(object);
  }
  shared.MarkFinished(std::move(result));
}

void BlockCache::State::Insert(const CacheKey& key, int64_t offset,
                               std::shared_ptr<arrow::Buffer> bytes) {
  constexpr int64_t kLargestShare = 4;
  if (bytes->size() == 0 || bytes->size() > budget_bytes_ / kLargestShare) return;
  Shard& shard = ShardOf(key);
  {
    const std::lock_guard lock(shard.mutex);
    size_bytes_ += shard.Add(shard.FindOrAdd(key), offset, std::move(bytes), ++tick_);
  }
  EvictUntilFits();
}

void BlockCache::State::EvictUntilFits() {
  while (size_bytes_ > budget_bytes_) {
    Shard* oldest = nullptr;
    uint64_t oldest_tick = 0;
    for (const std::unique_ptr<Shard>& shard : shards_) {
      const std::lock_guard lock(shard->mutex);
      if (shard->by_use.empty()) continue;
      const uint64_t tick = shard->by_use.front().tick;
      if (oldest != nullptr && tick >= oldest_tick) continue;
      oldest = shard.get();
      oldest_tick = tick;
    }
    if (oldest == nullptr) return;
    const std::lock_guard lock(oldest->mutex);
    // Another thread may have made room meanwhile.
    if (oldest->by_use.empty() || size_bytes_ <= budget_bytes_) continue;
    size_bytes_ -= oldest->DropOldest();
    ++evicted_;
  }
}

BlockCache::BlockCache(int64_t budget_bytes) : state_(std::make_shared<State>(budget_bytes)) {}

BlockCache::~BlockCache() = default;

std::optional<Buffers> BlockCache::FindAll(const CacheKey& key, std::span<const ByteRange> ranges) {
  Buffers found(ranges.size());
  if (state_->Find(key, ranges, true, found) < ranges.size()) return std::nullopt;
  return found;
}

Buffers BlockCache::FindEach(const CacheKey& key, std::span<const ByteRange> ranges) {
  Buffers found(ranges.size());
  state_->Find(key, ranges, false, found);
  return found;
}

BufferFuture BlockCache::GetOrFetch(const CacheKey& key, ByteRange range, const Fetch& fetch) {
  return state_->GetOrFetch(key, range, fetch);
}

void BlockCache::Insert(const CacheKey& key, int64_t offset, std::shared_ptr<arrow::Buffer> bytes) {
  state_->Insert(key, offset, std::move(bytes));
}

int64_t BlockCache::size_bytes() const {
  return state_->size_bytes();
}

int64_t BlockCache::budget_bytes() const {
  return state_->budget_bytes();
}

BlockCacheCounters BlockCache::counters() const {
  return state_->counters();
}

}  // namespace infino
