#include "infino/index/text/term_postings.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {
namespace {

/// Unpacks a full block or the rest of one. REQUIRES: the bytes are there.
void Unpack(ByteSpan bytes, uint32_t width, std::span<uint32_t> out) {
  if (out.size() == kBlockSize) {
    UnpackBlock(bytes, width, BlockSpan(out));
  } else {
    UnpackArray(bytes, width, out);
  }
}

size_t BlocksOf(uint32_t document_count) {
  return (size_t{document_count} + kBlockSize - 1) / kBlockSize;
}

/// Whether a bitmap has `count` bits and ends with one for `last`, the last document after the
/// first it could have.
bool IsBitmapOf(ByteSpan bytes, uint32_t last, uint32_t count) {
  size_t bits = 0;
  for (const uint8_t byte : bytes) bits += static_cast<size_t>(std::popcount(byte));
  return bits == count && (bytes.back() >> (last % 8)) == 1;
}

bool UnpackBitmap(ByteSpan bytes, DocId first, std::span<DocId> docs) {
  size_t count = 0;
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t bits = 0;
    if (bytes.size() - at >= sizeof(uint64_t)) {
      bits = LoadU64(bytes.data() + at);
    } else {
      for (size_t i = at; i < bytes.size(); ++i) bits |= uint64_t{bytes[i]} << (8 * (i - at));
    }
    const DocId base = first + static_cast<DocId>(at * 8);
    for (; bits != 0; bits &= bits - 1) {
      if (count == docs.size()) return false;
      docs[count++] = base + static_cast<DocId>(std::countr_zero(bits));
    }
  }
  return count == docs.size();
}

}  // namespace

arrow::Result<std::shared_ptr<const TermPostings>> TermPostings::Open(
    const TextIndexReader& index, const TermEntry& entry,
    const std::shared_ptr<arrow::Buffer>& postings) {
  auto opened = std::make_shared<TermPostings>(Private(), entry.document_frequency);
  if (entry.document_frequency == 1) {
    opened->OpenSingle(entry);
    return opened;
  }
  const ByteSpan bytes(postings->data(), static_cast<size_t>(postings->size()));
  if (bytes.size() != entry.postings_length) {
    return CorruptIndex(index.name(), "postings have another size than the dictionary says");
  }
  if (entry.document_frequency <= kBlockSize) {
    ARROW_RETURN_NOT_OK(opened->OpenOnlyBlock(index, entry, bytes));
  } else {
    opened->bytes_.assign(bytes.begin(), bytes.end());
    ARROW_RETURN_NOT_OK(opened->OpenBlocks(index, entry));
  }
  return opened;
}

void TermPostings::AddBlock(const Block& block, std::span<const Impact> impacts) {
  blocks_.push_back(block);
  blocks_.back().impacts_begin = static_cast<uint32_t>(impacts_.size());
  impacts_.insert(impacts_.end(), impacts.begin(), impacts.end());
}

void TermPostings::OpenSingle(const TermEntry& entry) {
  docs_ = {entry.single_doc};
  frequencies_ = {entry.impacts.front().frequency};
  lengths_ = {entry.impacts.front().length};
  AddBlock({.begin = entry.single_doc, .last = entry.single_doc}, entry.impacts);
}

arrow::Status TermPostings::OpenOnlyBlock(const TextIndexReader& index, const TermEntry& entry,
                                          ByteSpan bytes) {
  if (bytes.size() < kChecksumSize) return CorruptIndex(index.name(), "postings are too short");
  const ByteSpan content = bytes.first(bytes.size() - kChecksumSize);
  if (!ChecksumMatches(content, LoadU32(bytes.data() + content.size()))) {
    return CorruptIndex(index.name(), "checksum of postings does not match");
  }
  BlockReader in(content);
  const uint32_t doc_width = in.U8();
  const uint32_t frequency_width = in.U8();
  const uint32_t length_width = in.U8();
  if (doc_width > kBitWidthMax || frequency_width > kLengthWidthMax ||
      length_width > kLengthWidthMax) {
    return CorruptIndex(index.name(), "postings have an impossible width");
  }
  const ByteSpan docs = in.Bytes(PackedArrayBytes(document_count_, doc_width));
  const ByteSpan frequencies = in.Bytes(PackedArrayBytes(document_count_, frequency_width));
  const ByteSpan lengths = in.Bytes(PackedArrayBytes(document_count_, length_width));
  if (!in.ok() || in.remaining() != 0) {
    return CorruptIndex(index.name(), "postings have another size than they say");
  }
  docs_.resize(document_count_);
  frequencies_.resize(document_count_);
  lengths_.resize(document_count_);
  UnpackArray(docs, doc_width, docs_);
  UnpackArray(frequencies, frequency_width, frequencies_);
  UnpackArray(lengths, length_width, lengths_);
  for (uint32_t& frequency : frequencies_) ++frequency;
  if (!SumDeltas(kNoBase, docs_) || docs_.back() >= index.summary().row_count) {
    return CorruptIndex(index.name(), "postings name documents past the last one");
  }
  AddBlock({.begin = docs_.front(), .last = docs_.back()}, entry.impacts);
  return arrow::Status::OK();
}

