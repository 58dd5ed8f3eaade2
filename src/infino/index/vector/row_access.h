#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/index/vector/stored_codes.h"
#include "infino/index/vector/vector_index_reader.h"

namespace infino::vector {

/// The rows of an index that a search looks at: all of them, or those that were asked for. Single-
/// threaded.
class RowAccess {
 public:
  /// `index` outlives it.
  explicit RowAccess(const VectorIndexReader& index) : index_(index) {}

  /// All rows, or null.
  void UseWhole(std::shared_ptr<const WholeRows> whole) { whole_ = std::move(whole); }

  [[nodiscard]] bool has_whole() const { return whole_ != nullptr; }

  /// The ranges of the blob that have the rows at `wanted`, in any order, repeated or not: of these
  /// alone, or of all rows if `whole` or if they are about as many.
  [[nodiscard]] std::vector<ByteRange> Plan(std::vector<uint32_t> wanted, bool whole);

  /// Takes what Plan asked for.
  void Take(Buffers bytes);

  /// All rows, if Take got them.
  [[nodiscard]] const std::shared_ptr<const WholeRows>& read_whole() const { return read_whole_; }

  /// The row at a position, or null if its checksum is wrong. REQUIRES: it was asked for.
  [[nodiscard]] const uint8_t* RowAt(uint32_t position) const {
    return whole_ != nullptr ? whole_->RowAt(position) : FindRow(position);
  }

  /// What to say of a row whose checksum is wrong.
  [[nodiscard]] arrow::Status Damage(uint32_t position) const;

  void Prefetch(uint32_t position) const {
    if (whole_ == nullptr) return;
    constexpr size_t kLine = 64;
    const uint8_t* const row = whole_->Peek(position);
    for (size_t at = 0; at < index_.row_bytes(); at += kLine) __builtin_prefetch(row + at);
  }

 private:
  [[nodiscard]] const uint8_t* FindRow(uint32_t position) const;

  struct Stretch {
    uint32_t begin = 0;  // positions
    uint32_t end = 0;
  };

  const VectorIndexReader& index_;
  bool asked_whole_ = false;
  std::vector<Stretch> stretches_;  // ascending
  Buffers bytes_;
  std::shared_ptr<const WholeRows> whole_;
  std::shared_ptr<const WholeRows> read_whole_;
};

}  // namespace infino::vector
