#include "infino/index/text/text_index_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/index/text/dictionary_writer.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {
namespace {

constexpr size_t kPendingMax = size_t{256} << 10;

void WriteRange(const ByteRange& range, ByteWriter& out) {
  out.WriteVarint(static_cast<uint64_t>(range.offset));
  out.WriteVarint(static_cast<uint64_t>(range.length));
}

}  // namespace

TextIndexWriter::TextIndexWriter(arrow::io::OutputStream& sink, TextIndexHead head,
                                 std::span<const uint32_t> lengths, TextIndexWriterOptions options)
    : sink_(&sink),
      head_(std::move(head)),
      lengths_(lengths),
      options_(std::move(options)),
      dictionary_(head_.has_positions, options_.scratch) {}

arrow::Status TextIndexWriter::Put(ByteSpan bytes) {
  pending_.WriteBytes(bytes);
  written_ += bytes.size();
  return pending_.size() < kPendingMax ? arrow::Status::OK() : Flush();
}

arrow::Status TextIndexWriter::Flush() {
  const ByteSpan bytes = pending_.bytes();
  ARROW_RETURN_NOT_OK(sink_->Write(bytes.data(), static_cast<int64_t>(bytes.size())));
  pending_.Clear();
  return arrow::Status::OK();
}

arrow::Status TextIndexWriter::WriteHead() {
  ByteWriter head;
  head.WriteU32(kBlobMagic);
  head.WriteU8(kTextIndexKind);
  head.WriteU8(0);
  head.WriteU16(kTextFormatVersion);
  head.WriteBytes(head_.superfile.bytes);
  head.WriteU32(0);
  head.WriteU32(Crc32c(head.bytes()));
  return Put(head.bytes());
}

arrow::Status TextIndexWriter::Begin() {
  sections_.postings.offset = kBlobHeadSize;
  return WriteHead();
}

void TextIndexWriter::BeginTerm() {
  entry_.document_frequency = 0;
  entry_.total_frequency = 0;
  entry_.skip_length = 0;
  entry_.postings_length = 0;
  entry_.positions_length = 0;
  entry_.inline_positions = {};
  entry_.offset = written_ - static_cast<uint64_t>(sections_.postings.offset);
  in_block_ = 0;
  differences_.clear();
}

void TextIndexWriter::EncodeBlock(bool is_last) {
  const uint32_t count = in_block_;
  if (entry_.document_frequency == 0) {
    // More than one block is all that matters of what is still to come.
    const uint32_t document_count = is_last ? count : count + 1;
    if (document_count > 1) postings_.Begin(document_count);
    if (head_.has_positions) positions_.Begin(document_count);
  }
  entry_.document_frequency += count;
  const std::span<const uint32_t> frequencies = std::span(frequencies_).first(count);
  for (uint32_t i = 0; i < count; ++i) {
    doc_lengths_[i] = lengths_[docs_[i]];
    entry_.total_frequency += frequencies[i];
  }
  if (is_last && entry_.document_frequency == 1) {
    entry_.single_doc = docs_[0];
    entry_.impacts.assign(1, {.frequency = frequencies_[0], .length = doc_lengths_[0]});
  } else {
    postings_.Add({.docs = std::span(docs_).first(count),
                   .frequencies = frequencies,
                   .lengths = std::span(doc_lengths_).first(count)});
  }
  if (head_.has_positions) positions_.Add(differences_);
  differences_.clear();
  in_block_ = 0;
}

arrow::Status TextIndexWriter::EndTerm(std::string_view term) {
  if (in_block_ == 0) return arrow::Status::OK();
  EncodeBlock(/*is_last=*/true);
  ARROW_RETURN_NOT_OK(PutTerm());
  if (summary_.term_count++ == 0) summary_.min_term = term;
  summary_.max_term = term;
  if (options_.visit) options_.visit(term);
  return dictionary_.Add(term, entry_);
}

arrow::Status TextIndexWriter::PutTerm() {
  const bool is_single = entry_.document_frequency == 1;
  if (!is_single) {
    postings_.End();
    entry_.impacts.assign(postings_.impacts().begin(), postings_.impacts().end());
    entry_.skip_length = postings_.skip_data().size();
    entry_.postings_length = entry_.skip_length + postings_.blocks().size();
    ARROW_RETURN_NOT_OK(Put(postings_.skip_data()));
    ARROW_RETURN_NOT_OK(Put(postings_.blocks()));
  }
  if (!head_.has_positions) return arrow::Status::OK();
  positions_.End();
  if (is_single && positions_.bytes().size() <= kInlinePositionsMax) {
    entry_.inline_positions = positions_.bytes();
    return arrow::Status::OK();
  }
  entry_.positions_length = positions_.bytes().size();
  return Put(positions_.bytes());
}

