#include "infino/index/text/postings_writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/text_format.h"

namespace infino::text {
namespace {

static_assert(kBlockSize == kPackedBlockCount);

/// Bytes of a bitmap that reaches from `next` to `last`.
size_t BitmapBytes(DocId next, DocId last) {
  return (size_t{last} - next) / 8 + 1;
}

}  // namespace

void PostingsWriter::Begin(uint32_t document_count) {
  document_count_ = document_count;
  last_doc_ = kNoBase;
  super_block_base_ = kNoBase;
  block_count_ = 0;
  directory_.Clear();
  packed_.Clear();
  skip_.Clear();
  body_.Clear();
}

void PostingsWriter::Add(const PostingsBlock& block) {
  for (size_t i = 0; i < block.docs.size(); ++i) {
    block_impacts_.Add({.frequency = block.frequencies[i], .length = block.lengths[i]});
  }
  const std::span<const Impact> impacts = block_impacts_.Finish();
  term_impacts_.Add(impacts);
  if (document_count_ <= kBlockSize) {
    AddOnlyBlock(block);
    return;
  }
  super_block_impacts_.Add(impacts);

  const size_t count = block.docs.size();
  const std::span<uint32_t> numbers = std::span(scratch_).first(count);
  ComputeDeltas(block.docs, last_doc_, numbers);
  const uint32_t doc_width = PackedWidth(numbers);
  const bool as_bitmap =
      BitmapBytes(next_doc(), block.docs.back()) < PackedArrayBytes(count, doc_width);
  const uint8_t doc_code = as_bitmap ? kBitmapCode : static_cast<uint8_t>(doc_width);
  const DocId gap = block.docs.back() - next_doc();
  WriteDocs(block.docs, doc_code);
  std::ranges::transform(block.frequencies, numbers.begin(), [](uint32_t f) { return f - 1; });
  const uint32_t frequency_width = PackedWidth(numbers);
  WriteNumbers(numbers, frequency_width);

  directory_.WriteVarint(gap);
  directory_.WriteU8(doc_code);
  directory_.WriteU8(static_cast<uint8_t>(frequency_width));
  WriteImpacts(impacts, directory_);
  last_doc_ = block.docs.back();
  if (++block_count_ == kSuperBlockBlocks) EndSuperBlock();
}

void PostingsWriter::AddOnlyBlock(const PostingsBlock& block) {
  std::array<uint32_t, kBlockSize> deltas;
  std::array<uint32_t, kBlockSize> frequencies;
  const size_t count = block.docs.size();
  const std::span<uint32_t> gaps = std::span(deltas).first(count);
  const std::span<uint32_t> less_one = std::span(frequencies).first(count);
  ComputeDeltas(block.docs, kNoBase, gaps);
  std::ranges::transform(block.frequencies, less_one.begin(), [](uint32_t f) { return f - 1; });
  const uint32_t doc_width = PackedWidth(gaps);
  const uint32_t frequency_width = PackedWidth(less_one);
  const uint32_t length_width = PackedWidth(block.lengths);
  packed_.WriteU8(static_cast<uint8_t>(doc_width));
  packed_.WriteU8(static_cast<uint8_t>(frequency_width));
  packed_.WriteU8(static_cast<uint8_t>(length_width));
  std::array<uint8_t, PackedArrayBytes(kBlockSize, kBitWidthMax)> bytes;
  const auto write = [&](std::span<const uint32_t> values, uint32_t width) {
    const std::span<uint8_t> out = std::span(bytes).first(PackedArrayBytes(values.size(), width));
    PackArray(values, width, out);
    packed_.WriteBytes(out);
  };
  write(gaps, doc_width);
  write(less_one, frequency_width);
  write(block.lengths, length_width);
  body_.WriteBytes(packed_.bytes());
  body_.WriteU32(Crc32c(packed_.bytes()));
}

void PostingsWriter::WriteDocs(std::span<const DocId> docs, uint8_t code) {
  if (code != kBitmapCode) {
    WriteNumbers(std::span(scratch_).first(docs.size()), code);
    return;
  }
  std::array<uint8_t, PackedArrayBytes(kBlockSize, kBitWidthMax)> bitmap{};
  const size_t size = BitmapBytes(next_doc(), docs.back());
  for (const DocId doc : docs) {
    const DocId bit = doc - next_doc();
    bitmap[bit / 8] = static_cast<uint8_t>(bitmap[bit / 8] | (1U << (bit % 8)));
  }
  packed_.WriteBytes(std::span(bitmap).first(size));
}

void PostingsWriter::WriteNumbers(std::span<const uint32_t> values, uint32_t width) {
  std::array<uint8_t, PackedArrayBytes(kBlockSize, kBitWidthMax)> bytes;
  const std::span<uint8_t> out = std::span(bytes).first(PackedArrayBytes(values.size(), width));
  if (values.size() == kBlockSize) {
    PackBlock(ConstBlockSpan(values), width, out);
  } else {
    PackArray(values, width, out);
  }
  packed_.WriteBytes(out);
}

void PostingsWriter::EndSuperBlock() {
  const uint32_t checksum = ExtendCrc32c(Crc32c(directory_.bytes()), packed_.bytes());
  skip_.WriteVarint(last_doc_ - (super_block_base_ + 1));
  skip_.WriteVarint(directory_.size() + packed_.size());
  WriteImpacts(super_block_impacts_.Finish(), skip_);
  skip_.WriteU32(checksum);
  body_.WriteBytes(directory_.bytes());
  body_.WriteBytes(packed_.bytes());
  directory_.Clear();
  packed_.Clear();
  super_block_base_ = last_doc_;
  block_count_ = 0;
}

void PostingsWriter::End() {
  if (block_count_ > 0) EndSuperBlock();
  if (skip_.size() > 0) skip_.WriteU32(Crc32c(skip_.bytes()));
  const std::span<const Impact> impacts = term_impacts_.Finish();
  impacts_.assign(impacts.begin(), impacts.end());
}

}  // namespace infino::text
