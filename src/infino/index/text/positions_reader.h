#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// The positions of one term's postings, block by block, in any order. Single-threaded.
class PositionsReader {
 public:
  /// `bytes` are the entry's positions, whole: `positions_length` bytes behind its postings, or
  /// null if they stand in the dictionary, whose block then outlives the reader, as does `index`.
  /// kCorrupt for bytes that break the format. REQUIRES: index.has_positions().
  [[nodiscard]] static arrow::Result<PositionsReader> Make(const TextIndexReader& index,
                                                           const TermEntry& entry,
                                                           std::shared_ptr<arrow::Buffer> bytes);

  /// For one pass from front to back with a super-block in memory at a time, over the positions of
  /// a term of more than kBlockSize documents: `head` are their first HeadBytes(), and each
  /// super-block is opened before its blocks are read.
  [[nodiscard]] static arrow::Result<PositionsReader> MakePiecewise(
      const TextIndexReader& index, const TermEntry& entry, std::shared_ptr<arrow::Buffer> head);
  [[nodiscard]] static int64_t HeadBytes(const TermEntry& entry);

  /// Relative to the start of the positions.
  [[nodiscard]] ByteRange SuperBlockRange(size_t ordinal) const;
  [[nodiscard]] arrow::Status OpenSuperBlock(size_t ordinal, std::shared_ptr<arrow::Buffer> bytes);

  /// Like Read, but each position as the difference to the one before in its document.
  [[nodiscard]] arrow::Status ReadDifferences(size_t block, std::span<const uint32_t> frequencies,
                                              std::vector<uint32_t>& differences);

  /// Replaces the content of `positions` with those of the block's documents, one document after
  /// the other, ascending in each. `frequencies` are the block's, and say how many each has.
  [[nodiscard]] arrow::Status Read(size_t block, std::span<const uint32_t> frequencies,
                                   std::vector<uint32_t>& positions);

  /// Replaces the content of `positions` with those of one document of the block: `count` of them,
  /// behind `begin` of the documents before it, of `total` in the block.
  [[nodiscard]] arrow::Status ReadOne(size_t block, uint64_t begin, uint32_t count, uint64_t total,
                                      std::vector<uint32_t>& positions);

  /// The same for the bytes of one block, by themselves.
  [[nodiscard]] static arrow::Status DecodeBlock(const TextIndexReader& index, ByteSpan block,
                                                 std::span<const uint32_t> frequencies,
                                                 std::vector<uint32_t>& positions);

 private:
  struct SuperBlock {
    uint64_t offset = 0;
    uint64_t length = 0;
    uint32_t checksum = 0;
  };

  PositionsReader(const TextIndexReader& index, std::shared_ptr<arrow::Buffer> buffer)
      : index_(&index), buffer_(std::move(buffer)) {}

  /// `length` is that of the positions, of which bytes_ has the beginning.
  [[nodiscard]] arrow::Status OpenSkipData(size_t block_count, uint64_t length);
  [[nodiscard]] arrow::Status LoadSuperBlock(size_t ordinal, ByteSpan bytes);
  [[nodiscard]] arrow::Result<ByteSpan> BlockBytes(size_t block);

  const TextIndexReader* index_;
  std::shared_ptr<arrow::Buffer> buffer_;
  ByteSpan bytes_;
  std::vector<SuperBlock> super_blocks_;  // empty for a term of one block
  size_t block_count_ = 1;
  size_t loaded_ = SIZE_MAX;      // the super-block that blocks_ are of
  std::vector<ByteSpan> blocks_;  // of that super-block, or the only one
};

}  // namespace infino::text
