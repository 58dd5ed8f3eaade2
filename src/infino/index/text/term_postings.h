#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/codec/bit_packing.h"
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

  friend bool operator==(const TermScoring&, const TermScoring&) = default;
};

/// What the blocks of a term contribute at most, under one scoring. Immutable.
struct BlockBounds {
  /// Super-blocks and best bounds are kept for the k up to this.
  static constexpr size_t kBestMax = 1024;

  TermScoring scoring;
  double highest = 0;
  std::vector<double> blocks;
  std::vector<double> super_blocks;

  /// The highest of those block bounds that some document attains, best first. So best[k - 1] is a
  /// contribution that at least k documents reach.
  std::vector<double> best;

  [[nodiscard]] size_t memory_bytes() const {
    return sizeof(*this) + (blocks.size() + super_blocks.size() + best.size()) * sizeof(double);
  }
};

/// The postings of one term, with all checksums verified and the place of every block known; the
/// blocks themselves stay packed. Immutable but for a memory of bounds; thread-safe. Owns its
/// bytes and refers to nothing else, so that it may be kept for the next query.
class TermPostings {
  struct Private {
    explicit Private() = default;
  };

 public:
  struct Block {
    DocId begin = 0;  ///< No document of the block is less.
    DocId last = 0;
    uint64_t docs_offset = 0;
    uint64_t frequencies_offset = 0;
    uint32_t impacts_begin = 0;
    uint8_t doc_code = 0;
    uint8_t frequency_width = 0;
  };

  /// `postings` are all of the entry's postings, null for a term of one document. kCorrupt for
  /// bytes that break the format.
  [[nodiscard]] static arrow::Result<std::shared_ptr<const TermPostings>> Open(
      const TextIndexReader& index, const TermEntry& entry,
      const std::shared_ptr<arrow::Buffer>& postings);

  /// For Open.
  explicit TermPostings(Private tag, uint32_t document_count) : document_count_(document_count) {
    static_cast<void>(tag);
  }

  [[nodiscard]] uint32_t document_count() const { return document_count_; }

  [[nodiscard]] std::span<const Block> blocks() const { return blocks_; }

  /// What `block` could at most contribute follows from these.
  [[nodiscard]] std::span<const Impact> ImpactsOf(size_t block) const;

  /// How many documents a block has.
  [[nodiscard]] uint32_t CountOf(size_t block) const;

  /// The documents of a block into `docs`, ascending. False if they break the format.
  /// REQUIRES: more than one block, docs.size() == CountOf(block).
  [[nodiscard]] bool DecodeDocs(size_t block, std::span<DocId> docs) const;

  /// The frequencies of a block. REQUIRES: as above.
  void DecodeFrequencies(size_t block, std::span<uint32_t> frequencies) const;

  /// One frequency of a block. REQUIRES: more than one block, ordinal < CountOf(block).
  [[nodiscard]] uint32_t FrequencyAt(size_t block, size_t ordinal) const {
    const Block& current = blocks_[block];
    const ByteSpan bytes = ByteSpan(bytes_).subspan(current.frequencies_offset);
    return 1 + (CountOf(block) == kBlockSize
                    ? UnpackAtOfBlock(bytes, current.frequency_width, ordinal)
                    : UnpackAt(bytes, current.frequency_width, ordinal));
  }

  /// Of a block that is stored as one: bit i, the lowest of a byte first, is document begin + i.
  /// Empty for others.
  [[nodiscard]] ByteSpan BitmapOf(size_t block) const;

  // Of a term of one block all documents, their frequencies and lengths; else empty.

  [[nodiscard]] std::span<const DocId> docs() const { return docs_; }

  [[nodiscard]] std::span<const uint32_t> frequencies() const { return frequencies_; }

  [[nodiscard]] std::span<const uint32_t> lengths() const { return lengths_; }

  /// The bounds under `scoring`: those of the last call if it was the same.
  [[nodiscard]] std::shared_ptr<const BlockBounds> BoundsUnder(const TermScoring& scoring) const;

  /// What is held, bounds included, in bytes.
  [[nodiscard]] size_t memory_bytes() const;

 private:
  void OpenSingle(const TermEntry& entry);
  [[nodiscard]] arrow::Status OpenOnlyBlock(const TextIndexReader& index, const TermEntry& entry,
                                            ByteSpan bytes);
  [[nodiscard]] arrow::Status OpenBlocks(const TextIndexReader& index, const TermEntry& entry);
  [[nodiscard]] bool ReadSuperBlock(ByteSpan bytes, uint64_t offset, DocId begin, DocId last);
  void AddBlock(const Block& block, std::span<const Impact> impacts);
  [[nodiscard]] std::shared_ptr<const BlockBounds> ComputeBounds(const TermScoring& scoring) const;

  uint32_t document_count_;
  std::vector<Block> blocks_;
  std::vector<Impact> impacts_;
  std::vector<uint8_t> bytes_;  // of a term of more than one block

  // Of a term of one block.
  std::vector<DocId> docs_;
  std::vector<uint32_t> frequencies_;
  std::vector<uint32_t> lengths_;

  mutable std::mutex mutex_;
  mutable std::shared_ptr<const BlockBounds> bounds_;
};

}  // namespace infino::text
