#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"

namespace infino {

/// A RangeReader over bytes in memory: small superfiles that were read whole, tests, fuzzers.
/// Thread-safe; keeps the buffer alive.
class BufferRangeReader final : public RangeReader {
 public:
  /// `name` is what errors call the object.
  BufferRangeReader(std::shared_ptr<arrow::Buffer> buffer, std::string name);

  [[nodiscard]] int64_t size() const override;
  [[nodiscard]] arrow::Future<Buffers> Read(std::vector<ByteRange> ranges) const override;
  [[nodiscard]] std::optional<Buffers> TryRead(std::span<const ByteRange> ranges) const override;

 private:
  std::shared_ptr<arrow::Buffer> buffer_;
  std::string name_;
};

/// A RangeReader over a part of another one, with offsets relative to that part. Thread-safe.
class SubrangeReader final : public RangeReader {
 public:
  /// REQUIRES: `part` lies inside `base`.
  SubrangeReader(std::shared_ptr<const RangeReader> base, ByteRange part);

  [[nodiscard]] int64_t size() const override;
  [[nodiscard]] arrow::Future<Buffers> Read(std::vector<ByteRange> ranges) const override;
  [[nodiscard]] std::optional<Buffers> TryRead(std::span<const ByteRange> ranges) const override;

 private:
  std::shared_ptr<const RangeReader> base_;
  ByteRange part_;
};

}  // namespace infino
