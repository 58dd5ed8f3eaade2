#include "infino/common/buffer_range_reader.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/error.h"

namespace infino {
namespace {

bool LiesWithin(ByteRange range, int64_t size) {
  return range.offset >= 0 && range.length >= 0 && range.length <= size &&
         range.offset <= size - range.length;
}

arrow::Status CheckRanges(std::span<const ByteRange> ranges, int64_t size, std::string_view name) {
  for (const ByteRange& range : ranges) {
    if (LiesWithin(range, size)) continue;
    std::string message = "read of ";
    message += name;
    message += " past its end: offset=" + std::to_string(range.offset) +
               " length=" + std::to_string(range.length) + " size=" + std::to_string(size);
    return MakeError(ErrorKind::kCorrupt, std::move(message));
  }
  return arrow::Status::OK();
}

Buffers Slice(const std::shared_ptr<arrow::Buffer>& buffer, std::span<const ByteRange> ranges) {
  Buffers slices;
  slices.reserve(ranges.size());
  for (const ByteRange& range : ranges) {
    slices.push_back(arrow::SliceBuffer(buffer, range.offset, range.length));
  }
  return slices;
}

std::vector<ByteRange> Shift(std::span<const ByteRange> ranges, int64_t by) {
  std::vector<ByteRange> shifted(ranges.begin(), ranges.end());
  for (ByteRange& range : shifted) range.offset += by;
  return shifted;
}

constexpr std::string_view kPartName = "part of an object";

}  // namespace

BufferRangeReader::BufferRangeReader(std::shared_ptr<arrow::Buffer> buffer, std::string name)
    : buffer_(std::move(buffer)), name_(std::move(name)) {}

int64_t BufferRangeReader::size() const {
  return buffer_->size();
}

arrow::Future<Buffers> BufferRangeReader::Read(std::vector<ByteRange> ranges) const {
  const arrow::Status status = CheckRanges(ranges, size(), name_);
  if (!status.ok()) return arrow::Future<Buffers>::MakeFinished(status);
  return arrow::Future<Buffers>::MakeFinished(Slice(buffer_, ranges));
}

std::optional<Buffers> BufferRangeReader::TryRead(std::span<const ByteRange> ranges) const {
  for (const ByteRange& range : ranges) {
    if (!LiesWithin(range, size())) return std::nullopt;
  }
  return Slice(buffer_, ranges);
}

SubrangeReader::SubrangeReader(std::shared_ptr<const RangeReader> base, ByteRange part)
    : base_(std::move(base)), part_(part) {}

int64_t SubrangeReader::size() const {
  return part_.length;
}

arrow::Future<Buffers> SubrangeReader::Read(std::vector<ByteRange> ranges) const {
  const arrow::Status status = CheckRanges(ranges, size(), kPartName);
  if (!status.ok()) return arrow::Future<Buffers>::MakeFinished(status);
  for (ByteRange& range : ranges) range.offset += part_.offset;
  return base_->Read(std::move(ranges));
}

std::optional<Buffers> SubrangeReader::TryRead(std::span<const ByteRange> ranges) const {
  for (const ByteRange& range : ranges) {
    if (!LiesWithin(range, size())) return std::nullopt;
  }
  return base_->TryRead(Shift(ranges, part_.offset));
}

}  // namespace infino
