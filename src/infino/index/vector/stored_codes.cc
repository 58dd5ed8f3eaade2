#include "infino/index/vector/stored_codes.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/vector_format.h"
#include "infino/index/vector/vector_index_reader.h"

namespace infino::vector {
namespace {

constexpr size_t kWordBits = 64;

}  // namespace

StoredCodes::StoredCodes(const VectorIndexReader& index)
    : row_count_(index.row_count()),
      block_count_(index.block_count()),
      block_bytes_(index.block_bytes()),
      docs_(index.doc_chunk_count()) {}

arrow::Status StoredCodes::AddDocs(const VectorIndexReader& index, uint32_t begin, uint32_t end,
                                   const arrow::Buffer& bytes) {
  const ByteSpan all(bytes.data(), static_cast<size_t>(bytes.size()));
  const int64_t start = index.DocChunk(begin).offset;
  for (uint32_t chunk = begin; chunk < end; ++chunk) {
    const ByteRange place = index.DocChunk(chunk);
    const ByteSpan stored =
        all.subspan(static_cast<size_t>(place.offset - start), static_cast<size_t>(place.length));
    if (!EndsWithChecksum(stored)) {
      return index.Corrupt("checksum of documents does not match: offset=" +
                           std::to_string(place.offset));
    }
    std::vector<DocId> docs(index.DocChunkSize(chunk));
    UnpackArray(stored, index.doc_width(), docs);
    if (std::ranges::any_of(docs, [&](DocId doc) { return doc >= row_count_; })) {
      return index.Corrupt("a document is past the last row: offset=" +
                           std::to_string(place.offset));
    }
    docs_[chunk] = std::move(docs);
  }
  chunks_added_ += end - begin;
  return arrow::Status::OK();
}

arrow::Status StoredCodes::AddBlocks(const VectorIndexReader& index, uint32_t begin, uint32_t end,
                                     std::shared_ptr<arrow::Buffer> bytes) {
  for (uint32_t block = begin; block < end; ++block) {
    const ByteSpan stored(bytes->data() + (block - begin) * block_bytes_, block_bytes_);
    if (EndsWithChecksum(stored)) continue;
    return index.Corrupt("checksum of codes does not match: offset=" +
                         std::to_string(index.Blocks(block, block + 1).offset));
  }
  extents_.push_back({.begin = begin, .end = end, .bytes = std::move(bytes)});
  blocks_added_ += end - begin;
  return arrow::Status::OK();
}

bool StoredCodes::complete() const {
  return chunks_added_ == docs_.size() && blocks_added_ == block_count_;
}

const uint8_t* StoredCodes::Block(uint32_t number) const {
  const auto after = extents_.size() == 1
                         ? extents_.end()
                         : std::ranges::upper_bound(extents_, number, {}, &Extent::begin);
  const Extent& extent = *(after - 1);
  return extent.bytes->data() + (number - extent.begin) * block_bytes_;
}

void StoredCodes::IndexPositions() {
  positions_.assign(row_count_, 0);
  uint32_t position = 0;
  for (const std::vector<DocId>& chunk : docs_) {
    for (const DocId doc : chunk) positions_[doc] = position++;
  }
}

int64_t StoredCodes::memory_bytes() const {
  return static_cast<int64_t>(size_t{blocks_added_} * block_bytes_ +
                              size_t{chunks_added_} * kDocChunkSize * sizeof(DocId) +
                              positions_.size() * sizeof(uint32_t));
}

arrow::Status CheckRow(const VectorIndexReader& index, uint32_t position,
                       std::span<const uint8_t> row) {
  if (EndsWithChecksum(row)) return arrow::Status::OK();
  return index.Corrupt("checksum of a vector does not match: offset=" +
                       std::to_string(index.Rows(position, position + 1).offset));
}

WholeRows::WholeRows(const VectorIndexReader& index, std::shared_ptr<arrow::Buffer> bytes)
    : row_bytes_(index.row_bytes()),
      bytes_(std::move(bytes)),
      checked_(std::make_unique<std::atomic<uint64_t>[]>(index.row_count() / kWordBits + 1)) {}

const uint8_t* WholeRows::CheckedRowAt(uint32_t position) const {
  const uint8_t* const row = Peek(position);
  if (!EndsWithChecksum({row, row_bytes_})) return nullptr;
  checked_[position / kWordBits].fetch_or(uint64_t{1} << (position % kWordBits),
                                          std::memory_order_relaxed);
  return row;
}

}  // namespace infino::vector
