#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "infino/index/text/byte_arena.h"

namespace infino::text {

/// What a builder knows of one term. Its postings but the last are in the stream, as
/// (difference to the next document) * 2 + (frequency is 1), then the frequency unless it is 1.
struct TermRecord {
  uint64_t prefix =
      0;              ///< The first 8 bytes as one big-endian number, zeros behind a shorter term.
  uint32_t rest = 0;  ///< Where the other bytes are in the arena.
  uint32_t document_count = 0;
  uint32_t first_doc = 0;
  uint32_t last_doc = 0;
  uint32_t frequency = 0;  ///< In the last document.
  uint16_t length = 0;     ///< In bytes.
  ByteStream postings;
};

/// The positions of one term: differences within each document, as varints.
struct PositionRecord {
  uint32_t last = 0;
  ByteStream stream;
};

/// A hash table from terms to records. Records never move and are numbered in order of arrival.
/// Single-threaded.
class TermTable {
 public:
  explicit TermTable(bool has_positions);

  /// The number of the term, which is added if it is new. REQUIRES: 0 < size <= kTermLengthMax.
  [[nodiscard]] uint32_t FindOrAdd(std::string_view term);

  [[nodiscard]] TermRecord& record(uint32_t id) {
    return records_[id >> kChunkBits][id & kChunkMask];
  }

  [[nodiscard]] const TermRecord& record(uint32_t id) const {
    return records_[id >> kChunkBits][id & kChunkMask];
  }

  /// REQUIRES: the table has positions.
  [[nodiscard]] PositionRecord& positions(uint32_t id) {
    return positions_[id >> kChunkBits][id & kChunkMask];
  }

  [[nodiscard]] ByteArena& arena() { return arena_; }

  [[nodiscard]] const ByteArena& arena() const { return arena_; }

  [[nodiscard]] uint32_t size() const { return size_; }

  [[nodiscard]] int64_t memory_bytes() const;

  /// Replaces the content of `out` with the term's bytes.
  void CopyTerm(uint32_t id, std::string& out) const;

  /// All numbers in the bytewise order of their terms. Forgets how to find terms: FindOrAdd may not
  /// be called afterwards.
  [[nodiscard]] std::vector<uint32_t> SortAndClose();

 private:
  static constexpr uint32_t kChunkBits = 8;
  static constexpr uint32_t kChunkSize = uint32_t{1} << kChunkBits;
  static constexpr uint32_t kChunkMask = kChunkSize - 1;
  static constexpr uint32_t kFree = 0xFFFFFFFF;

  struct Slot {
    uint32_t hash = 0;
    uint32_t id = kFree;
  };

  [[nodiscard]] uint32_t Add(std::string_view term, uint64_t prefix);
  [[nodiscard]] bool RestEquals(const TermRecord& record, std::string_view term) const;
  [[nodiscard]] std::string_view RestOf(const TermRecord& record) const;
  void Grow();

  ByteArena arena_;
  bool has_positions_;
  uint32_t size_ = 0;
  uint32_t mask_;
  std::vector<Slot> slots_;
  std::vector<std::unique_ptr<TermRecord[]>> records_;
  std::vector<std::unique_ptr<PositionRecord[]>> positions_;
};

}  // namespace infino::text
