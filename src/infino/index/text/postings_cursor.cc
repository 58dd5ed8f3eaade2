#include "infino/index/text/postings_cursor.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {
namespace {

ByteSpan BytesOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

/// Unpacks a full block or the rest of one. REQUIRES: the bytes are there.
void Unpack(ByteSpan bytes, uint32_t width, std::span<uint32_t> out) {
  if (out.size() == kBlockSize) {
    UnpackBlock(bytes, width, BlockSpan(out));
  } else {
    UnpackArray(bytes, width, out);
  }
}

}  // namespace

PostingsCursor::PostingsCursor(Private /*tag*/, const TextIndexReader& index,
                               const TermEntry& entry, const std::optional<TermScoring>& scoring)
    : index_(&index), document_count_(entry.document_frequency), scoring_(scoring) {}

arrow::Result<std::unique_ptr<PostingsCursor>> PostingsCursor::Make(
    const TextIndexReader& index, const TermEntry& entry, std::shared_ptr<arrow::Buffer> postings,
    const std::optional<TermScoring>& scoring) {
  auto cursor = std::make_unique<PostingsCursor>(Private(), index, entry, scoring);
  if (entry.document_frequency == 1) {
    cursor->OpenSingle(entry);
    return cursor;
  }
  cursor->first_ = std::move(postings);
  if (entry.document_frequency <= kBlockSize) {
    ARROW_RETURN_NOT_OK(cursor->OpenOnlyBlock());
    cursor->blocks_.front().bound = cursor->BoundOf(entry.impacts);
  } else {
    ARROW_RETURN_NOT_OK(cursor->OpenSkipData(entry.skip_length, entry.postings_length));
  }
  return cursor;
}

arrow::Status PostingsCursor::Corrupt(const char* what) const {
  return CorruptIndex(index_->name(), what);
}

double PostingsCursor::BoundOf(std::span<const Impact> impacts) const {
  return scoring_.has_value() ? MaxContribution(impacts, scoring_->bm25, scoring_->idf) : 0;
}

void PostingsCursor::OpenSingle(const TermEntry& entry) {
  docs_ = {entry.single_doc};
  frequencies_ = {entry.impacts.front().frequency};
  own_lengths_ = {entry.impacts.front().length};
  blocks_.push_back(
      {.begin = entry.single_doc, .last = entry.single_doc, .bound = BoundOf(entry.impacts)});
  docs_decoded_ = true;
  frequencies_decoded_ = true;
  loaded_ = true;
}

arrow::Status PostingsCursor::OpenOnlyBlock() {
  const ByteSpan all = BytesOf(*first_);
  if (all.size() < kChecksumSize) return Corrupt("postings are too short");
  const ByteSpan content = all.first(all.size() - kChecksumSize);
  if (!ChecksumMatches(content, LoadU32(all.data() + content.size()))) {
    return Corrupt("checksum of postings does not match");
  }
  BlockReader in(content);
  const uint32_t doc_width = in.U8();
  const uint32_t frequency_width = in.U8();
  const uint32_t length_width = in.U8();
  if (doc_width > kBitWidthMax || frequency_width > kLengthWidthMax ||
      length_width > kLengthWidthMax) {
    return Corrupt("postings have an impossible width");
  }
  const ByteSpan docs = in.Bytes(PackedArrayBytes(document_count_, doc_width));
  const ByteSpan frequencies = in.Bytes(PackedArrayBytes(document_count_, frequency_width));
  const ByteSpan lengths = in.Bytes(PackedArrayBytes(document_count_, length_width));
  if (!in.ok() || in.remaining() != 0) return Corrupt("postings have another size than they say");
  docs_.resize(document_count_);
  frequencies_.resize(document_count_);
  own_lengths_.resize(document_count_);
  UnpackArray(docs, doc_width, docs_);
  UnpackArray(frequencies, frequency_width, frequencies_);
  UnpackArray(lengths, length_width, own_lengths_);
  for (uint32_t& frequency : frequencies_) ++frequency;
  if (!SumDeltas(kNoBase, docs_) || docs_.back() >= index_->summary().row_count) {
    return Corrupt("postings name documents past the last one");
  }
  blocks_.push_back({.begin = docs_.front(), .last = docs_.back()});
  docs_decoded_ = true;
  frequencies_decoded_ = true;
  loaded_ = true;
  return arrow::Status::OK();
}

