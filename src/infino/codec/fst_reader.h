#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/fst_format.h"
#include "infino/common/bytes.h"

namespace infino {

/// Looks keys up in what FstBuilder wrote, without unpacking it.
///
/// A view: the bytes must outlive it and its cursors. Thread-safe. Whoever stores a transducer
/// keeps a checksum of it; bytes that break the format nevertheless are kCorrupt once a lookup
/// meets them. No lookup takes more steps than the longest key has bytes.
class FstReader {
 public:
  /// Checks the header; states are checked as they are visited. `object` is what errors call the
  /// bytes. kCorrupt, or kUnsupportedVersion for a newer format.
  [[nodiscard]] static arrow::Result<FstReader> Open(ByteSpan bytes, std::string_view object);

  [[nodiscard]] uint64_t key_count() const { return key_count_; }

  /// The value of `key`, or nothing.
  [[nodiscard]] arrow::Result<std::optional<uint64_t>> Find(std::string_view key) const;

  /// The value of the greatest key that is not greater than `key`, or nothing if all are greater.
  /// Over the first terms of blocks, with the blocks' ordinals as values, this is the one block
  /// that may hold the term.
  [[nodiscard]] arrow::Result<std::optional<uint64_t>> FindFloor(std::string_view key) const;

  /// Walks keys in order. The reader must stay where it is for as long.
  ///
  ///     for (ok = cursor.Seek(from); cursor.valid(); ok = cursor.Next()) …
  class Cursor {
   public:
    /// Moves to the first key that is not less than `lower_bound`; invalid if there is none.
    [[nodiscard]] arrow::Status Seek(std::string_view lower_bound);

    /// Moves to the next key, or past the last one. REQUIRES: valid(). After a failure the cursor
    /// is invalid.
    [[nodiscard]] arrow::Status Next();

    /// Whether the cursor stands on a key. False before the first Seek.
    [[nodiscard]] bool valid() const { return valid_; }

    /// REQUIRES: valid(). The view ends with the next move.
    [[nodiscard]] std::string_view key() const { return key_; }

    [[nodiscard]] uint64_t value() const { return value_; }

   private:
    friend class FstReader;

    /// A state on the path to the key, and the transition that is tried next.
    struct Step {
      FstState state;
      uint32_t next_ordinal = 0;
      uint64_t output = 0;  ///< Summed from the root up to this state.
    };

    explicit Cursor(const FstReader& reader);

    arrow::Status Push(uint32_t address, uint64_t output);
    arrow::Status Enter(const FstTransition& transition);
    arrow::Status Advance();
    arrow::Status StandHere();

    const FstReader* reader_;
    std::vector<Step> path_;
    std::string key_;
    uint64_t value_ = 0;
    uint64_t visited_ = 0;
    bool valid_ = false;
  };

  [[nodiscard]] Cursor MakeCursor() const { return Cursor(*this); }

 private:
  FstReader(ByteSpan bytes, std::string_view object) : bytes_(bytes), object_(object) {}

  [[nodiscard]] arrow::Result<FstState> StateAt(uint32_t address) const;
  [[nodiscard]] arrow::Result<FstTransition> TransitionOf(const FstState& state,
                                                          uint32_t ordinal) const;
  [[nodiscard]] arrow::Result<uint64_t> LastValueUnder(FstTransition transition,
                                                       uint64_t output) const;
  [[nodiscard]] arrow::Status Corrupt(std::string_view what, uint32_t address) const;

  ByteSpan bytes_;
  std::string object_;
  uint64_t key_count_ = 0;
  uint32_t root_ = 0;
};

}  // namespace infino
