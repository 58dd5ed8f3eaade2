#include "infino/index/text/verify_postings.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/impact_check.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/positions_reader.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/term_postings.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {
namespace {

constexpr uint64_t kWindowBytes = uint64_t{2} << 20;
constexpr uint32_t kSuperBlockDocs = kBlockSize * kSuperBlockBlocks;

/// More than the postings of one block can take, and an entry of skip data.
constexpr uint64_t kOnlyBlockBytesMax = 3 + 3 * sizeof(uint32_t) * kBlockSize + kChecksumSize;
constexpr uint64_t kSkipEntryBytesMax = 32 + kImpactsMax * 10;

/// The weight of a document in sums: any two sums that should be equal for each document are equal
/// as a whole only if they are, but for a chance of 2^-64.
uint64_t WeightOf(DocId doc) {
  uint64_t mixed = (uint64_t{doc} + 1) * 0x9E3779B97F4A7C15;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return mixed ^ (mixed >> 31);
}

/// Whether the bits of a packed array that belong to no number are zero.
bool HasZeroPadding(ByteSpan array, uint64_t count, uint32_t width) {
  const uint64_t used = count * width % 8;
  return used == 0 || array.back() >> used == 0;
}

/// Whether `values` were packed as the writer does it: at the least width, with zero padding.
bool IsTight(ByteSpan array, uint32_t width, std::span<const uint32_t> values) {
  return PackedWidth(values) == width && HasZeroPadding(array, values.size(), width);
}

bool DecodeBitmap(ByteSpan bytes, DocId begin, std::span<DocId> docs) {
  size_t count = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (uint32_t bits = bytes[at]; bits != 0; bits &= bits - 1) {
      if (count == docs.size()) return false;
      docs[count++] =
          begin + static_cast<DocId>(at) * 8 + static_cast<DocId>(std::countr_zero(bits));
    }
  }
  return count == docs.size();
}

}  // namespace

arrow::Result<ByteSpan> SectionWindow::Get(uint64_t offset, uint64_t length) {
  const uint64_t held = held_ == nullptr ? 0 : static_cast<uint64_t>(held_->size());
  if (offset < begin_ || offset + length > begin_ + held) {
    const uint64_t left = static_cast<uint64_t>(section_.length) - offset;
    const uint64_t wanted = std::min(left, std::max(length, kWindowBytes));
    const ByteRange range{.offset = section_.offset + static_cast<int64_t>(offset),
                          .length = static_cast<int64_t>(wanted)};
    ARROW_ASSIGN_OR_RAISE(Buffers buffers, Wait(blob_->Read({range})));
    held_ = std::move(buffers.front());
    begin_ = offset;
  }
  return ByteSpan(held_->data(), static_cast<size_t>(held_->size()))
      .subspan(offset - begin_, length);
}

PostingsVerifier::PostingsVerifier(const TextIndexReader& index, const RangeReader& blob)
    : index_(&index),
      every_position_taken_(index.analyzer().stopwords.empty()),
      postings_(blob, index.sections().postings),
      positions_(blob, index.sections().postings) {}

arrow::Status PostingsVerifier::Corrupt(const std::string& what) const {
  const auto place = static_cast<uint64_t>(index_->sections().postings.offset) + offset_;
  return CorruptIndex(index_->name(), "postings of term '" + std::string(term_) +
                                          "', offset=" + std::to_string(place) + ": " + what);
}

arrow::Status PostingsVerifier::SetLengths(const arrow::Buffer& section) {
  const int64_t rows = index_->summary().row_count;
  const uint32_t last_width = rows == 0 ? 0 : index_->length_chunks().back().width;
  const ByteSpan all(section.data(), static_cast<size_t>(section.size()));
  if (!HasZeroPadding(all, static_cast<uint64_t>(rows) % kBlockSize, last_width)) {
    return CorruptIndex(index_->name(), "lengths: padding is not zero");
  }
  ARROW_ASSIGN_OR_RAISE(doc_length_array_, DocLengths::Decode(*index_, all));
  for (int64_t first = 0; first < rows; first += kLengthChunkSize) {
    docs_.clear();
    for (int64_t doc = first; doc < std::min<int64_t>(first + kLengthChunkSize, rows); ++doc) {
      docs_.push_back(static_cast<DocId>(doc));
    }
    doc_lengths_.clear();
    TakeLengths(0);
    for (size_t i = 0; i < docs_.size(); ++i) {
      const uint64_t length = doc_lengths_[i];
      if (length > 0) ++lengths_.rows_with_token;
      lengths_.tokens += static_cast<int64_t>(length);
      length_sum_ += WeightOf(docs_[i]) * length;
      expected_position_sum_ += WeightOf(docs_[i]) * (length * (length + 1) / 2);
    }
  }
  return arrow::Status::OK();
}

