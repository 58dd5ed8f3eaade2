#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/codec/fst_reader.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/index/text/text_index_builder.h"

namespace infino::text {

/// Which analyzer made the terms of an index. A query must be analysed the same way.
struct AnalyzerFacts {
  std::string name;
  uint32_t revision = 0;
  std::string stopwords;  ///< Empty: none.
  std::string stemmer;    ///< Empty: none.

  friend bool operator==(const AnalyzerFacts&, const AnalyzerFacts&) = default;
};

/// Where the parts of the blob are, relative to its start. Postings, with each term's positions
/// behind them, then lengths, then dictionary blocks.
struct TextBlobSections {
  ByteRange postings;
  ByteRange lengths;
  ByteRange dictionary;  ///< Empty if the dictionary is inline.

  friend bool operator==(const TextBlobSections&, const TextBlobSections&) = default;
};

/// One chunk of the array of document lengths.
struct LengthChunk {
  uint64_t offset = 0;  ///< In the section of lengths.
  uint32_t checksum = 0;
  uint8_t width = 0;  ///< Bits per length.
};

/// The open part of a text index: what is known of it without reading its blob. Parsed once,
/// immutable, shared by any number of searches and threads.
class TextIndexReader {
  struct Private {
    explicit Private() = default;
  };

 public:
  /// `blob_length` is the length of the blob that belongs to it, and `name` what errors call the
  /// index, as in "text index 'body' of superfile 3f2a". kCorrupt for anything that breaks the
  /// format, kUnsupportedVersion for a newer one.
  [[nodiscard]] static arrow::Result<std::shared_ptr<const TextIndexReader>> Open(
      std::shared_ptr<arrow::Buffer> open_part, int64_t blob_length, std::string name);

  /// For Open.
  TextIndexReader(Private tag, std::shared_ptr<arrow::Buffer> open_part, std::string name);

  TextIndexReader(const TextIndexReader&) = delete;
  TextIndexReader& operator=(const TextIndexReader&) = delete;
  TextIndexReader(TextIndexReader&&) = delete;
  TextIndexReader& operator=(TextIndexReader&&) = delete;
  ~TextIndexReader();

  [[nodiscard]] const std::string& name() const { return name_; }

  /// Tells readers of this process apart, also those that are gone.
  [[nodiscard]] uint64_t uid() const { return uid_; }

  [[nodiscard]] const TextIndexSummary& summary() const { return summary_; }

  [[nodiscard]] const AnalyzerFacts& analyzer() const { return analyzer_; }

  [[nodiscard]] bool has_positions() const { return has_positions_; }

  [[nodiscard]] const TextBlobSections& sections() const { return sections_; }

  /// One per 4,096 documents.
  [[nodiscard]] const std::vector<LengthChunk>& length_chunks() const { return length_chunks_; }

  /// The whole dictionary as one block, if it is small; else nothing. Without terms there is no
  /// block: then this is there and empty.
  [[nodiscard]] std::optional<ByteSpan> inline_dictionary() const { return inline_dictionary_; }

  /// The transducer to the dictionary's blocks, or null if the dictionary is inline. Its values are
  /// for DictionaryBlockAt.
  [[nodiscard]] const FstReader* dictionary_blocks() const {
    return blocks_.has_value() ? &*blocks_ : nullptr;
  }

  /// The one dictionary block, as a range of the blob, that has the term if any has; nothing if the
  /// term lies outside all of them. REQUIRES: !inline_dictionary().
  [[nodiscard]] arrow::Result<std::optional<ByteRange>> FindDictionaryBlock(
      std::string_view term) const;

  /// The dictionary blocks, as ranges of the blob that follow each other, which have all terms that
  /// begin with `prefix`; none if no term can. REQUIRES: !inline_dictionary().
  [[nodiscard]] arrow::Result<std::vector<ByteRange>> FindDictionaryBlocks(
      std::string_view prefix) const;

  /// Where the block is in the blob.
  [[nodiscard]] arrow::Result<ByteRange> DictionaryBlockAt(uint64_t value) const;

  /// About what the reader holds in memory, in bytes, the open part's buffer included.
  [[nodiscard]] int64_t memory_bytes() const;

 private:
  [[nodiscard]] arrow::Status Parse(int64_t blob_length);
  [[nodiscard]] arrow::Status ParseSummary(ByteReader& in);
  [[nodiscard]] arrow::Status ParseSections(ByteReader& in, int64_t blob_length);
  [[nodiscard]] arrow::Status ParseLengthChunks(ByteReader& in);
  [[nodiscard]] arrow::Status ParseDictionary(ByteReader& in);

  uint64_t uid_;
  std::shared_ptr<arrow::Buffer> open_part_;
  std::string name_;
  TextIndexSummary summary_;
  AnalyzerFacts analyzer_;
  bool has_positions_ = false;
  bool has_inline_dictionary_ = false;
  TextBlobSections sections_;
  std::vector<LengthChunk> length_chunks_;
  std::optional<ByteSpan> inline_dictionary_;  // in open_part_
  std::optional<FstReader> blocks_;            // in open_part_
};

}  // namespace infino::text
