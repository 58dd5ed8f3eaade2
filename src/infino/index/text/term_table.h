#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "infino/index/text/byte_arena.h"
#include "infino/index/text/term_key.h"

namespace infino::text {

/// What a builder knows of one term. Its postings but the last are in the stream, as
/// (difference to the next document) * 2 + (frequency is 1), then the frequency unless it is 1.
struct TermRecord {
  uint64_t prefix = 0;  ///< As in TermKey.
  uint32_t rest = 0;    ///< Where the other bytes are in the arena.
  uint32_t document_count = 0;
  uint32_t first_doc = 0;
  uint32_t last_doc = 0;
  uint32_t frequency = 0;  ///< In the last document.
  uint32_t hash = 0;
  uint16_t length = 0;  ///< In bytes.
  ByteStream postings;
};

/// The positions of one term: differences within each document, as varints.
struct PositionRecord {
  uint32_t last = 0;
  ByteStream stream;
};

/// A hash table from terms to records. Records never move and are numbered in order of arrival.
///
/// The table soon outgrows the caches, so that finding a term is waiting for memory: for its slot,
/// which is all that a short term needs, and for the record and the rest of a long one. A caller
/// that has many terms to find has the waits overlap by asking for all of them first.
/// Single-threaded.
class TermTable {
 public:
  explicit TermTable(bool has_positions);

  /// Has the term's slot fetched; then, of a long term, the record that the slot names; then the
  /// rest that the record names.
  void FetchSlot(const TermKey& key) const { __builtin_prefetch(&slots_[key.hash & mask_]); }

  void FetchLong(const TermKey& key) const {
    const Slot& slot = slots_[key.hash & mask_];
    if (IsLike(slot, key)) __builtin_prefetch(&record(slot.id));
  }

  void FetchRest(const TermKey& key) const {
    const Slot& slot = slots_[key.hash & mask_];
    if (IsLike(slot, key)) __builtin_prefetch(arena_.At(record(slot.id).rest));
  }

  /// Has the term's record fetched, which may lie across two lines of the cache; then the ends of
  /// its postings and positions.
  void FetchRecord(uint32_t id) const {
    const TermRecord& fetched = record(id);
    __builtin_prefetch(&fetched.prefix, 1);
    __builtin_prefetch(&fetched.postings, 1);
    if (has_positions_) __builtin_prefetch(&positions_[id >> kChunkBits][id & kChunkMask], 1);
  }

  void FetchPostings(uint32_t id) const {
    record(id).postings.FetchEnd(arena_);
    if (has_positions_) positions_[id >> kChunkBits][id & kChunkMask].stream.FetchEnd(arena_);
  }

  /// Has the starts of the term's postings and positions fetched.
  void FetchStream(uint32_t id) const {
    record(id).postings.FetchStart(arena_);
    if (has_positions_) positions_[id >> kChunkBits][id & kChunkMask].stream.FetchStart(arena_);
  }

  /// The number of the term, which is added if it is new.
  [[nodiscard]] uint32_t FindOrAdd(const TermKey& key);

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

  [[nodiscard]] bool has_positions() const { return has_positions_; }

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

  /// Four to a line of the cache, so that finding a short term is one wait for memory.
  struct Slot {
    uint64_t prefix = 0;
    uint32_t id = kFree;
    uint16_t length = 0;
    uint16_t tag = 0;  ///< The hash's upper half.
  };

  static_assert(sizeof(Slot) == 16);

  static uint16_t TagOf(uint32_t hash) { return static_cast<uint16_t>(hash >> 16); }

  /// Whether the slot's term can be the one looked for. Of terms of up to 8 bytes it is.
  static bool IsLike(const Slot& slot, const TermKey& key) {
    return slot.id != kFree && slot.prefix == key.prefix && slot.length == key.length &&
           slot.tag == TagOf(key.hash);
  }

  [[nodiscard]] uint32_t Add(const TermKey& key);
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
