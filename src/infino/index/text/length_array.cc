#include "infino/index/text/length_array.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/status.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {
namespace {

constexpr uint64_t kNoChunk = std::numeric_limits<uint64_t>::max();

}  // namespace

uint64_t LengthChunkBytes(uint64_t count, uint32_t width) {
  return count / kBlockSize * PackedBlockBytes(width) + PackedArrayBytes(count % kBlockSize, width);
}

LengthChunk WriteLengthChunk(std::span<const uint32_t> lengths, ByteWriter& out) {
  const uint32_t width = PackedWidth(lengths);
  std::vector<uint8_t> bytes(LengthChunkBytes(lengths.size(), width));
  std::span<uint8_t> rest(bytes);
  while (lengths.size() >= kBlockSize) {
    PackBlock(ConstBlockSpan(lengths.first(kBlockSize)), width, rest);
    rest = rest.subspan(PackedBlockBytes(width));
    lengths = lengths.subspan(kBlockSize);
  }
  PackArray(lengths, width, rest);
  const LengthChunk chunk{
      .offset = out.size(), .checksum = Crc32c(bytes), .width = static_cast<uint8_t>(width)};
  out.WriteBytes(bytes);
  return chunk;
}

LengthReader::LengthReader(const TextIndexReader& index, std::shared_ptr<arrow::Buffer> section)
    : index_(&index), section_(std::move(section)), chunk_(kNoChunk) {}

arrow::Status LengthReader::MoveTo(DocId doc) {
  const uint64_t wanted = doc / kLengthChunkSize;
  if (wanted == chunk_) return arrow::Status::OK();
  const LengthChunk& chunk = index_->length_chunks()[wanted];
  const uint64_t first = wanted * kLengthChunkSize;
  const auto rows = static_cast<uint64_t>(index_->summary().row_count);
  const uint64_t count = std::min<uint64_t>(kLengthChunkSize, rows - first);
  const uint64_t size = LengthChunkBytes(count, chunk.width);
  const ByteSpan section(section_->data(), static_cast<size_t>(section_->size()));
  if (chunk.offset > section.size() || size > section.size() - chunk.offset) {
    return CorruptIndex(index_->name(), "document lengths end too early");
  }
  const ByteSpan bytes = section.subspan(chunk.offset, size);
  if (!ChecksumMatches(bytes, chunk.checksum)) {
    return CorruptIndex(index_->name(), "checksum of document lengths does not match: offset=" +
                                            std::to_string(chunk.offset));
  }
  chunk_ = wanted;
  count_ = static_cast<uint32_t>(count);
  decoded_ = 0;
  width_ = chunk.width;
  bytes_ = bytes;
  return arrow::Status::OK();
}

void LengthReader::Decode(uint32_t block) {
  decoded_ |= uint32_t{1} << block;
  const uint32_t first = block * kBlockSize;
  const ByteSpan packed = bytes_.subspan(block * PackedBlockBytes(width_));
  const std::span<uint32_t> out = std::span(lengths_).subspan(first, kBlockSize);
  if (count_ - first >= kBlockSize) {
    UnpackBlock(packed, width_, BlockSpan(out));
  } else {
    UnpackArray(packed, width_, out.first(count_ - first));
  }
}

}  // namespace infino::text
