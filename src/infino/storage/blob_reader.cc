#include "infino/storage/blob_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/storage/block_cache.h"
#include "infino/storage/object_path.h"
#include "infino/storage/range_planner.h"

namespace infino {
namespace {

using BufferFuture = arrow::Future<std::shared_ptr<arrow::Buffer>>;
using BufferResults = std::vector<arrow::Result<std::shared_ptr<arrow::Buffer>>>;

/// The ranges that were not resident: which ones of the caller's, and how they will be fetched.
struct Missing {
  std::vector<size_t> ordinals;
  std::vector<ByteRange> ranges;
  RangePlan plan;
};

arrow::Result<Buffers> Assemble(Buffers buffers, const Missing& missing,
                                const BufferResults& fetched) {
  for (size_t i = 0; i < missing.ranges.size(); ++i) {
    const PlannedRange& place = missing.plan.places[i];
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> bytes, fetched[place.request]);
    buffers[missing.ordinals[i]] =
        arrow::SliceBuffer(bytes, place.offset, missing.ranges[i].length);
  }
  return buffers;
}

}  // namespace

BlobReader::BlobReader(BlobSource source, std::string path, int64_t size)
    : source_(std::move(source)), key_(std::move(path)), size_(size) {}

bool BlobReader::InBounds(const ByteRange& range) const {
  return range.offset >= 0 && range.length >= 0 && range.length <= size_ &&
         range.offset <= size_ - range.length;
}

std::optional<Buffers> BlobReader::TryRead(std::span<const ByteRange> ranges) const {
  if (!std::ranges::all_of(ranges, [&](const ByteRange& range) { return InBounds(range); })) {
    return std::nullopt;
  }
  return source_.cache->FindAll(key_, ranges);
}

arrow::Future<Buffers> BlobReader::Read(std::vector<ByteRange> ranges) const {
  for (const ByteRange& range : ranges) ARROW_RETURN_NOT_OK(CheckRange(path(), range, size_));
  Buffers buffers = source_.cache->FindEach(key_, ranges);
  Missing missing;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (buffers[i] != nullptr) continue;
    missing.ordinals.push_back(i);
    missing.ranges.push_back(ranges[i]);
  }
  if (missing.ranges.empty()) return buffers;
  missing.plan = PlanRanges(missing.ranges, source_.limits);
  std::vector<BufferFuture> fetched;
  fetched.reserve(missing.plan.requests.size());
  const BlockCache::Fetch fetch = [this](ByteRange range) {
    return source_.store->GetRange(path(), range);
  };
  for (const ByteRange& request : missing.plan.requests) {
    fetched.push_back(source_.cache->GetOrFetch(key_, request, fetch));
  }
  return arrow::All(std::move(fetched))
      .Then([buffers = std::move(buffers), missing = std::move(missing)](
                const BufferResults& results) { return Assemble(buffers, missing, results); });
}

}  // namespace infino
