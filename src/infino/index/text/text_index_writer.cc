#include "infino/index/text/text_index_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/index/text/dictionary_writer.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/term_table.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {
namespace {

constexpr size_t kPendingMax = size_t{256} << 10;
constexpr size_t kFetchAhead = 8;

/// Reads a varint that a builder wrote. Such bytes never left memory.
uint32_t NextVarint(std::span<const uint8_t> bytes, size_t& at) {
  uint32_t value = 0;
  for (uint32_t shift = 0;; shift += 7) {
    const uint8_t byte = bytes[at++];
    value |= static_cast<uint32_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

void WriteRange(const ByteRange& range, ByteWriter& out) {
  out.WriteVarint(static_cast<uint64_t>(range.offset));
  out.WriteVarint(static_cast<uint64_t>(range.length));
}

}  // namespace

TextIndexWriter::TextIndexWriter(arrow::io::OutputStream& sink, TextIndexHead head)
    : sink_(sink), head_(std::move(head)), dictionary_(head_.has_positions) {}

arrow::Status TextIndexWriter::Put(ByteSpan bytes) {
  pending_.WriteBytes(bytes);
  written_ += bytes.size();
  return pending_.size() < kPendingMax ? arrow::Status::OK() : Flush();
}

arrow::Status TextIndexWriter::Flush() {
  const ByteSpan bytes = pending_.bytes();
  ARROW_RETURN_NOT_OK(sink_.Write(bytes.data(), static_cast<int64_t>(bytes.size())));
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

void TextIndexWriter::EncodeBlock(uint32_t count, std::span<const uint32_t> lengths,
                                  bool is_single) {
  const std::span<const uint32_t> frequencies = std::span(frequencies_).first(count);
  for (uint32_t i = 0; i < count; ++i) {
    doc_lengths_[i] = lengths[docs_[i]];
    entry_.total_frequency += frequencies[i];
  }
  if (is_single) {
    entry_.single_doc = docs_[0];
    entry_.impacts.assign(1, {.frequency = frequencies_[0], .length = doc_lengths_[0]});
  } else {
    postings_.Add({.docs = std::span(docs_).first(count),
                   .frequencies = frequencies,
                   .lengths = std::span(doc_lengths_).first(count)});
  }
  if (!head_.has_positions) return;
  differences_.clear();
  const uint64_t total = std::reduce(frequencies.begin(), frequencies.end(), uint64_t{0});
  for (uint64_t i = 0; i < total; ++i) {
    differences_.push_back(NextVarint(raw_positions_, positions_at_));
  }
  positions_.Add(differences_);
}

void TextIndexWriter::EncodePostings(const TermRecord& record, std::span<const uint32_t> lengths) {
  const uint32_t document_count = record.document_count;
  const bool is_single = document_count == 1;
  DocId doc = record.first_doc;
  uint32_t in_block = 0;
  for (uint32_t i = 0; i < document_count; ++i) {
    docs_[in_block] = doc;
    if (i + 1 < document_count) {
      const uint32_t code = NextVarint(raw_postings_, postings_at_);
      frequencies_[in_block] = (code & 1) != 0 ? 1 : NextVarint(raw_postings_, postings_at_);
      doc += code / 2;
    } else {
      frequencies_[in_block] = record.frequency;
    }
    if (++in_block == kBlockSize || i + 1 == document_count) {
      EncodeBlock(in_block, lengths, is_single);
      in_block = 0;
    }
  }
}

arrow::Status TextIndexWriter::WriteTerm(TermTable& terms, uint32_t id,
                                         std::span<const uint32_t> lengths) {
  const TermRecord& record = terms.record(id);
  record.postings.CopyTo(terms.arena(), raw_postings_);
  if (head_.has_positions) terms.positions(id).stream.CopyTo(terms.arena(), raw_positions_);
  postings_at_ = 0;
  positions_at_ = 0;
  Impacts impacts = std::move(entry_.impacts);  // keeps its memory
  entry_ = TermEntry();
  entry_.impacts = std::move(impacts);
  entry_.document_frequency = record.document_count;
  entry_.offset = written_ - static_cast<uint64_t>(sections_.postings.offset);
  const bool is_single = record.document_count == 1;
  if (!is_single) postings_.Begin(record.document_count);
  if (head_.has_positions) positions_.Begin(record.document_count);
  EncodePostings(record, lengths);
  if (!is_single) {
    postings_.End();
    entry_.impacts.assign(postings_.impacts().begin(), postings_.impacts().end());
    entry_.skip_length = postings_.skip_data().size();
    entry_.postings_length = entry_.skip_length + postings_.blocks().size();
    ARROW_RETURN_NOT_OK(Put(postings_.skip_data()));
    ARROW_RETURN_NOT_OK(Put(postings_.blocks()));
  }
  if (head_.has_positions) {
    positions_.End();
    if (is_single && positions_.bytes().size() <= kInlinePositionsMax) {
      entry_.inline_positions = positions_.bytes();
    } else {
      entry_.positions_length = positions_.bytes().size();
      ARROW_RETURN_NOT_OK(Put(positions_.bytes()));
    }
  }
  terms.CopyTerm(id, term_);
  return dictionary_.Add(term_, entry_);
}

arrow::Status TextIndexWriter::WriteLengths(std::span<const uint32_t> lengths) {
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

std::vector<uint8_t> TextIndexWriter::EncodeOpenPart(const TextIndexSummary& summary,
                                                     const FinishedDictionary& dictionary) const {
  ByteWriter out;
  out.WriteU32(kOpenPartMagic);
  out.WriteU16(kTextFormatVersion);
  out.WriteU16(static_cast<uint16_t>((head_.has_positions ? kHasPositions : 0) |
                                     (dictionary.is_inline ? kHasInlineDictionary : 0)));
  out.WriteVarint(static_cast<uint64_t>(summary.row_count));
  out.WriteVarint(static_cast<uint64_t>(summary.rows_with_token));
  out.WriteVarint(static_cast<uint64_t>(summary.token_total));
  out.WriteVarint(static_cast<uint64_t>(summary.term_count));
  out.WriteString(summary.min_term);
  out.WriteString(summary.max_term);
  out.WriteString(head_.analyzer);
  out.WriteVarint(kAnalysisRevision);
  out.WriteString(head_.stopwords);
  out.WriteString(head_.stemmer);
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

arrow::Result<FinishedTextIndex> TextIndexWriter::Write(
    TermTable& terms, std::span<const uint32_t> lengths,
    const TextIndexBuilder::TermVisitor& visit) {
  const auto close = [this](ByteRange& section, int64_t start) {
    section = {.offset = start, .length = static_cast<int64_t>(written_) - start};
    return section.end();
  };
  FinishedTextIndex finished;
  TextIndexSummary& summary = finished.summary;
  summary.row_count = static_cast<int64_t>(lengths.size());
  summary.rows_with_token =
      std::ranges::count_if(lengths, [](uint32_t length) { return length > 0; });
  summary.token_total = std::reduce(lengths.begin(), lengths.end(), int64_t{0});
  summary.term_count = terms.size();

  ARROW_RETURN_NOT_OK(WriteHead());
  sections_.postings.offset = kBlobHeadSize;
  const std::vector<uint32_t> ids = terms.SortAndClose();
  for (size_t i = 0; i < ids.size(); ++i) {
    // Neighbours in order lie far apart in memory.
    if (i + kFetchAhead < ids.size()) terms.FetchRecord(ids[i + kFetchAhead]);
    if (i + kFetchAhead / 2 < ids.size()) terms.FetchStream(ids[i + kFetchAhead / 2]);
    ARROW_RETURN_NOT_OK(WriteTerm(terms, ids[i], lengths));
    if (summary.min_term.empty()) summary.min_term = term_;
    if (visit) visit(term_);
  }
  summary.max_term = term_;
  int64_t end = close(sections_.postings, kBlobHeadSize);
  ARROW_RETURN_NOT_OK(WriteLengths(lengths));
  end = close(sections_.lengths, end);
  ARROW_ASSIGN_OR_RAISE(FinishedDictionary dictionary, dictionary_.Finish());
  if (!dictionary.is_inline) ARROW_RETURN_NOT_OK(Put(dictionary.blocks));
  end = close(sections_.dictionary, end);
  ARROW_RETURN_NOT_OK(Flush());
  finished.blob_length = end;
  finished.open_part = ToBuffer(EncodeOpenPart(summary, dictionary));
  return finished;
}

}  // namespace infino::text
