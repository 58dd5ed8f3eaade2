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
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {
namespace {

size_t BlockTotal(const TermEntry& entry) {
  return (size_t{entry.document_frequency} + kBlockSize - 1) / kBlockSize;
}

ByteSpan BytesOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

arrow::Status DecodeDifferences(const TextIndexReader& index, ByteSpan block, uint64_t count,
                                std::vector<uint32_t>& differences) {
  differences.clear();
  if (count / kBlockSize > block.size() || count % kBlockSize > block.size()) {
    return CorruptIndex(index.name(), "positions end too early");
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
    return CorruptIndex(index.name(), "positions are malformed");
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<PositionsReader> PositionsReader::Make(const TextIndexReader& index,
                                                     const TermEntry& entry,
                                                     std::shared_ptr<arrow::Buffer> bytes) {
  PositionsReader reader(index, std::move(bytes));
  if (reader.buffer_ == nullptr) {
    reader.blocks_ = {entry.inline_positions};
    return reader;
  }
  reader.bytes_ = BytesOf(*reader.buffer_);
  if (entry.document_frequency > kBlockSize) {
    ARROW_RETURN_NOT_OK(reader.OpenSkipData(BlockTotal(entry), reader.bytes_.size()));
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

arrow::Result<PositionsReader> PositionsReader::MakePiecewise(const TextIndexReader& index,
                                                              const TermEntry& entry,
                                                              std::shared_ptr<arrow::Buffer> head) {
  PositionsReader reader(index, std::move(head));
  reader.bytes_ = BytesOf(*reader.buffer_);
  ARROW_RETURN_NOT_OK(reader.OpenSkipData(BlockTotal(entry), entry.positions_length));
  return reader;
}

int64_t PositionsReader::HeadBytes(const TermEntry& entry) {
  constexpr uint64_t kEntrySizeMax = 14;
  const uint64_t super_blocks = (BlockTotal(entry) + kSuperBlockBlocks - 1) / kSuperBlockBlocks;
  return static_cast<int64_t>(
      std::min(super_blocks * kEntrySizeMax + kChecksumSize, entry.positions_length));
}

ByteRange PositionsReader::SuperBlockRange(size_t ordinal) const {
  const SuperBlock& super_block = super_blocks_[ordinal];
  return {.offset = static_cast<int64_t>(super_block.offset),
          .length = static_cast<int64_t>(super_block.length)};
}

arrow::Status PositionsReader::OpenSuperBlock(size_t ordinal,
                                              std::shared_ptr<arrow::Buffer> bytes) {
  buffer_ = std::move(bytes);
  return LoadSuperBlock(ordinal, BytesOf(*buffer_));
}

arrow::Status PositionsReader::OpenSkipData(size_t block_count, uint64_t length) {
  block_count_ = block_count;
  const size_t count = (block_count + kSuperBlockBlocks - 1) / kSuperBlockBlocks;
  constexpr size_t kEntrySizeMin = 5;
  if (count > bytes_.size() / kEntrySizeMin) {
    return CorruptIndex(index_->name(), "skip data of positions is too short");
  }
  BlockReader in(bytes_);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t size = in.Varint(length);
    super_blocks_.push_back({.length = size, .checksum = in.U32()});
  }
  const size_t size = in.offset();
  if (!ChecksumMatches(bytes_.first(size), in.U32()) || !in.ok()) {
    return CorruptIndex(index_->name(), "checksum of the skip data of positions does not match");
  }
  uint64_t offset = in.offset();
  for (SuperBlock& super_block : super_blocks_) {
    super_block.offset = offset;
    if (super_block.length > length - offset) in.Fail();
    offset += super_block.length;
    if (!in.ok()) break;
  }
  if (!in.ok() || offset != length) {
    return CorruptIndex(index_->name(), "positions have another size than they say");
  }
  return arrow::Status::OK();
}

arrow::Status PositionsReader::LoadSuperBlock(size_t ordinal, ByteSpan bytes) {
  loaded_ = SIZE_MAX;
  blocks_.clear();
  if (!ChecksumMatches(bytes, super_blocks_[ordinal].checksum)) {
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

/// The bytes of a block, of whichever super-block.
arrow::Result<ByteSpan> PositionsReader::BlockBytes(size_t block) {
  if (super_blocks_.empty()) return blocks_[block];
  const size_t wanted = block / kSuperBlockBlocks;
  if (wanted != loaded_) {
    const SuperBlock& super_block = super_blocks_[wanted];
    ARROW_RETURN_NOT_OK(
        LoadSuperBlock(wanted, bytes_.subspan(super_block.offset, super_block.length)));
  }
  return blocks_[block % kSuperBlockBlocks];
}

arrow::Status PositionsReader::ReadDifferences(size_t block, std::span<const uint32_t> frequencies,
                                               std::vector<uint32_t>& differences) {
  uint64_t count = 0;
  for (const uint32_t frequency : frequencies) count += frequency;
  ARROW_ASSIGN_OR_RAISE(const ByteSpan bytes, BlockBytes(block));
  return DecodeDifferences(*index_, bytes, count, differences);
}

arrow::Status PositionsReader::Read(size_t block, std::span<const uint32_t> frequencies,
                                    std::vector<uint32_t>& positions) {
  ARROW_ASSIGN_OR_RAISE(const ByteSpan bytes, BlockBytes(block));
  return DecodeBlock(*index_, bytes, frequencies, positions);
}

arrow::Status PositionsReader::DecodeBlock(const TextIndexReader& index, ByteSpan block,
                                           std::span<const uint32_t> frequencies,
                                           std::vector<uint32_t>& positions) {
  uint64_t count = 0;
  for (const uint32_t frequency : frequencies) count += frequency;
  ARROW_RETURN_NOT_OK(DecodeDifferences(index, block, count, positions));
  size_t at = 0;
  for (const uint32_t frequency : frequencies) {
    uint32_t position = 0;
    for (uint32_t i = 0; i < frequency; ++i, ++at) {
      if (positions[at] > std::numeric_limits<uint32_t>::max() - position) {
        return CorruptIndex(index.name(), "positions are too large");
      }
      position += positions[at];
      positions[at] = position;
    }
  }
  return arrow::Status::OK();
}

arrow::Status PositionsReader::ReadOne(size_t block, uint64_t begin, uint32_t count, uint64_t total,
                                       std::vector<uint32_t>& positions) {
  ARROW_ASSIGN_OR_RAISE(const ByteSpan bytes, BlockBytes(block));
  BlockReader in(bytes);
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
