#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/impact_check.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// Views of a section of a blob that is read in order, some MiB at a time. Blocks on the blob.
class SectionWindow {
 public:
  SectionWindow(const RangeReader& blob, ByteRange section) : blob_(&blob), section_(section) {}

  /// Valid until the next call. REQUIRES: the bytes lie in the section.
  [[nodiscard]] arrow::Result<ByteSpan> Get(uint64_t offset, uint64_t length);

 private:
  const RangeReader* blob_;
  ByteRange section_;
  uint64_t begin_ = 0;  // of what is held, in the section
  std::shared_ptr<arrow::Buffer> held_;
};

/// The part of VerifyTextIndex that knows postings, positions and lengths. Terms come in order.
class PostingsVerifier {
 public:
  /// What the array of lengths adds up to.
  struct LengthTotals {
    int64_t rows_with_token = 0;
    int64_t tokens = 0;
  };

  /// Both outlive the verifier.
  PostingsVerifier(const TextIndexReader& index, const RangeReader& blob);

  /// Takes the section of lengths and decodes all of it. Called once, first.
  [[nodiscard]] arrow::Status SetLengths(const arrow::Buffer& section);

  [[nodiscard]] const LengthTotals& lengths() const { return lengths_; }

  /// Decodes all that the blob has of the next term.
  [[nodiscard]] arrow::Status CheckTerm(std::string_view term, const TermEntry& entry);

  /// After the last term: whether all terms together are what the lengths say of every document.
  [[nodiscard]] arrow::Status CheckTotals() const;

 private:
  /// A super-block of positions, or all positions of a term that has one block.
  struct PositionsRun {
    uint64_t offset = 0;
    uint64_t length = 0;
    uint32_t checksum = 0;
  };

  struct BlockHead {
    DocId begin = 0;
    DocId last = 0;
    uint8_t doc_code = 0;
    uint8_t frequency_width = 0;
    Impacts impacts;
  };

  [[nodiscard]] arrow::Status Corrupt(const std::string& what) const;

  [[nodiscard]] arrow::Status CheckSingle(const TermEntry& entry);
  [[nodiscard]] arrow::Status CheckOnlyBlock(const TermEntry& entry);
  [[nodiscard]] arrow::Status CheckLong(const TermEntry& entry);
  [[nodiscard]] arrow::Status CheckSuperBlock(ByteSpan bytes, const BlockHead& whole,
                                              uint32_t doc_count);
  [[nodiscard]] arrow::Status DecodeBlock(const BlockHead& head, ByteSpan docs,
                                          ByteSpan frequencies, std::span<DocId> into);

  /// Of a term that has one block, which was taken.
  [[nodiscard]] bool IsPackedTightly(ByteSpan only_block);

  /// Takes the next block of the run at hand: the last `count` of docs_ and frequencies_.
  [[nodiscard]] arrow::Status TakeBlock(size_t count, ImpactCheck& check);
  void TakeLengths(size_t first);

  [[nodiscard]] arrow::Status OpenPositions(const TermEntry& entry);
  [[nodiscard]] arrow::Status CheckPositions(const TermEntry& entry, size_t run);
  [[nodiscard]] arrow::Status TakePositions(ByteSpan block, size_t first, size_t count);

  const TextIndexReader* index_;
  bool every_position_taken_;  // without stop words no position of a document is empty
  SectionWindow postings_;
  SectionWindow positions_;
  std::shared_ptr<const DocLengths> doc_length_array_;
  LengthTotals lengths_;

  // Sums over documents, weighted so that they agree only if each document agrees.
  uint64_t length_sum_ = 0;
  uint64_t frequency_sum_ = 0;
  uint64_t expected_position_sum_ = 0;
  uint64_t position_sum_ = 0;
  uint64_t section_end_ = 0;  // of the terms before

  // Of the term at hand.
  std::string_view term_;
  uint64_t offset_ = 0;
  uint64_t total_frequency_ = 0;
  std::vector<PositionsRun> position_runs_;

  // Of the super-block at hand, or the term's only block.
  std::vector<DocId> docs_;
  std::vector<uint32_t> frequencies_;
  std::vector<uint32_t> doc_lengths_;
  std::vector<uint32_t> scratch_;
};

}  // namespace infino::text
