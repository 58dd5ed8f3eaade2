#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// Encodes up to kLengthChunkSize document lengths and appends them to `out`. Returns the chunk as
/// the open part describes it, its offset being where `out` ended.
[[nodiscard]] LengthChunk WriteLengthChunk(std::span<const uint32_t> lengths, ByteWriter& out);

/// How many bytes a chunk of `count` lengths takes. REQUIRES: width <= kBitWidthMax.
[[nodiscard]] uint64_t LengthChunkBytes(uint64_t count, uint32_t width);

/// The lengths of documents, decoded block by block as they are asked for. Made for documents that
/// come in order: what is decoded of one chunk is forgotten with the next. Single-threaded.
class LengthReader {
 public:
  /// `section` is the index's whole section of lengths. `index` outlives the reader.
  LengthReader(const TextIndexReader& index, std::shared_ptr<arrow::Buffer> section);

  /// Moves to the chunk of `doc`, checking its checksum. REQUIRES: doc < row_count.
  [[nodiscard]] arrow::Status MoveTo(DocId doc);

  /// Makes the lengths of documents of the current chunk available. REQUIRES: ascending, at least
  /// one, as offsets from the chunk's first document.
  void Prepare(std::span<const uint16_t> offsets) {
    const uint32_t first = offsets.front() / kBlockSize;
    const uint32_t last = offsets.back() / kBlockSize;
    if (last - first < offsets.size()) {
      for (uint32_t block = first; block <= last; ++block) PrepareBlock(block);
    } else {
      for (const uint16_t offset : offsets) PrepareBlock(offset / kBlockSize);
    }
  }

  /// The lengths of the current chunk, right where they were prepared.
  [[nodiscard]] const std::array<uint32_t, kLengthChunkSize>& lengths() const { return lengths_; }

 private:
  static_assert(kLengthChunkSize / kBlockSize == 32, "decoded_ has a bit per block");

  void PrepareBlock(uint32_t block) {
    if ((decoded_ >> block & 1) == 0) Decode(block);
  }

  void Decode(uint32_t block);

  const TextIndexReader* index_;
  std::shared_ptr<arrow::Buffer> section_;
  uint64_t chunk_;
  uint32_t count_ = 0;    // lengths in the chunk
  uint32_t decoded_ = 0;  // a bit per block
  uint32_t width_ = 0;
  ByteSpan bytes_;
  std::array<uint32_t, kLengthChunkSize> lengths_;
};

}  // namespace infino::text
