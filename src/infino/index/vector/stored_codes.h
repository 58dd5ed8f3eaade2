#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/vector/vector_index_reader.h"

namespace infino::vector {

/// Documents and codes of an index as far as they were read, checked. Filled by one thread, then
/// shared.
class StoredCodes {
 public:
  /// Takes from the reader what it needs.
  explicit StoredCodes(const VectorIndexReader& index);

  /// Takes chunks of documents [begin, end), as one range of the blob. kCorrupt for a wrong
  /// checksum and for a document past the last row.
  [[nodiscard]] arrow::Status AddDocs(const VectorIndexReader& index, uint32_t begin, uint32_t end,
                                      const arrow::Buffer& bytes);

  /// Takes blocks [begin, end), as one range of the blob, after all before them. kCorrupt for a
  /// wrong checksum.
  [[nodiscard]] arrow::Status AddBlocks(const VectorIndexReader& index, uint32_t begin,
                                        uint32_t end, std::shared_ptr<arrow::Buffer> bytes);

  /// Whether all documents and all blocks are there.
  [[nodiscard]] bool complete() const;

  /// The document at a position. REQUIRES: its chunk was added.
  [[nodiscard]] DocId DocAt(uint32_t position) const {
    return docs_[position / kDocChunkSize][position % kDocChunkSize];
  }

  /// The documents from a position on, up to the end of its block. REQUIRES: as DocAt.
  [[nodiscard]] const DocId* DocsFrom(uint32_t position) const {
    return docs_[position / kDocChunkSize].data() + position % kDocChunkSize;
  }

  /// The block's content. REQUIRES: it was added.
  [[nodiscard]] const uint8_t* Block(uint32_t number) const;

  /// Finds out the positions of documents. REQUIRES: complete().
  void IndexPositions();

  /// The position of each document, empty before IndexPositions.
  [[nodiscard]] std::span<const uint32_t> positions() const { return positions_; }

  [[nodiscard]] int64_t memory_bytes() const;

 private:
  struct Extent {
    uint32_t begin = 0;
    uint32_t end = 0;
    std::shared_ptr<arrow::Buffer> bytes;
  };

  uint32_t row_count_;
  uint32_t block_count_;
  size_t block_bytes_;
  uint32_t chunks_added_ = 0;
  uint32_t blocks_added_ = 0;
  std::vector<std::vector<DocId>> docs_;  // by chunk
  std::vector<Extent> extents_;           // ascending
  std::vector<uint32_t> positions_;
};

/// All rows of an index. A row's checksum is looked at once, when it is first wanted. Thread-safe.
class WholeRows {
 public:
  /// `bytes` is the section of rows.
  WholeRows(const VectorIndexReader& index, std::shared_ptr<arrow::Buffer> bytes);

  /// The row at a position, or null if its checksum is wrong.
  [[nodiscard]] const uint8_t* RowAt(uint32_t position) const {
    const uint64_t word = checked_[position / 64].load(std::memory_order_relaxed);
    return (word >> (position % 64) & 1) != 0 ? Peek(position) : CheckedRowAt(position);
  }

  /// Where the row is, unchecked: to have it fetched into the processor's cache.
  [[nodiscard]] const uint8_t* Peek(uint32_t position) const {
    return bytes_->data() + size_t{position} * row_bytes_;
  }

  [[nodiscard]] int64_t memory_bytes() const { return bytes_->size() + bytes_->size() / 512; }

 private:
  [[nodiscard]] const uint8_t* CheckedRowAt(uint32_t position) const;

  size_t row_bytes_;
  std::shared_ptr<arrow::Buffer> bytes_;
  std::unique_ptr<std::atomic<uint64_t>[]> checked_;  // a bit a row
};

/// A kCorrupt status unless the row's checksum is right. REQUIRES: row has the index's row_bytes().
[[nodiscard]] arrow::Status CheckRow(const VectorIndexReader& index, uint32_t position,
                                     std::span<const uint8_t> row);

}  // namespace infino::vector
