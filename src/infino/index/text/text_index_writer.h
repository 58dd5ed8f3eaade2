#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/dictionary_writer.h"
#include "infino/index/text/positions_writer.h"
#include "infino/index/text/postings_writer.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/term_table.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// What is written beside terms and lengths.
struct TextIndexHead {
  SuperfileId superfile;
  std::string analyzer;
  std::string stopwords;
  std::string stemmer;
  bool has_positions = false;
};

/// Writes what a builder collected as a blob, term by term, and makes its open part. Memory on top
/// of what was collected: the encoded dictionary and one term's postings. Used once.
class TextIndexWriter {
 public:
  /// `sink` outlives the writer.
  TextIndexWriter(arrow::io::OutputStream& sink, TextIndexHead head);

  /// `terms` is closed; `lengths` has one entry per row.
  [[nodiscard]] arrow::Result<FinishedTextIndex> Write(TermTable& terms,
                                                       std::span<const uint32_t> lengths,
                                                       const TextIndexBuilder::TermVisitor& visit);

 private:
  struct RawPostings;

  [[nodiscard]] arrow::Status WriteHead();
  [[nodiscard]] arrow::Status WriteTerm(TermTable& terms, uint32_t id,
                                        std::span<const uint32_t> lengths);
  void EncodePostings(const TermRecord& record, std::span<const uint32_t> lengths);
  void EncodeBlock(uint32_t count, std::span<const uint32_t> lengths, bool is_single);
  [[nodiscard]] arrow::Status WriteLengths(std::span<const uint32_t> lengths);
  [[nodiscard]] std::vector<uint8_t> EncodeOpenPart(const TextIndexSummary& summary,
                                                    const FinishedDictionary& dictionary) const;

  /// Buffered writing to the sink, which counts.
  [[nodiscard]] arrow::Status Put(ByteSpan bytes);
  [[nodiscard]] arrow::Status Flush();

  arrow::io::OutputStream& sink_;
  TextIndexHead head_;
  uint64_t written_ = 0;
  ByteWriter pending_;

  DictionaryWriter dictionary_;
  PostingsWriter postings_;
  PositionsWriter positions_;
  TextBlobSections sections_;
  std::vector<LengthChunk> length_chunks_;

  // Of the current term.
  TermEntry entry_;
  std::string term_;
  std::vector<uint8_t> raw_postings_;
  std::vector<uint8_t> raw_positions_;
  size_t postings_at_ = 0;
  size_t positions_at_ = 0;
  std::array<DocId, kBlockSize> docs_{};
  std::array<uint32_t, kBlockSize> frequencies_{};
  std::array<uint32_t, kBlockSize> doc_lengths_{};
  std::vector<uint32_t> differences_;
};

}  // namespace infino::text
