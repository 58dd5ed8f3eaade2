#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"

namespace infino {

/// A row's number inside its superfile, counted from 0 in file order.
using DocId = uint32_t;

/// 16 random bytes under a name of their own type, so that ids of different things never mix.
template <typename Tag>
struct RandomId {
  std::array<uint8_t, 16> bytes{};

  /// 32 lower-case hexadecimal digits.
  [[nodiscard]] std::string ToHex() const;

  /// Parses what ToHex wrote; anything else is kCorrupt.
  [[nodiscard]] static arrow::Result<RandomId> FromHex(std::string_view hex);

  friend auto operator<=>(const RandomId&, const RandomId&) = default;
};

struct SuperfileTag;
struct CommitTag;

/// Names one superfile: drawn at random when it is built.
using SuperfileId = RandomId<SuperfileTag>;

/// Drawn at random for each commit, and kept across that commit's retries. It is how a writer
/// whose swap went unanswered finds out whether it won.
using CommitId = RandomId<CommitTag>;

/// A row of the table: the `_id` column, a decimal128(38, 0) that is never negative.
///
/// Bits 127..64 are the Unix milliseconds of the append, 63..24 a random number of the writer,
/// 23..0 a counter; see docs/format/superfile.md. Ordered as numbers.
struct RowId {
  uint64_t high = 0;
  uint64_t low = 0;

  /// This id and `count` more: the id `count` rows later in the same append. Carries into `high`.
  [[nodiscard]] RowId Plus(uint64_t count) const;

  /// How many ids lie from `first` to this one. REQUIRES: first <= *this and the answer fits.
  [[nodiscard]] uint64_t Minus(const RowId& first) const;

  friend auto operator<=>(const RowId&, const RowId&) = default;
};

/// Parses an even number of hexadecimal digits into `out`; kCorrupt unless it fits exactly.
[[nodiscard]] arrow::Status ParseHex(std::string_view hex, std::span<uint8_t> out);
[[nodiscard]] std::string FormatHex(ByteSpan bytes);

struct RandomIdHash {
  template <typename Tag>
  size_t operator()(const RandomId<Tag>& id) const {
    return static_cast<size_t>(LoadU64(id.bytes.data()));
  }
};

}  // namespace infino
