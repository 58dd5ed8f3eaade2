#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/text_format.h"

namespace infino::text {

/// Up to 128 postings of one term, in ascending order of document.
struct PostingsBlock {
  std::span<const DocId> docs;
  std::span<const uint32_t> frequencies;
  std::span<const uint32_t> lengths;  ///< Of the documents, in tokens.
};

/// Encodes the postings of one term after the other: docs/format/text-index.md, "Postings". Keeps
/// the encoded bytes of the current term in memory. Single-threaded.
class PostingsWriter {
 public:
  /// Starts a term. REQUIRES: document_count >= 2; a single posting stands in the dictionary.
  void Begin(uint32_t document_count);

  /// Adds the next block. REQUIRES: full, unless it completes the term's documents.
  void Add(const PostingsBlock& block);

  /// Ends the term. REQUIRES: as many documents were added as Begin said.
  void End();

  /// Of the ended term: its bytes, how many of them are skip data, and the impacts of all postings.
  [[nodiscard]] ByteSpan skip_data() const { return skip_.bytes(); }

  [[nodiscard]] ByteSpan blocks() const { return body_.bytes(); }

  [[nodiscard]] std::span<const Impact> impacts() const { return impacts_; }

 private:
  void AddOnlyBlock(const PostingsBlock& block);
  void EndSuperBlock();
  void WriteDocs(std::span<const DocId> docs, uint8_t code);
  void WriteNumbers(std::span<const uint32_t> values, uint32_t width);

  /// The document after the last one written, which is what gaps count from.
  [[nodiscard]] DocId next_doc() const { return last_doc_ + 1; }

  uint32_t document_count_ = 0;
  DocId last_doc_ = kNoBase;
  DocId super_block_base_ = kNoBase;
  uint32_t block_count_ = 0;  // in the open super-block
  ImpactCollector block_impacts_;
  ImpactCollector super_block_impacts_;
  ImpactCollector term_impacts_;
  Impacts impacts_;
  std::array<uint32_t, kBlockSize> scratch_{};
  ByteWriter directory_;
  ByteWriter packed_;
  ByteWriter skip_;
  ByteWriter body_;
};

}  // namespace infino::text