void PostingsVerifier::TakeLengths(size_t first) {
  doc_lengths_.resize(docs_.size());
  for (size_t i = first; i < docs_.size(); ++i) doc_lengths_[i] = (*doc_length_array_)[docs_[i]];
}

arrow::Status PostingsVerifier::CheckTerm(std::string_view term, const TermEntry& entry) {
  term_ = term;
  offset_ = entry.offset;
  total_frequency_ = 0;
  docs_.clear();
  frequencies_.clear();
  if (entry.offset != section_end_) return Corrupt("they do not follow those of the term before");
  section_end_ += entry.postings_length + entry.positions_length;
  if (index_->has_positions()) ARROW_RETURN_NOT_OK(OpenPositions(entry));
  if (entry.document_frequency == 1) {
    ARROW_RETURN_NOT_OK(CheckSingle(entry));
  } else if (entry.document_frequency <= kBlockSize) {
    ARROW_RETURN_NOT_OK(CheckOnlyBlock(entry));
  } else {
    ARROW_RETURN_NOT_OK(CheckLong(entry));
  }
  if (total_frequency_ != entry.total_frequency) {
    return Corrupt("frequencies do not add up to the dictionary's total");
  }
  return arrow::Status::OK();
}

arrow::Status PostingsVerifier::CheckTotals() const {
  if (section_end_ != static_cast<uint64_t>(index_->sections().postings.length)) {
    return Corrupt("they are the last, but the section goes on");
  }
  if (frequency_sum_ != length_sum_) {
    return CorruptIndex(index_->name(),
                        "postings: the frequencies of a document do not add up to its length");
  }
  if (index_->has_positions() && every_position_taken_ && position_sum_ != expected_position_sum_) {
    return CorruptIndex(index_->name(), "positions: a document has one twice or not at all");
  }
  return arrow::Status::OK();
}

arrow::Status PostingsVerifier::CheckSingle(const TermEntry& entry) {
  docs_ = {entry.single_doc};
  frequencies_ = {entry.impacts.front().frequency};
  ImpactCheck check(entry.impacts);
  ARROW_RETURN_NOT_OK(TakeBlock(1, check));
  if (!check.AreAttained()) return Corrupt("the dictionary has another length of its document");
  return index_->has_positions() ? CheckPositions(entry, 0) : arrow::Status::OK();
}

arrow::Status PostingsVerifier::CheckOnlyBlock(const TermEntry& entry) {
  if (entry.postings_length > kOnlyBlockBytesMax) return Corrupt("they are too long");
  ARROW_ASSIGN_OR_RAISE(const ByteSpan bytes, postings_.Get(entry.offset, entry.postings_length));
  const auto buffer =
      std::make_shared<arrow::Buffer>(bytes.data(), static_cast<int64_t>(bytes.size()));
  ARROW_ASSIGN_OR_RAISE(const auto postings, TermPostings::Open(*index_, entry, buffer));
  docs_.assign(postings->docs().begin(), postings->docs().end());
  frequencies_.assign(postings->frequencies().begin(), postings->frequencies().end());
  ImpactCheck check(entry.impacts);
  ARROW_RETURN_NOT_OK(TakeBlock(docs_.size(), check));
  if (!std::ranges::equal(postings->lengths(), doc_lengths_)) {
    return Corrupt("they have another length of a document");
  }
  if (!IsPackedTightly(bytes)) return Corrupt("a width or padding is not the writer's");
  if (!check.AreAttained()) return Corrupt("an impact of the term is no posting");
  return index_->has_positions() ? CheckPositions(entry, 0) : arrow::Status::OK();
}