arrow::Status TextIndexWriter::WriteLengths() {
  std::span<const uint32_t> lengths = lengths_;
  uint64_t offset = 0;
  ByteWriter packed;
  while (!lengths.empty()) {
    const size_t count = std::min<size_t>(kLengthChunkSize, lengths.size());
    packed.Clear();
    LengthChunk chunk = WriteLengthChunk(lengths.first(count), packed);
    chunk.offset = offset;
    offset += packed.size();
    length_chunks_.push_back(chunk);
    ARROW_RETURN_NOT_OK(Put(packed.bytes()));
    lengths = lengths.subspan(count);
  }
  return arrow::Status::OK();
}

arrow::Status TextIndexWriter::WriteDictionary(const FinishedDictionary& dictionary) {
  for (ByteRange rest = dictionary.spooled; rest.length > 0;) {
    const ByteRange piece{.offset = rest.offset,
                          .length = std::min<int64_t>(rest.length, kPendingMax)};
    ARROW_ASSIGN_OR_RAISE(const auto bytes, options_.scratch->Read(piece));
    ARROW_RETURN_NOT_OK(Put({bytes->data(), static_cast<size_t>(bytes->size())}));
    rest = {.offset = piece.end(), .length = rest.length - piece.length};
  }
  return Put(dictionary.blocks);
}

std::vector<uint8_t> TextIndexWriter::EncodeOpenPart(const FinishedDictionary& dictionary) const {
  ByteWriter out;
  out.WriteU32(kOpenPartMagic);
  out.WriteU16(kTextFormatVersion);
  out.WriteU16(static_cast<uint16_t>((head_.has_positions ? kHasPositions : 0) |
                                     (dictionary.is_inline ? kHasInlineDictionary : 0)));
  out.WriteVarint(static_cast<uint64_t>(summary_.row_count));
  out.WriteVarint(static_cast<uint64_t>(summary_.rows_with_token));
  out.WriteVarint(static_cast<uint64_t>(summary_.token_total));
  out.WriteVarint(static_cast<uint64_t>(summary_.term_count));
  out.WriteString(summary_.min_term);
  out.WriteString(summary_.max_term);
  out.WriteString(head_.analyzer.name);
  out.WriteVarint(head_.analyzer.revision);
  out.WriteString(head_.analyzer.stopwords);
  out.WriteString(head_.analyzer.stemmer);
  WriteRange(sections_.postings, out);
  WriteRange(sections_.lengths, out);
  WriteRange(sections_.dictionary, out);
  for (const LengthChunk& chunk : length_chunks_) {
    out.WriteU8(chunk.width);
    out.WriteU32(chunk.checksum);
  }
  const std::vector<uint8_t>& tail =
      dictionary.is_inline ? dictionary.blocks : dictionary.transducer;
  out.WriteVarint(tail.size());
  out.WriteBytes(tail);
  out.WriteU32(Crc32c(out.bytes()));
  return out.Take();
}

arrow::Result<FinishedTextIndex> TextIndexWriter::Finish() {
  const auto close = [this](ByteRange& section, int64_t start) {
    section = {.offset = start, .length = static_cast<int64_t>(written_) - start};
    return section.end();
  };
  summary_.row_count = static_cast<int64_t>(lengths_.size());
  summary_.rows_with_token =
      std::ranges::count_if(lengths_, [](uint32_t length) { return length > 0; });
  summary_.token_total = std::reduce(lengths_.begin(), lengths_.end(), int64_t{0});
  int64_t end = close(sections_.postings, kBlobHeadSize);
  ARROW_RETURN_NOT_OK(WriteLengths());
  end = close(sections_.lengths, end);
  ARROW_ASSIGN_OR_RAISE(const FinishedDictionary dictionary, dictionary_.Finish());
  if (!dictionary.is_inline) ARROW_RETURN_NOT_OK(WriteDictionary(dictionary));
  end = close(sections_.dictionary, end);
  ARROW_RETURN_NOT_OK(Flush());
  FinishedTextIndex finished;
  finished.blob_length = end;
  finished.open_part = ToBuffer(EncodeOpenPart(dictionary));
  finished.summary = std::move(summary_);
  return finished;
}

}  // namespace infino::text
