#pragma once

#include <cstdint>
#include <memory>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"

namespace infino {

/// A temporary file: what a piece of work puts out of memory and reads again before it ends. Gone
/// with its owner, and with the process, however that ends. Single-threaded.
///
/// Failures name the folder: kResourceExhausted if the disk is full, else kUnavailable. After a
/// failed write the file is of no further use.
class ScratchFile {
 public:
  virtual ~ScratchFile() = default;

  /// Writes at the end.
  [[nodiscard]] virtual arrow::Status Append(ByteSpan bytes) = 0;

  /// Reads exactly `range`; kCorrupt if the file ends before.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::Buffer>> Read(
      ByteRange range) const = 0;

  [[nodiscard]] virtual int64_t size() const = 0;
};

/// Where temporary files are made. Thread-safe.
class ScratchSpace {
 public:
  virtual ~ScratchSpace() = default;

  /// An empty file. Fails as ScratchFile does, and with kInvalidArgument if there is no such
  /// folder.
  [[nodiscard]] virtual arrow::Result<std::unique_ptr<ScratchFile>> NewFile() = 0;
};

}  // namespace infino