arrow::Status PostingsVerifier::CheckLong(const TermEntry& entry) {
  const uint32_t count = (entry.document_frequency + kSuperBlockDocs - 1) / kSuperBlockDocs;
  if (entry.skip_length < kChecksumSize ||
      entry.skip_length > kChecksumSize + count * kSkipEntryBytesMax) {
    return Corrupt("skip data has an impossible length");
  }
  ARROW_ASSIGN_OR_RAISE(const ByteSpan view, postings_.Get(entry.offset, entry.skip_length));
  const std::vector<uint8_t> skip(view.begin(), view.end());
  const ByteSpan content = ByteSpan(skip).first(skip.size() - kChecksumSize);
  if (!ChecksumMatches(content, LoadU32(skip.data() + content.size()))) {
    return Corrupt("skip data has a wrong checksum");
  }
  ImpactCheck check(entry.impacts);
  BlockReader in(content);
  const auto rows = static_cast<uint64_t>(index_->summary().row_count);
  uint64_t begin = 0;
  uint64_t offset = entry.skip_length;
  BlockHead whole;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t last = begin + in.Varint(rows);
    const uint64_t length =
        in.Varint(std::min(entry.postings_length - offset, kSuperBlockBytesMax));
    ReadImpacts(in, whole.impacts);
    const uint32_t checksum = in.U32();
    if (!in.ok() || last >= rows) return Corrupt("skip data is malformed");
    whole.begin = static_cast<DocId>(begin);
    whole.last = static_cast<DocId>(last);
    for (const Impact& impact : whole.impacts) {
      if (!check.Add(impact)) return Corrupt("impacts of the term do not bound a super-block");
    }
    ARROW_ASSIGN_OR_RAISE(const ByteSpan bytes, postings_.Get(entry.offset + offset, length));
    if (!ChecksumMatches(bytes, checksum)) return Corrupt("a super-block has a wrong checksum");
    const uint32_t left = entry.document_frequency - i * kSuperBlockDocs;
    ARROW_RETURN_NOT_OK(CheckSuperBlock(bytes, whole, std::min(left, kSuperBlockDocs)));
    if (index_->has_positions()) ARROW_RETURN_NOT_OK(CheckPositions(entry, i));
    begin = last + 1;
    offset += length;
  }
  if (in.remaining() != 0 || offset != entry.postings_length) {
    return Corrupt("skip data does not cover them");
  }
  if (!check.AreAttained()) return Corrupt("an impact of the term is none of a super-block");
  return arrow::Status::OK();
}

arrow::Status PostingsVerifier::CheckSuperBlock(ByteSpan bytes, const BlockHead& whole,
                                                uint32_t doc_count) {
  docs_.clear();
  frequencies_.clear();
  ImpactCheck super_check(whole.impacts);
  BlockReader in(bytes);
  std::vector<BlockHead> heads((doc_count + kBlockSize - 1) / kBlockSize);
  uint64_t begin = whole.begin;
  for (BlockHead& head : heads) {
    const uint64_t last = begin + in.Varint(whole.last);
    head.doc_code = in.U8();
    head.frequency_width = in.U8();
    ReadImpacts(in, head.impacts);
    if (!in.ok() || last > whole.last || head.frequency_width > kLengthWidthMax ||
        (head.doc_code > kBitWidthMax && head.doc_code != kBitmapCode)) {
      return Corrupt("the directory of a super-block is malformed");
    }
    head.begin = static_cast<DocId>(begin);
    head.last = static_cast<DocId>(last);
    begin = last + 1;
    for (const Impact& impact : head.impacts) {
      if (!super_check.Add(impact)) return Corrupt("impacts of a super-block do not bound a block");
    }
  }
  if (heads.back().last != whole.last) {
    return Corrupt("a super-block ends before its last document");
  }
  if (!super_check.AreAttained()) return Corrupt("an impact of a super-block is none of a block");
  for (const BlockHead& head : heads) {
    const uint32_t count = std::min(kBlockSize, doc_count - static_cast<uint32_t>(docs_.size()));
    const ByteSpan docs =
        in.Bytes(head.doc_code == kBitmapCode ? (uint64_t{head.last} - head.begin) / 8 + 1
                                              : PackedArrayBytes(count, head.doc_code));
    const ByteSpan frequencies = in.Bytes(PackedArrayBytes(count, head.frequency_width));
    if (!in.ok()) return Corrupt("a super-block ends too early");
    docs_.resize(docs_.size() + count);
    ARROW_RETURN_NOT_OK(DecodeBlock(head, docs, frequencies, std::span(docs_).last(count)));
    ImpactCheck check(head.impacts);
    ARROW_RETURN_NOT_OK(TakeBlock(count, check));
    if (!check.AreAttained()) return Corrupt("an impact of a block is no posting");
  }
  if (in.remaining() != 0) return Corrupt("bytes are left over in a super-block");
  return arrow::Status::OK();
}

