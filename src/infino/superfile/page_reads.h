#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"

namespace infino {

/// A page among PageReads.
struct PlannedPage {
  size_t read = 0;     ///< Which of the ranges has it.
  int64_t offset = 0;  ///< In that range.
  int64_t length = 0;
};

/// The pages that one round reads, of whichever columns, and then their bytes. Single-threaded.
class PageReads {
 public:
  /// Asks for a page. One that follows the page asked for before it is read with it.
  PlannedPage Add(const ByteRange& place, uint32_t checksum);

  [[nodiscard]] const std::vector<ByteRange>& ranges() const { return ranges_; }

  /// Takes the bytes of ranges(), in their order. kCorrupt, naming `object` and the offset, if a
  /// page does not have its checksum.
  [[nodiscard]] arrow::Status Take(Buffers bytes, const std::string& object);

  /// REQUIRES: taken, and not dropped.
  [[nodiscard]] ByteSpan BytesOf(const PlannedPage& page) const;
  [[nodiscard]] std::shared_ptr<arrow::Buffer> BufferOf(const PlannedPage& page) const;

  /// Where the page is in the file.
  [[nodiscard]] int64_t OffsetOf(const PlannedPage& page) const;

  void DropBytes() { bytes_.clear(); }

 private:
  struct Asked {
    PlannedPage page;
    uint32_t checksum = 0;
  };

  std::vector<ByteRange> ranges_;
  std::vector<Asked> asked_;
  Buffers bytes_;
};

}  // namespace infino