arrow::Status TermPostings::OpenBlocks(const TextIndexReader& index, const TermEntry& entry) {
  const ByteSpan all(bytes_);
  const uint64_t skip_length = entry.skip_length;
  if (skip_length > all.size() || skip_length < kChecksumSize) {
    return CorruptIndex(index.name(), "skip data is too short");
  }
  const ByteSpan content = all.first(skip_length - kChecksumSize);
  if (!ChecksumMatches(content, LoadU32(all.data() + content.size()))) {
    return CorruptIndex(index.name(), "checksum of skip data does not match");
  }
  const size_t block_count = BlocksOf(document_count_);
  const size_t count = (block_count + kSuperBlockBlocks - 1) / kSuperBlockBlocks;
  constexpr size_t kEntrySizeMin = 9;
  if (count > content.size() / kEntrySizeMin) {
    return CorruptIndex(index.name(), "skip data is too short");
  }
  blocks_.reserve(block_count);
  impacts_.reserve(block_count * 2);
  BlockReader in(content);
  const auto row_count = static_cast<uint64_t>(index.summary().row_count);
  uint64_t begin = 0;
  uint64_t offset = skip_length;
  Impacts scratch;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t last = begin + in.Varint(row_count);
    const uint64_t length = in.Varint(std::min(all.size() - offset, kSuperBlockBytesMax));
    ReadImpacts(in, scratch);
    const uint32_t checksum = in.U32();
    if (!in.ok() || last >= row_count) return CorruptIndex(index.name(), "skip data is malformed");
    const ByteSpan bytes = all.subspan(offset, length);
    if (!ChecksumMatches(bytes, checksum)) {
      return CorruptIndex(index.name(), "checksum of postings does not match");
    }
    if (!ReadSuperBlock(bytes, offset, static_cast<DocId>(begin), static_cast<DocId>(last))) {
      return CorruptIndex(index.name(), "postings are malformed");
    }
    begin = last + 1;
    offset += length;
  }
  if (in.remaining() != 0 || offset != all.size()) {
    return CorruptIndex(index.name(), "skip data is malformed");
  }
  return arrow::Status::OK();
}

/// Adds the blocks of a super-block, which is at `offset` of all bytes. False if it breaks the
/// format.
bool TermPostings::ReadSuperBlock(ByteSpan bytes, uint64_t offset, DocId begin, DocId last) {
  BlockReader in(bytes);
  const size_t first = blocks_.size();
  const size_t count = std::min<size_t>(kSuperBlockBlocks, BlocksOf(document_count_) - first);
  uint64_t block_begin = begin;
  Impacts scratch;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t block_last = block_begin + in.Varint(last);
    const uint8_t doc_code = in.U8();
    const uint8_t frequency_width = in.U8();
    ReadImpacts(in, scratch);
    if (!in.ok() || block_last > last || (doc_code > kBitWidthMax && doc_code != kBitmapCode) ||
        frequency_width > kLengthWidthMax) {
      return false;
    }
    AddBlock({.begin = static_cast<DocId>(block_begin),
              .last = static_cast<DocId>(block_last),
              .doc_code = doc_code,
              .frequency_width = frequency_width},
             scratch);
    block_begin = block_last + 1;
  }
  uint64_t at = in.offset();
  for (size_t i = first; i < blocks_.size(); ++i) {
    Block& block = blocks_[i];
    const uint64_t docs_length = block.doc_code == kBitmapCode
                                     ? uint64_t{block.last - block.begin} / 8 + 1
                                     : PackedArrayBytes(CountOf(i), block.doc_code);
    block.docs_offset = offset + at;
    block.frequencies_offset = offset + at + docs_length;
    at += docs_length + PackedArrayBytes(CountOf(i), block.frequency_width);
    if (at > bytes.size()) return false;
    // A bitmap is also looked into without being unpacked, and must not lead past the frequencies.
    if (block.doc_code == kBitmapCode &&
        !IsBitmapOf(BitmapOf(i), block.last - block.begin, CountOf(i))) {
      return false;
    }
  }
  return at == bytes.size() && blocks_.back().last == last;
}