arrow::Status PostingsCursor::OpenSkipData(uint64_t skip_length, uint64_t postings_length) {
  const ByteSpan all = BytesOf(*first_);
  if (skip_length > all.size() || skip_length < kChecksumSize) {
    return Corrupt("skip data is too short");
  }
  const ByteSpan content = all.first(skip_length - kChecksumSize);
  if (!ChecksumMatches(content, LoadU32(all.data() + content.size()))) {
    return Corrupt("checksum of skip data does not match");
  }
  const size_t count = (block_total() + kSuperBlockBlocks - 1) / kSuperBlockBlocks;
  constexpr size_t kEntrySizeMin = 9;
  if (count > content.size() / kEntrySizeMin) return Corrupt("skip data is too short");
  super_blocks_.reserve(count);
  BlockReader in(content);
  const auto row_count = static_cast<uint64_t>(index_->summary().row_count);
  uint64_t begin = 0;
  uint64_t offset = skip_length;
  for (size_t i = 0; i < count && in.ok(); ++i) {
    const uint64_t last = begin + in.Varint(row_count);
    const uint64_t length = in.Varint(std::min(postings_length - offset, kSuperBlockBytesMax));
    ReadImpacts(in, scratch_);
    const uint32_t checksum = in.U32();
    if (last >= row_count) in.Fail();
    super_blocks_.push_back({.begin = static_cast<DocId>(begin),
                             .last = static_cast<DocId>(last),
                             .checksum = checksum,
                             .offset = offset,
                             .length = length,
                             .bound = BoundOf(scratch_)});
    begin = last + 1;
    offset += length;
  }
  if (!in.ok() || in.remaining() != 0 || offset != postings_length) {
    return Corrupt("skip data is malformed");
  }
  rest_begin_ = count;
  while (rest_begin_ > 0 &&
         super_blocks_[rest_begin_ - 1].offset + super_blocks_[rest_begin_ - 1].length >
             all.size()) {
    --rest_begin_;
  }
  docs_.resize(kBlockSize);
  frequencies_.resize(kBlockSize);
  blocks_.reserve(kSuperBlockBlocks);
  return arrow::Status::OK();
}

std::optional<ByteRange> PostingsCursor::Missing() const {
  if (rest_begin_ >= super_blocks_.size() || rest_ != nullptr) return std::nullopt;
  const SuperBlock& first = super_blocks_[rest_begin_];
  const SuperBlock& last = super_blocks_.back();
  return ByteRange{.offset = static_cast<int64_t>(first.offset),
                   .length = static_cast<int64_t>(last.offset + last.length - first.offset)};
}

void PostingsCursor::Supply(std::shared_ptr<arrow::Buffer> rest) {
  rest_ = std::move(rest);
}

uint32_t PostingsCursor::CountOf(size_t block) const {
  const size_t ordinal = super_block_ * kSuperBlockBlocks + block;
  return std::min(kBlockSize, document_count_ - static_cast<uint32_t>(ordinal) * kBlockSize);
}

arrow::Status PostingsCursor::LoadSuperBlock(size_t ordinal) {
  super_block_ = ordinal;
  block_ = 0;
  docs_decoded_ = false;
  frequencies_decoded_ = false;
  loaded_ = false;
  SuperBlock& super_block = super_blocks_[ordinal];
  const bool in_rest = ordinal >= rest_begin_;
  const ByteSpan all = BytesOf(in_rest ? *rest_ : *first_);
  const uint64_t start = super_block.offset - (in_rest ? super_blocks_[rest_begin_].offset : 0);
  super_block_bytes_ = all.subspan(start, super_block.length);
  if (!super_block.verified && !ChecksumMatches(super_block_bytes_, super_block.checksum)) {
    return Corrupt("checksum of postings does not match");
  }
  super_block.verified = true;

  blocks_.clear();
  BlockReader in(super_block_bytes_);
  const size_t count =
      std::min<size_t>(kSuperBlockBlocks, block_total() - ordinal * kSuperBlockBlocks);
  uint64_t begin = super_block.begin;
  for (size_t i = 0; i < count && in.ok(); ++i) {
    const uint64_t last = begin + in.Varint(super_block.last);
    const uint8_t doc_code = in.U8();
    const uint8_t frequency_width = in.U8();
    ReadImpacts(in, scratch_);
    if (last > super_block.last || (doc_code > kBitWidthMax && doc_code != kBitmapCode) ||
        frequency_width > kLengthWidthMax) {
      in.Fail();
    }
    blocks_.push_back({.begin = static_cast<DocId>(begin),
                       .last = static_cast<DocId>(last),
                       .doc_code = doc_code,
                       .frequency_width = frequency_width,
                       .bound = BoundOf(scratch_)});
    begin = last + 1;
  }
  uint64_t offset = in.offset();
  for (size_t i = 0; i < blocks_.size() && in.ok(); ++i) {
    Block& block = blocks_[i];
    const uint64_t docs = block.doc_code == kBitmapCode
                              ? uint64_t{block.last - block.begin} / 8 + 1
                              : PackedArrayBytes(CountOf(i), block.doc_code);
    block.docs_offset = static_cast<uint32_t>(offset);
    block.frequencies_offset = static_cast<uint32_t>(offset + docs);
    offset += docs + PackedArrayBytes(CountOf(i), block.frequency_width);
    if (offset > super_block.length) in.Fail();
  }
  if (!in.ok() || offset != super_block.length || blocks_.back().last != super_block.last) {
    return Corrupt("postings are malformed");
  }
  loaded_ = true;
  return arrow::Status::OK();
}

