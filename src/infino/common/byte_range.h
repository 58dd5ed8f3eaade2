#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/util/future.h>

namespace infino {

/// A half-open range of bytes, relative to the start of whatever is being read.
struct ByteRange {
  int64_t offset = 0;
  int64_t length = 0;

  [[nodiscard]] int64_t end() const { return offset + length; }

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

using Buffers = std::vector<std::shared_ptr<arrow::Buffer>>;

/// Reads ranges of one immutable run of bytes: an object, or one blob inside a superfile.
///
/// This is the only way an index reaches its bytes. It never sees a store, a cache or a thread, so
/// every index is tested and fuzzed on a plain buffer.
class RangeReader {
 public:
  virtual ~RangeReader() = default;

  [[nodiscard]] virtual int64_t size() const = 0;

  /// Reads all of `ranges` in one round. The result has one buffer per range, in the same order,
  /// each exactly as long as asked for; a range past `size()` fails with kCorrupt before any IO.
  /// Neighbouring ranges may be merged into one request. Never blocks; safe from any thread.
  [[nodiscard]] virtual arrow::Future<Buffers> Read(std::vector<ByteRange> ranges) const = 0;

  /// The bytes if all of `ranges` are resident, else nothing. Never waits, never starts IO. Fails
  /// like Read on a range past `size()` by returning nothing.
  [[nodiscard]] virtual std::optional<Buffers> TryRead(std::span<const ByteRange> ranges) const = 0;
};

}  // namespace infino
