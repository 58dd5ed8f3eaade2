#include "infino/index/text/positions_writer.h"

#include <array>
#include <cstdint>
#include <span>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/index/text/text_format.h"

namespace infino::text {

void PositionsWriter::Begin(uint32_t document_count) {
  document_count_ = document_count;
  block_count_ = 0;
  directory_.Clear();
  packed_.Clear();
  skip_.Clear();
  body_.Clear();
  out_.Clear();
}

void PositionsWriter::Add(std::span<const uint32_t> differences) {
  block_.Clear();
  while (differences.size() >= kBlockSize) {
    const ConstBlockSpan group(differences.first(kBlockSize));
    const uint32_t width = PackedWidth(group);
    std::array<uint8_t, PackedBlockBytes(kBitWidthMax)> bytes;
    const std::span<uint8_t> out = std::span(bytes).first(PackedBlockBytes(width));
    PackBlock(group, width, out);
    block_.WriteU8(static_cast<uint8_t>(width));
    block_.WriteBytes(out);
    differences = differences.subspan(kBlockSize);
  }
  for (const uint32_t difference : differences) block_.WriteVarint(difference);

  if (document_count_ <= kBlockSize) {
    out_.WriteBytes(block_.bytes());
    if (document_count_ == 1 && block_.size() <= kInlinePositionsMax) return;
    out_.WriteU32(Crc32c(block_.bytes()));
    return;
  }
  directory_.WriteVarint(block_.size());
  packed_.WriteBytes(block_.bytes());
  if (++block_count_ == kSuperBlockBlocks) EndSuperBlock();
}

void PositionsWriter::EndSuperBlock() {
  skip_.WriteVarint(directory_.size() + packed_.size());
  skip_.WriteU32(ExtendCrc32c(Crc32c(directory_.bytes()), packed_.bytes()));
  body_.WriteBytes(directory_.bytes());
  body_.WriteBytes(packed_.bytes());
  directory_.Clear();
  packed_.Clear();
  block_count_ = 0;
}

void PositionsWriter::End() {
  if (block_count_ > 0) EndSuperBlock();
  if (skip_.size() == 0) return;
  out_.WriteBytes(skip_.bytes());
  out_.WriteU32(Crc32c(skip_.bytes()));
  out_.WriteBytes(body_.bytes());
}

}  // namespace infino::text
