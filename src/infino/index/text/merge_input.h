#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/fst_reader.h"
#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/index/text/positions_reader.h"
#include "infino/index/text/postings_cursor.h"
#include "infino/index/text/term_dictionary.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_index_merge.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// Reads ranges that move forward, many at a time.
class ReadAhead {
 public:
  /// `index` and `read` outlive it. Reads up to `end` of the blob.
  ReadAhead(const TextIndexReader& index, const BlobRead& read, int64_t end, int64_t read_bytes)
      : index_(&index), read_(&read), end_(end), read_bytes_(read_bytes) {}

  /// REQUIRES: `range` lies before the end.
  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Buffer>> Get(ByteRange range);

 private:
  const TextIndexReader* index_;
  const BlobRead* read_;
  int64_t end_;
  int64_t read_bytes_;
  ByteRange held_;
  std::shared_ptr<arrow::Buffer> buffer_;
};

/// Where the documents of an input go: by a list, or all by the same distance.
struct DocMap {
  std::span<const DocId> new_docs;  ///< Empty: the documents move by `first`.
  DocId first = 0;
};

/// One input of a merge: its terms in order, and the postings of the current one with their new
/// documents, block by block. Single-threaded.
class MergeInput {
 public:
  /// `index` and `read` outlive the input. `lengths` are those of the result; `docs` only names
  /// documents that they have.
  MergeInput(const TextIndexReader& index, const BlobRead& read, DocMap docs,
             std::span<const uint32_t> lengths, int64_t read_bytes);

  MergeInput(const MergeInput&) = delete;
  MergeInput& operator=(const MergeInput&) = delete;
  MergeInput(MergeInput&&) = delete;
  MergeInput& operator=(MergeInput&&) = delete;
  ~MergeInput() = default;

  /// Moves to the next term, at first to the first one; false past the last.
  [[nodiscard]] arrow::Result<bool> NextTerm();

  [[nodiscard]] std::string_view term() const { return term_; }

  /// Bytes of postings and positions up to the current term.
  [[nodiscard]] int64_t done_bytes() const;

  /// Starts on the current term's postings.
  [[nodiscard]] arrow::Status OpenPostings();

  /// Moves to the next document that stays; false past the last. Called where at_block_end().
  [[nodiscard]] arrow::Result<bool> NextBlock();

  [[nodiscard]] bool at_block_end() const { return at_ == docs_.size(); }

  /// Of the current document. REQUIRES: !at_block_end().
  [[nodiscard]] DocId doc() const { return docs_[at_]; }

  [[nodiscard]] uint32_t frequency() const { return frequencies_[at_]; }

  /// None if the index has no positions.
  [[nodiscard]] std::span<const uint32_t> differences() const {
    return std::span(differences_).subspan(differences_at_, has_positions_ ? frequencies_[at_] : 0);
  }

  void NextDoc() {
    if (has_positions_) differences_at_ += frequencies_[at_];
    ++at_;
  }

 private:
  [[nodiscard]] arrow::Result<bool> NextDictionaryBlock();
  [[nodiscard]] arrow::Status OpenSuperBlock(size_t ordinal);
  [[nodiscard]] arrow::Status TakeBlock();
  [[nodiscard]] arrow::Status KeepSurvivors(std::span<const DocId> docs,
                                            std::span<const uint32_t> frequencies);

  const TextIndexReader& index_;
  DocMap doc_map_;
  std::span<const uint32_t> lengths_;
  bool has_positions_;
  ReadAhead dictionary_reads_;
  ReadAhead postings_reads_;
  ReadAhead positions_reads_;  // of terms whose positions are read in pieces

  std::optional<FstReader::Cursor> blocks_;  // nothing if the dictionary is inline
  bool is_started_ = false;
  std::shared_ptr<arrow::Buffer> block_bytes_;
  DictionaryCursor entries_;
  std::string term_;

  // Of the current term.
  std::unique_ptr<PostingsCursor> cursor_;    // null: one document
  std::optional<PositionsReader> positions_;  // nothing if the index has none
  size_t block_ = 0;                          // the next one, of the term
  size_t super_block_ = 0;                    // the open one
  size_t blocks_left_ = 0;  // of the open super-block, or of the term if it has none

  // Of the current block, survivors only.
  std::vector<DocId> docs_;
  std::vector<uint32_t> frequencies_;
  std::vector<uint32_t> differences_;
  size_t at_ = 0;
  size_t differences_at_ = 0;
  std::vector<uint32_t> all_differences_;  // scratch
};

}  // namespace infino::text
