#include "infino/index/text/length_array.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <arrow/result.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

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

arrow::Result<std::shared_ptr<const DocLengths>> DocLengths::Decode(const TextIndexReader& index,
                                                                    ByteSpan section) {
  auto lengths = std::make_shared<DocLengths>(Private());
  const std::vector<LengthChunk>& chunks = index.length_chunks();
  const auto rows = static_cast<uint64_t>(index.summary().row_count);
  uint32_t width = 0;
  for (const LengthChunk& chunk : chunks) width = std::max<uint32_t>(width, chunk.width);
  if (width <= 8) {
    lengths->bytes_.resize(rows);
  } else if (width <= 16) {
    lengths->narrow_.resize(rows);
  } else {
    lengths->wide_.resize(rows);
  }
  std::array<uint32_t, kBlockSize> block;
  for (uint64_t first = 0; first < rows; first += kLengthChunkSize) {
    const LengthChunk& chunk = chunks[first / kLengthChunkSize];
    const uint64_t count = std::min<uint64_t>(kLengthChunkSize, rows - first);
    const uint64_t size = LengthChunkBytes(count, chunk.width);
    if (chunk.offset > section.size() || size > section.size() - chunk.offset) {
      return CorruptIndex(index.name(), "document lengths end too early");
    }
    ByteSpan packed = section.subspan(chunk.offset, size);
    if (!ChecksumMatches(packed, chunk.checksum)) {
      return CorruptIndex(index.name(), "checksum of document lengths does not match: offset=" +
                                            std::to_string(chunk.offset));
    }
    for (uint64_t at = first; at < first + count; at += kBlockSize) {
      const uint64_t left = std::min<uint64_t>(kBlockSize, first + count - at);
      if (left == kBlockSize) {
        UnpackBlock(packed, chunk.width, block);
        packed = packed.subspan(PackedBlockBytes(chunk.width));
      } else {
        UnpackArray(packed, chunk.width, std::span(block).first(left));
      }
      for (const uint32_t length : std::span(block).first(left)) {
        lengths->longest_ = std::max(lengths->longest_, length);
      }
      const auto store = [&](auto* all) {
        using Length = std::remove_pointer_t<decltype(all)>;
        for (uint64_t k = 0; k < left; ++k) all[at + k] = static_cast<Length>(block[k]);
      };
      if (width <= 8) {
        store(lengths->bytes_.data());
      } else if (width <= 16) {
        store(lengths->narrow_.data());
      } else {
        store(lengths->wide_.data());
      }
    }
  }
  return lengths;
}

}  // namespace infino::text