arrow::Status PostingsVerifier::DecodeBlock(const BlockHead& head, ByteSpan docs,
                                            ByteSpan frequencies, std::span<DocId> into) {
  const DocId base = head.begin - 1;  // kNoBase for the first document of all
  bool is_right = true;
  if (head.doc_code == kBitmapCode) {
    is_right = DecodeBitmap(docs, head.begin, into);
  } else if (into.size() == kBlockSize) {
    is_right = UnpackDeltas(docs, head.doc_code, base, BlockSpan(into));
  } else {
    UnpackArray(docs, head.doc_code, into);
    is_right = SumDeltas(base, into);
  }
  if (!is_right || into.front() < head.begin || into.back() != head.last) {
    return Corrupt("documents of a block do not end where they should");
  }
  frequencies_.resize(frequencies_.size() + into.size());
  const std::span<uint32_t> out = std::span(frequencies_).last(into.size());
  if (into.size() == kBlockSize) {
    UnpackBlock(frequencies, head.frequency_width, BlockSpan(out));
  } else {
    UnpackArray(frequencies, head.frequency_width, out);
  }
  bool is_tight = IsTight(frequencies, head.frequency_width, out);
  for (uint32_t& frequency : out) ++frequency;
  if (head.doc_code != kBitmapCode) {
    scratch_.resize(into.size());
    ComputeDeltas(into, base, scratch_);
    is_tight = is_tight && IsTight(docs, head.doc_code, scratch_);
  }
  return is_tight ? arrow::Status::OK() : Corrupt("a width or padding is not the writer's");
}

bool PostingsVerifier::IsPackedTightly(ByteSpan only_block) {
  scratch_.resize(docs_.size());
  uint64_t at = 3;
  const auto is_next = [&](uint32_t width) {
    const ByteSpan array = only_block.subspan(at, PackedArrayBytes(scratch_.size(), width));
    at += array.size();
    return IsTight(array, width, scratch_);
  };
  ComputeDeltas(docs_, kNoBase, scratch_);
  if (!is_next(only_block[0])) return false;
  std::ranges::transform(frequencies_, scratch_.begin(), [](uint32_t f) { return f - 1; });
  if (!is_next(only_block[1])) return false;
  std::ranges::copy(doc_lengths_, scratch_.begin());
  return is_next(only_block[2]);
}

arrow::Status PostingsVerifier::TakeBlock(size_t count, ImpactCheck& check) {
  const size_t first = docs_.size() - count;
  TakeLengths(first);
  for (size_t i = first; i < docs_.size(); ++i) {
    const Impact posting{.frequency = frequencies_[i], .length = doc_lengths_[i]};
    if (posting.frequency > posting.length) {
      return Corrupt("document " + std::to_string(docs_[i]) +
                     " has the term more often than tokens");
    }
    if (!check.Add(posting)) {
      return Corrupt("impacts do not bound document " + std::to_string(docs_[i]));
    }
    total_frequency_ += posting.frequency;
    frequency_sum_ += WeightOf(docs_[i]) * posting.frequency;
  }
  return arrow::Status::OK();
}

