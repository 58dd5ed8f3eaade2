#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "infino/common/bytes.h"

namespace infino::text {

/// Encodes the positions of one term after the other: docs/format/text-index.md, "Positions".
///
/// A document's positions are given as differences, each to the one before, the first to 0. Keeps
/// the encoded bytes of the current term in memory. Single-threaded.
class PositionsWriter {
 public:
  /// Starts a term.
  void Begin(uint32_t document_count);

  /// Adds the positions of the next block of postings: of its documents one after the other.
  void Add(std::span<const uint32_t> differences);

  /// Ends the term.
  void End();

  /// Of the ended term.
  [[nodiscard]] ByteSpan bytes() const { return out_.bytes(); }

 private:
  void EndSuperBlock();

  uint32_t document_count_ = 0;
  uint32_t block_count_ = 0;  // in the open super-block
  ByteWriter block_;
  ByteWriter directory_;
  ByteWriter packed_;
  ByteWriter skip_;
  ByteWriter body_;
  ByteWriter out_;
};

}  // namespace infino::text
