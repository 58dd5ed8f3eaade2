#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// How a term is scored.
struct TermScoring {
  Bm25 bm25;
  double idf = 0;
};

/// The postings of one term, block by block: a block's last document and bound are known before it
/// is decoded. Single-threaded; what it returns stays valid until it moves.
///
/// A term with one document, or with one block, is one block whose lengths are known. A longer one
/// leaves the lengths to LengthReader. Every checksum is verified before the bytes are used.
class PostingsCursor {
  struct Private {
    explicit Private() = default;
  };

 public:
  /// `postings` holds the term's postings from the start, as much as was read (null if the entry
  /// has none). Bounds are 0 without `scoring`. `index` outlives the cursor. kCorrupt for bytes
  /// that break the format.
  [[nodiscard]] static arrow::Result<std::unique_ptr<PostingsCursor>> Make(
      const TextIndexReader& index, const TermEntry& entry, std::shared_ptr<arrow::Buffer> postings,
      const std::optional<TermScoring>& scoring);

  /// For Make.
  PostingsCursor(Private tag, const TextIndexReader& index, const TermEntry& entry,
                 const std::optional<TermScoring>& scoring);

  /// What is missing of the term's postings, relative to their start; nothing if they are complete.
  [[nodiscard]] std::optional<ByteRange> Missing() const;

  /// Takes the bytes of Missing(). REQUIRES: they are as long.
  void Supply(std::shared_ptr<arrow::Buffer> rest);

  /// Moves to the first block that ends at or after `doc`, forward or back, or to the end if there
  /// is none. REQUIRES: !Missing() unless supplied.
  [[nodiscard]] arrow::Status SeekBlock(DocId doc);

  /// In how many documents the term occurs.
  [[nodiscard]] uint32_t document_count() const { return document_count_; }

  [[nodiscard]] bool at_end() const { return at_end_; }

  // Of the current block. REQUIRES: !at_end().

  /// No document of the block is less than this.
  [[nodiscard]] DocId block_begin() const { return block().begin; }

  [[nodiscard]] DocId block_last() const { return block().last; }

  /// The highest contribution of its postings.
  [[nodiscard]] double block_bound() const { return block().bound; }

  /// Moves on to the next block.
  [[nodiscard]] arrow::Status NextBlock();

  /// Its documents, ascending.
  [[nodiscard]] arrow::Result<std::span<const DocId>> Docs();

  /// The frequencies of its documents, and their lengths if the term knows them, else nothing.
  /// REQUIRES: Docs() succeeded.
  [[nodiscard]] std::span<const uint32_t> Frequencies();

  [[nodiscard]] std::span<const uint32_t> Lengths() const { return own_lengths_; }

  /// The highest contribution of the postings in [begin, end), or somewhat more; decodes nothing
  /// and does not move.
  [[nodiscard]] double CoarseBound(DocId begin, DocId end) const;

 private:
  struct Block {
    DocId begin = 0;
    DocId last = 0;
    uint32_t docs_offset = 0;  // in the super-block
    uint32_t frequencies_offset = 0;
    uint8_t doc_code = 0;
    uint8_t frequency_width = 0;
    double bound = 0;
  };

  struct SuperBlock {
    DocId begin = 0;
    DocId last = 0;
    uint32_t checksum = 0;
    uint64_t offset = 0;  // from the start of the postings
    uint64_t length = 0;
    double bound = 0;
    bool verified = false;
  };

  void OpenSingle(const TermEntry& entry);
  [[nodiscard]] arrow::Status OpenOnlyBlock();
  [[nodiscard]] arrow::Status OpenSkipData(uint64_t skip_length, uint64_t postings_length);
  [[nodiscard]] arrow::Status LoadSuperBlock(size_t ordinal);
  [[nodiscard]] bool DecodeDocs();
  [[nodiscard]] bool DecodeBitmap(ByteSpan bytes);
  [[nodiscard]] arrow::Status Corrupt(const char* what) const;
  [[nodiscard]] double BoundOf(std::span<const Impact> impacts) const;

  [[nodiscard]] const Block& block() const { return blocks_[block_]; }

  /// Documents in a block of the current super-block.
  [[nodiscard]] uint32_t CountOf(size_t block) const;

  [[nodiscard]] size_t block_total() const {
    return (size_t{document_count_} + kBlockSize - 1) / kBlockSize;
  }

  const TextIndexReader* index_;
  uint32_t document_count_;
  std::optional<TermScoring> scoring_;
  std::shared_ptr<arrow::Buffer> first_;  // the postings' beginning
  std::shared_ptr<arrow::Buffer> rest_;   // from super-block rest_begin_ on
  size_t rest_begin_ = 0;

  std::vector<SuperBlock> super_blocks_;  // empty for a term of one block
  size_t super_block_ = 0;
  bool loaded_ = false;  // whether blocks_ are those of super_block_
  ByteSpan super_block_bytes_;
  std::vector<Block> blocks_;  // of the current super-block
  size_t block_ = 0;
  bool at_end_ = false;

  bool docs_decoded_ = false;
  bool frequencies_decoded_ = false;
  std::vector<DocId> docs_;
  std::vector<uint32_t> frequencies_;
  std::vector<uint32_t> own_lengths_;
  Impacts scratch_;
};

}  // namespace infino::text