std::span<const Impact> TermPostings::ImpactsOf(size_t block) const {
  const size_t begin = blocks_[block].impacts_begin;
  const size_t end =
      block + 1 < blocks_.size() ? blocks_[block + 1].impacts_begin : impacts_.size();
  return std::span(impacts_).subspan(begin, end - begin);
}

uint32_t TermPostings::CountOf(size_t block) const {
  return std::min(kBlockSize, document_count_ - static_cast<uint32_t>(block) * kBlockSize);
}

ByteSpan TermPostings::BitmapOf(size_t block) const {
  const Block& current = blocks_[block];
  if (current.doc_code != kBitmapCode) return {};
  return ByteSpan(bytes_).subspan(current.docs_offset,
                                  current.frequencies_offset - current.docs_offset);
}

bool TermPostings::DecodeDocs(size_t block, std::span<DocId> docs) const {
  const Block& current = blocks_[block];
  const ByteSpan bytes = ByteSpan(bytes_).subspan(current.docs_offset,
                                                  current.frequencies_offset - current.docs_offset);
  const DocId base = current.begin - 1;  // kNoBase for the first document of all
  bool sound = false;
  if (current.doc_code == kBitmapCode) {
    sound = UnpackBitmap(bytes, current.begin, docs);
  } else if (docs.size() == kBlockSize) {
    sound = UnpackDeltas(bytes, current.doc_code, base, BlockSpan(docs));
  } else {
    UnpackArray(bytes, current.doc_code, docs);
    sound = SumDeltas(base, docs);
  }
  return sound && docs.back() == current.last && docs.front() >= current.begin;
}

void TermPostings::DecodeFrequencies(size_t block, std::span<uint32_t> frequencies) const {
  const Block& current = blocks_[block];
  Unpack(ByteSpan(bytes_).subspan(current.frequencies_offset), current.frequency_width,
         frequencies);
  for (uint32_t& frequency : frequencies) ++frequency;
}

std::shared_ptr<const BlockBounds> TermPostings::BoundsUnder(const TermScoring& scoring) const {
  {
    const std::lock_guard lock(mutex_);
    if (bounds_ != nullptr && bounds_->scoring == scoring) return bounds_;
  }
  std::shared_ptr<const BlockBounds> computed = ComputeBounds(scoring);
  const std::lock_guard lock(mutex_);
  bounds_ = computed;
  return computed;
}

std::shared_ptr<const BlockBounds> TermPostings::ComputeBounds(const TermScoring& scoring) const {
  auto bounds = std::make_shared<BlockBounds>();
  bounds->scoring = scoring;
  bounds->blocks.reserve(blocks_.size());
  bounds->super_blocks.resize((blocks_.size() + kSuperBlockBlocks - 1) / kSuperBlockBlocks);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const std::span<const Impact> impacts = ImpactsOf(i);
    const double bound = MaxContribution(impacts, scoring.bm25, scoring.idf);
    bounds->blocks.push_back(bound);
    double& super_block = bounds->super_blocks[i / kSuperBlockBlocks];
    super_block = std::max(super_block, bound);
    bounds->highest = std::max(bounds->highest, bound);
    // As many impacts as are kept may be joined ones, which no document attains.
    if (impacts.size() <= kImpactsMax / 2) bounds->best.push_back(bound);
  }
  const size_t kept = std::min(bounds->best.size(), BlockBounds::kBestMax);
  std::ranges::partial_sort(bounds->best, bounds->best.begin() + static_cast<ptrdiff_t>(kept),
                            std::greater());
  bounds->best.resize(kept);
  bounds->best.shrink_to_fit();
  return bounds;
}

size_t TermPostings::memory_bytes() const {
  // Bounds are counted as if they were there: an entry of a cache must not grow unseen.
  const size_t bounds = sizeof(BlockBounds) + blocks_.size() * sizeof(double) * 2 +
                        std::min(blocks_.size(), BlockBounds::kBestMax) * sizeof(double);
  return sizeof(*this) + bounds + blocks_.capacity() * sizeof(Block) +
         impacts_.capacity() * sizeof(Impact) + bytes_.capacity() +
         (docs_.capacity() + frequencies_.capacity() + lengths_.capacity()) * sizeof(uint32_t);
}

}  // namespace infino::text
