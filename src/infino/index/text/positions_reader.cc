#include "infino/index/text/positions_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

arrow::Result<PositionsReader> PositionsReader::Make(const TextIndexReader& index,
                                                     const TermEntry& entry,
                                                     std::shared_ptr<arrow::Buffer> bytes) {
  PositionsReader reader(index, std::move(bytes));
  if (reader.buffer_ == nullptr) {
    reader.blocks_ = {entry.inline_positions};
    return reader;
  }
  reader.bytes_ = {reader.buffer_->data(), static_cast<size_t>(reader.buffer_->size())};
  if (entry.document_frequency > kBlockSize) {
    const size_t blocks = (size_t{entry.document_frequency} + kBlockSize - 1) / kBlockSize;
    ARROW_RETURN_NOT_OK(reader.OpenSkipData(blocks));
    return reader;
  }
  if (reader.bytes_.size() < kChecksumSize) {
    return CorruptIndex(index.name(), "positions are too short");
  }
  const ByteSpan content = reader.bytes_.first(reader.bytes_.size() - kChecksumSize);
  if (!ChecksumMatches(content, LoadU32(content.data() + content.size()))) {
    return CorruptIndex(index.name(), "checksum of positions does not match");
  }
  reader.blocks_ = {content};
  return reader;
}

arrow::Status PositionsReader::OpenSkipData(size_t block_count) {
  block_count_ = block_count;
  const size_t count = (block_count + kSuperBlockBlocks - 1) / kSuperBlockBlocks;
  constexpr size_t kEntrySizeMin = 5;
  if (count > bytes_.size() / kEntrySizeMin) {
    return CorruptIndex(index_->name(), "skip data of positions is too short");
  }
  BlockReader in(bytes_);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t length = in.Varint(bytes_.size());
    super_blocks_.push_back({.length = length, .checksum = in.U32()});
  }
  const size_t size = in.offset();
  if (!ChecksumMatches(bytes_.first(size), in.U32()) || !in.ok()) {
    return CorruptIndex(index_->name(), "checksum of the skip data of positions does not match");
  }
  uint64_t offset = in.offset();
  for (SuperBlock& super_block : super_blocks_) {
    super_block.offset = offset;
    if (super_block.length > bytes_.size() - offset) in.Fail();
    offset += super_block.length;
    if (!in.ok()) break;
  }
  if (!in.ok() || offset != bytes_.size()) {
    return CorruptIndex(index_->name(), "positions have another size than they say");
  }
  return arrow::Status::OK();
}

arrow::Status PositionsReader::LoadSuperBlock(size_t ordinal) {
  if (ordinal == loaded_) return arrow::Status::OK();
  const SuperBlock& super_block = super_blocks_[ordinal];
  const ByteSpan bytes = bytes_.subspan(super_block.offset, super_block.length);
  loaded_ = SIZE_MAX;
  blocks_.clear();
  if (!ChecksumMatches(bytes, super_block.checksum)) {
    return CorruptIndex(index_->name(), "checksum of positions does not match");
  }
  const size_t count =
      std::min<size_t>(kSuperBlockBlocks, block_count_ - ordinal * kSuperBlockBlocks);
  BlockReader in(bytes);
  std::vector<uint64_t> sizes(count);
  for (uint64_t& size : sizes) size = in.Varint(bytes.size());
  for (const uint64_t size : sizes) blocks_.push_back(in.Bytes(size));
  if (!in.ok() || in.remaining() != 0) {
    return CorruptIndex(index_->name(), "positions are malformed");
  }
  loaded_ = ordinal;
  return arrow::Status::OK();
}

arrow::Status PositionsReader::Decode(ByteSpan block, uint64_t count,
                                      std::vector<uint32_t>& differences) const {
  differences.clear();
  if (count / kBlockSize > block.size() || count % kBlockSize > block.size()) {
    return CorruptIndex(index_->name(), "positions end too early");
  }
  differences.resize(count);
  BlockReader in(block);
  std::span<uint32_t> left(differences);
  while (left.size() >= kBlockSize && in.ok()) {
    const uint32_t width = in.U8();
    if (width > kBitWidthMax) in.Fail();
    const ByteSpan packed = in.Bytes(PackedBlockBytes(width));
    if (!in.ok()) break;
    UnpackBlock(packed, width, BlockSpan(left.first(kBlockSize)));
    left = left.subspan(kBlockSize);
  }
  if (in.ok()) {
    for (uint32_t& difference : left) {
      difference = in.Varint32(std::numeric_limits<uint32_t>::max());
    }
  }
  if (!in.ok() || in.remaining() != 0) {
    return CorruptIndex(index_->name(), "positions are malformed");
  }
  return arrow::Status::OK();
}

arrow::Status PositionsReader::Read(size_t block, std::span<const uint32_t> frequencies,
                                    std::vector<uint32_t>& positions) {
  uint64_t count = 0;
  for (const uint32_t frequency : frequencies) count += frequency;
  size_t ordinal = block;
  if (!super_blocks_.empty()) {
    ARROW_RETURN_NOT_OK(LoadSuperBlock(block / kSuperBlockBlocks));
    ordinal = block % kSuperBlockBlocks;
  }
  ARROW_RETURN_NOT_OK(Decode(blocks_[ordinal], count, positions));
  size_t at = 0;
  for (const uint32_t frequency : frequencies) {
    uint32_t position = 0;
    for (uint32_t i = 0; i < frequency; ++i, ++at) {
      if (positions[at] > std::numeric_limits<uint32_t>::max() - position) {
        return CorruptIndex(index_->name(), "positions are too large");
      }
      position += positions[at];
      positions[at] = position;
    }
  }
  return arrow::Status::OK();
}

arrow::Status PositionsReader::ReadOne(size_t block, uint64_t begin, uint32_t count, uint64_t total,
                                       std::vector<uint32_t>& positions) {
  size_t ordinal = block;
  if (!super_blocks_.empty()) {
    ARROW_RETURN_NOT_OK(LoadSuperBlock(block / kSuperBlockBlocks));
    ordinal = block % kSuperBlockBlocks;
  }
  BlockReader in(blocks_[ordinal]);
  const uint64_t end = begin + count;
  const uint64_t packed_end = total / kBlockSize * kBlockSize;
  positions.clear();
  uint32_t position = 0;
  bool fits = true;
  const auto add = [&](uint32_t difference) {
    fits = fits && difference <= std::numeric_limits<uint32_t>::max() - position;
    position += difference;
    positions.push_back(position);
  };
  uint64_t at = 0;
  for (; at < packed_end && at < end && in.ok(); at += kBlockSize) {
    const uint32_t width = in.U8();
    if (width > kBitWidthMax) in.Fail();
    const ByteSpan packed = in.Bytes(PackedBlockBytes(width));
    if (!in.ok()) break;
    const uint64_t last = std::min<uint64_t>(end, at + kBlockSize);
    for (uint64_t i = std::max(begin, at); i < last; ++i) {
      add(UnpackAtOfBlock(packed, width, i - at));
    }
  }
  for (; at < end && in.ok(); ++at) {
    const uint32_t difference = in.Varint32(std::numeric_limits<uint32_t>::max());
    if (at >= begin) add(difference);
  }
  if (!in.ok() || !fits) return CorruptIndex(index_->name(), "positions are malformed");
  return arrow::Status::OK();
}

}  // namespace infino::text