arrow::Status PostingsCursor::SeekBlock(DocId doc) {
  at_end_ = false;
  if (super_blocks_.empty()) {
    at_end_ = blocks_.front().last < doc;
    return arrow::Status::OK();
  }
  if (!loaded_ || doc > super_blocks_[super_block_].last ||
      doc < super_blocks_[super_block_].begin) {
    const auto found = std::ranges::lower_bound(super_blocks_, doc, {}, &SuperBlock::last);
    if (found == super_blocks_.end()) {
      at_end_ = true;
      return arrow::Status::OK();
    }
    const auto ordinal = static_cast<size_t>(found - super_blocks_.begin());
    if (!loaded_ || ordinal != super_block_) ARROW_RETURN_NOT_OK(LoadSuperBlock(ordinal));
  }
  size_t at = blocks_[block_].begin <= doc ? block_ : 0;
  while (blocks_[at].last < doc) ++at;
  if (at != block_) {
    block_ = at;
    docs_decoded_ = false;
    frequencies_decoded_ = false;
  }
  return arrow::Status::OK();
}

arrow::Status PostingsCursor::NextBlock() {
  if (block_ + 1 < blocks_.size()) {
    ++block_;
    docs_decoded_ = false;
    frequencies_decoded_ = false;
    return arrow::Status::OK();
  }
  if (super_block_ + 1 < super_blocks_.size()) return LoadSuperBlock(super_block_ + 1);
  at_end_ = true;
  return arrow::Status::OK();
}

arrow::Result<std::span<const DocId>> PostingsCursor::Docs() {
  if (!docs_decoded_) {
    docs_.resize(CountOf(block_));
    if (!DecodeDocs() || docs_.back() != block().last || docs_.front() < block().begin) {
      return Corrupt("documents of a block do not end where they should");
    }
    docs_decoded_ = true;
  }
  return std::span<const DocId>(docs_);
}

bool PostingsCursor::DecodeDocs() {
  const Block& current = block();
  const ByteSpan bytes = super_block_bytes_.subspan(
      current.docs_offset, current.frequencies_offset - current.docs_offset);
  if (current.doc_code == kBitmapCode) return DecodeBitmap(bytes);
  const DocId base = current.begin - 1;  // kNoBase for the first document of all
  if (docs_.size() == kBlockSize) {
    return UnpackDeltas(bytes, current.doc_code, base, BlockSpan(docs_));
  }
  UnpackArray(bytes, current.doc_code, docs_);
  return SumDeltas(base, docs_);
}

bool PostingsCursor::DecodeBitmap(ByteSpan bytes) {
  size_t count = 0;
  DocId first = block().begin;
  for (const uint8_t byte : bytes) {
    for (uint32_t bits = byte; bits != 0; bits &= bits - 1) {
      if (count == docs_.size()) return false;
      docs_[count++] = first + static_cast<DocId>(std::countr_zero(bits));
    }
    first += 8;
  }
  return count == docs_.size();
}

std::span<const uint32_t> PostingsCursor::Frequencies() {
  if (!frequencies_decoded_) {
    frequencies_.resize(docs_.size());
    const Block& current = block();
    Unpack(super_block_bytes_.subspan(current.frequencies_offset), current.frequency_width,
           frequencies_);
    for (uint32_t& frequency : frequencies_) ++frequency;
    frequencies_decoded_ = true;
  }
  return frequencies_;
}

double PostingsCursor::CoarseBound(DocId begin, DocId end) const {
  if (super_blocks_.empty()) {
    const Block& only = blocks_.front();
    return only.begin < end && only.last >= begin ? only.bound : 0;
  }
  double bound = 0;
  auto at = std::ranges::lower_bound(super_blocks_, begin, {}, &SuperBlock::last);
  for (; at != super_blocks_.end() && at->begin < end; ++at) bound = std::max(bound, at->bound);
  return bound;
}

}  // namespace infino::text
