#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/storage/block_cache.h"
#include "infino/storage/object_store.h"
#include "infino/storage/range_planner.h"

namespace infino {

/// Where the readers of one connection get their bytes from. Neither pointer is null.
struct BlobSource {
  std::shared_ptr<ObjectStore> store;
  std::shared_ptr<BlockCache> cache;
  PlanLimits limits = LimitsFor(kLocalLink);
};

/// A RangeReader over one immutable object of known size. Thread-safe and cheap to make: it does no
/// IO until the first Read. Keeps store and cache alive.
///
/// Read serves what is resident from the cache and fetches the rest in parallel, one GetRange for
/// each planned request; what arrives is kept. Failures are those of the store: kNotFound if the
/// object is gone, kCorrupt naming the object if it is shorter than `size`. TryRead costs one lock
/// and no IO.
class BlobReader final : public RangeReader {
 public:
  BlobReader(BlobSource source, std::string path, int64_t size);

  [[nodiscard]] int64_t size() const override { return size_; }

  [[nodiscard]] arrow::Future<Buffers> Read(std::vector<ByteRange> ranges) const override;
  [[nodiscard]] std::optional<Buffers> TryRead(std::span<const ByteRange> ranges) const override;

  [[nodiscard]] const std::string& path() const { return key_.path(); }

 private:
  [[nodiscard]] bool InBounds(const ByteRange& range) const;

  BlobSource source_;
  CacheKey key_;
  int64_t size_;
};

}  // namespace infino
