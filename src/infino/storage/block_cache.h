#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <arrow/buffer.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"

namespace infino {

/// Names an immutable object in a cache: its path, which must never come to mean other bytes. Made
/// once an object, so that lookups don't hash.
class CacheKey {
 public:
  explicit CacheKey(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] size_t hash() const { return hash_; }

  friend bool operator==(const CacheKey& a, const CacheKey& b) {
    return a.hash_ == b.hash_ && a.path_ == b.path_;
  }

 private:
  std::string path_;
  size_t hash_;
};

struct BlockCacheCounters {
  int64_t hits = 0;     ///< Ranges found resident.
  int64_t misses = 0;   ///< Requests that were started.
  int64_t joined = 0;   ///< Requests that waited for one under way instead.
  int64_t evicted = 0;  ///< Entries dropped for space.
};

/// Ranges of immutable objects in memory, within a budget of bytes, the least recently used dropped
/// first. Thread-safe.
///
/// A lookup succeeds if one entry contains the wanted range, and returns a slice of it without a
/// copy. A slice keeps the entry's memory alive after the entry was dropped; such memory is no
/// longer in the budget. A range of more than a quarter of the budget is handed on, not kept; with
/// a budget of 0 nothing is kept, but concurrent requests are still shared.
class BlockCache {
 public:
  using Fetch = std::function<arrow::Future<std::shared_ptr<arrow::Buffer>>(ByteRange)>;

  explicit BlockCache(int64_t budget_bytes);
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;
  BlockCache(BlockCache&&) = delete;
  BlockCache& operator=(BlockCache&&) = delete;

  /// All of `ranges` if every one is resident, else nothing. One lock for all of them. Empty ranges
  /// are always resident.
  [[nodiscard]] std::optional<Buffers> FindAll(const CacheKey& key,
                                               std::span<const ByteRange> ranges);

  /// One slot for each range: its bytes, or null if they are not resident.
  [[nodiscard]] Buffers FindEach(const CacheKey& key, std::span<const ByteRange> ranges);

  /// The bytes of `range`: resident, or from a request under way that contains it, or by calling
  /// `fetch(range)` and keeping the result. `fetch` runs on the calling thread, outside all locks.
  /// A failed request fails everybody who shares it and is not remembered. A result of the wrong
  /// length is kCorrupt.
  [[nodiscard]] arrow::Future<std::shared_ptr<arrow::Buffer>> GetOrFetch(const CacheKey& key,
                                                                         ByteRange range,
                                                                         const Fetch& fetch);

  /// Keeps `bytes`, which are the object's from `offset` on, unless they are resident already.
  void Insert(const CacheKey& key, int64_t offset, std::shared_ptr<arrow::Buffer> bytes);

  /// Bytes kept now; at most the budget.
  [[nodiscard]] int64_t size_bytes() const;
  [[nodiscard]] int64_t budget_bytes() const;
  [[nodiscard]] BlockCacheCounters counters() const;

 private:
  struct Shard;
  class State;

  /// Shared with the requests under way, which may outlive the cache.
  std::shared_ptr<State> state_;
};

}  // namespace infino
