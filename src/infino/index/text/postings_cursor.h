#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/text/term_postings.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// A place in the postings of one term, block by block: a block's last document is known before it
/// is decoded. Single-threaded; what it returns stays valid until it moves.
///
/// A term of one block knows the lengths of its documents; a longer one leaves them to DocLengths.
class PostingsCursor {
 public:
  /// Stands on the first block. `index` outlives the cursor.
  PostingsCursor(const TextIndexReader& index, std::shared_ptr<const TermPostings> postings)
      : index_(&index), postings_(std::move(postings)) {}

  // Moving keeps what was decoded in its place; a copy would look into another cursor's.
  PostingsCursor(PostingsCursor&&) = default;
  PostingsCursor& operator=(PostingsCursor&&) = default;
  PostingsCursor(const PostingsCursor&) = delete;
  PostingsCursor& operator=(const PostingsCursor&) = delete;
  ~PostingsCursor() = default;

  /// In how many documents the term occurs.
  [[nodiscard]] uint32_t document_count() const { return postings_->document_count(); }

  [[nodiscard]] const TermPostings& postings() const { return *postings_; }

  /// Moves to the first block that ends at or after `doc`, forward or back, or to the end if there
  /// is none.
  void SeekBlock(DocId doc);

  /// Moves on to the next block.
  void NextBlock() { MoveTo(block_ + 1); }

  /// Moves to a block by its number, which may be one past the last.
  void GoToBlock(size_t block) { MoveTo(block); }

  [[nodiscard]] bool at_end() const { return block_ >= postings_->blocks().size(); }

  // Of the current block. REQUIRES: !at_end().

  /// Its number.
  [[nodiscard]] size_t block() const { return block_; }

  /// No document of the block is less than this.
  [[nodiscard]] DocId block_begin() const { return postings_->blocks()[block_].begin; }

  [[nodiscard]] DocId block_last() const { return postings_->blocks()[block_].last; }

  /// Its documents, ascending. kCorrupt for bytes that break the format.
  [[nodiscard]] arrow::Result<std::span<const DocId>> Docs() {
    if (!decoded_docs_.empty()) return decoded_docs_;
    return DecodeDocs();
  }

  /// Sets ordinals[i] to that of docs[i] in the block, or to kNotInBlock. REQUIRES: ascending, none
  /// below block_begin(), as many of both. kCorrupt as Docs.
  [[nodiscard]] arrow::Status Locate(std::span<const DocId> docs, std::span<uint8_t> ordinals);

  /// What Docs() returned. REQUIRES: it succeeded.
  [[nodiscard]] std::span<const DocId> decoded_docs() const { return decoded_docs_; }

  /// The frequencies of its documents.
  [[nodiscard]] std::span<const uint32_t> Frequencies() {
    if (decoded_frequencies_.empty()) DecodeFrequencies();
    return decoded_frequencies_;
  }

  /// The frequencies of those of its documents whose ordinals are given. REQUIRES: as many of both.
  void FrequenciesOf(std::span<const uint8_t> ordinals, std::span<uint32_t> frequencies);

  /// The lengths of its documents if the term knows them, else nothing.
  [[nodiscard]] std::span<const uint32_t> Lengths() const { return postings_->lengths(); }

 private:
  void MoveTo(size_t block) {
    if (block == block_) return;
    block_ = block;
    decoded_docs_ = {};
    decoded_frequencies_ = {};
  }

  [[nodiscard]] arrow::Result<std::span<const DocId>> DecodeDocs();
  void DecodeFrequencies();

  const TextIndexReader* index_;
  std::shared_ptr<const TermPostings> postings_;
  size_t block_ = 0;
  std::span<const DocId> decoded_docs_;  // empty until asked for
  std::span<const uint32_t> decoded_frequencies_;
  std::vector<DocId> docs_;  // of a term of more than one block
  std::vector<uint32_t> frequencies_;
};

}  // namespace infino::text
