#include "infino/index/text/length_array.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {
namespace {

/// Unpacks a chunk into `out`, which takes its width, and returns the greatest length of it.
template <typename Length>
uint32_t UnpackChunk(ByteSpan packed, uint32_t width, std::span<Length> out) {
  std::array<uint32_t, kBlockSize> block;
  uint32_t longest = 0;
  while (!out.empty()) {
    const size_t count = std::min<size_t>(out.size(), kBlockSize);
    const std::span<uint32_t> lengths = std::span(block).first(count);
    if (count == kBlockSize) {
      UnpackBlock(packed, width, block);
      packed = packed.subspan(PackedBlockBytes(width));
    } else {
      UnpackArray(packed, width, lengths);
    }
    for (const uint32_t length : lengths) longest = std::max(longest, length);
    std::ranges::transform(lengths, out.begin(),
                           [](uint32_t length) { return static_cast<Length>(length); });
    out = out.subspan(count);
  }
  return longest;
}

/// Puts the lengths of all documents into `out`, which takes those of every chunk, and returns the
/// greatest.
template <typename Length>
arrow::Result<uint32_t> DecodeChunks(const TextIndexReader& index, ByteSpan section,
                                     std::vector<Length>& out) {
  const auto rows = static_cast<uint64_t>(index.summary().row_count);
  out.resize(rows);
  uint32_t longest = 0;
  for (uint64_t first = 0; first < rows; first += kLengthChunkSize) {
    const LengthChunk& chunk = index.length_chunks()[first / kLengthChunkSize];
    const uint64_t count = std::min<uint64_t>(kLengthChunkSize, rows - first);
    const uint64_t size = LengthChunkBytes(count, chunk.width);
    if (chunk.offset > section.size() || size > section.size() - chunk.offset) {
      return CorruptIndex(index.name(), "document lengths end too early");
    }
    const ByteSpan packed = section.subspan(chunk.offset, size);
    if (!ChecksumMatches(packed, chunk.checksum)) {
      return CorruptIndex(index.name(), "checksum of document lengths does not match: offset=" +
                                            std::to_string(chunk.offset));
    }
    const std::span<Length> lengths = std::span(out).subspan(first, count);
    longest = std::max(longest, UnpackChunk(packed, chunk.width, lengths));
  }
  return longest;
}

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

arrow::Result<std::shared_ptr<const DocLengths>> DocLengths::Decode(const TextIndexReader& index,
                                                                    ByteSpan section) {
  auto lengths = std::make_shared<DocLengths>(Private());
  uint32_t width = 0;
  for (const LengthChunk& chunk : index.length_chunks()) {
    width = std::max<uint32_t>(width, chunk.width);
  }
  if (width <= 8) {
    ARROW_ASSIGN_OR_RAISE(lengths->longest_, DecodeChunks(index, section, lengths->bytes_));
  } else if (width <= 16) {
    ARROW_ASSIGN_OR_RAISE(lengths->longest_, DecodeChunks(index, section, lengths->narrow_));
  } else {
    ARROW_ASSIGN_OR_RAISE(lengths->longest_, DecodeChunks(index, section, lengths->wide_));
  }
  return lengths;
}

}  // namespace infino::text