arrow::Status PostingsVerifier::OpenPositions(const TermEntry& entry) {
  position_runs_.clear();
  const uint64_t begin = entry.offset + entry.postings_length;
  if (entry.document_frequency <= kBlockSize) {
    position_runs_.push_back({.offset = begin, .length = entry.positions_length});
    return arrow::Status::OK();
  }
  const uint32_t count = (entry.document_frequency + kSuperBlockDocs - 1) / kSuperBlockDocs;
  constexpr uint64_t kEntryMax = 10 + sizeof(uint32_t);
  const uint64_t table_max = std::min(count * kEntryMax + kChecksumSize, entry.positions_length);
  ARROW_ASSIGN_OR_RAISE(const ByteSpan bytes, positions_.Get(begin, table_max));
  BlockReader in(bytes);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t length = in.Varint(entry.positions_length);
    position_runs_.push_back({.length = length, .checksum = in.U32()});
  }
  const size_t table = in.offset();
  if (!ChecksumMatches(bytes.first(table), in.U32()) || !in.ok()) {
    return Corrupt("skip data of positions has a wrong checksum");
  }
  uint64_t offset = in.offset();
  for (PositionsRun& run : position_runs_) {
    if (run.length > entry.positions_length - offset) return Corrupt("positions are too short");
    run.offset = begin + offset;
    offset += run.length;
  }
  if (offset != entry.positions_length) return Corrupt("positions are too long");
  return arrow::Status::OK();
}

arrow::Status PostingsVerifier::CheckPositions(const TermEntry& entry, size_t run) {
  if (entry.document_frequency == 1 && entry.positions_length == 0) {
    return TakePositions(entry.inline_positions, 0, 1);
  }
  const PositionsRun& place = position_runs_[run];
  uint64_t count = 0;
  for (const uint32_t frequency : frequencies_) count += frequency;
  constexpr uint64_t kNumberBytesMax = 6;  // with its share of a width
  constexpr uint64_t kWidthsBytesMax = uint64_t{10} * kSuperBlockBlocks;
  if (place.length < kChecksumSize ||
      place.length > count * kNumberBytesMax + kWidthsBytesMax + kChecksumSize) {
    return Corrupt("positions have an impossible length");
  }
  ARROW_ASSIGN_OR_RAISE(const ByteSpan bytes, positions_.Get(place.offset, place.length));
  if (entry.document_frequency <= kBlockSize) {
    const ByteSpan content = bytes.first(bytes.size() - kChecksumSize);
    if (!ChecksumMatches(content, LoadU32(bytes.data() + content.size()))) {
      return Corrupt("positions have a wrong checksum");
    }
    return TakePositions(content, 0, docs_.size());
  }
  if (!ChecksumMatches(bytes, place.checksum)) return Corrupt("positions have a wrong checksum");
  BlockReader in(bytes);
  std::vector<uint64_t> sizes((docs_.size() + kBlockSize - 1) / kBlockSize);
  for (uint64_t& size : sizes) size = in.Varint(bytes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const ByteSpan block = in.Bytes(sizes[i]);
    if (!in.ok()) return Corrupt("positions are malformed");
    const size_t first = i * kBlockSize;
    ARROW_RETURN_NOT_OK(
        TakePositions(block, first, std::min<size_t>(kBlockSize, docs_.size() - first)));
  }
  if (in.remaining() != 0) return Corrupt("bytes are left over behind positions");
  return arrow::Status::OK();
}

arrow::Status PostingsVerifier::TakePositions(ByteSpan block, size_t first, size_t count) {
  const auto frequencies = std::span<const uint32_t>(frequencies_).subspan(first, count);
  ARROW_RETURN_NOT_OK(PositionsReader::DecodeBlock(*index_, block, frequencies, scratch_));
  size_t at = 0;
  for (size_t i = first; i < first + count; ++i) {
    for (uint32_t k = 0; k < frequencies_[i]; ++k, ++at) {
      const uint32_t position = scratch_[at];
      if (k > 0 && position <= scratch_[at - 1]) {
        return Corrupt("positions of document " + std::to_string(docs_[i]) + " do not ascend");
      }
      if (every_position_taken_ && position >= doc_lengths_[i]) {
        return Corrupt("a position of document " + std::to_string(docs_[i]) + " is past its end");
      }
      position_sum_ += WeightOf(docs_[i]) * (uint64_t{position} + 1);
    }
  }
  return arrow::Status::OK();
}

}  // namespace infino::text
