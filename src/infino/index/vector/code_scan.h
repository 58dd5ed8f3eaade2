#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "infino/index/vector/instruction_set.h"

namespace infino::vector {

/// Codes that are stored, checked and scanned together.
inline constexpr size_t kBlockCodes = 32;

/// The size of one code: a bit a dimension.
[[nodiscard]] constexpr size_t CodeBytes(size_t dimension) {
  return (dimension + 7) / 8;
}

/// What a block holds before its checksum: 32 codes, byte by byte of all of them, then their
/// offsets (float), scales (the upper half of a float) and spreads (a byte).
[[nodiscard]] constexpr size_t BlockContentBytes(size_t dimension) {
  return kBlockCodes * (CodeBytes(dimension) + 4 + 2 + 1);
}

/// A query as the scan sees it: for every four dimensions a table of the 16 sums that their signs
/// can give, of the rotated query rounded to steps. Immutable once made.
class ScanTable {
 public:
  /// `rotated` is the query's difference to a centre, rotated. Every number in it is finite.
  explicit ScanTable(std::span<const float> rotated);

  [[nodiscard]] size_t code_bytes() const { return code_bytes_; }

  /// The largest rounding error of a number is half a step.
  [[nodiscard]] float step() const { return step_; }

  /// To be subtracted from the sum of a code's entries; then times step() it is about the sum of
  /// the rotated query's numbers, each under the sign that the code has for it.
  [[nodiscard]] int32_t bias() const { return bias_; }

  /// The size of one table: 16 entries, twice.
  static constexpr size_t kTableBytes = 32;

  /// Entries of the low half of a code's byte `group`; those of the high half. In memory the two
  /// low ones of groups 0 and 1 come first, then their high ones, and so on by two groups: a wide
  /// load brings those of both. A last group without another has its low and its high one.
  [[nodiscard]] const uint8_t* low(size_t group) const {
    return tables_.data() + OffsetOf(group, 0);
  }

  [[nodiscard]] const uint8_t* high(size_t group) const {
    return tables_.data() + OffsetOf(group, 1);
  }

 private:
  [[nodiscard]] size_t OffsetOf(size_t group, size_t half) const {
    const bool paired = (group | 1U) < code_bytes_;
    const size_t slot = paired ? (group & ~size_t{1}) * 2 + half * 2 + (group & 1U)
                               : (group & ~size_t{1}) * 2 + half;
    return slot * kTableBytes;
  }

  void FillTable(const std::array<int32_t, 4>& steps, uint8_t* table) const;

  size_t code_bytes_;
  int32_t levels_;  // a number is at most so many steps
  int32_t bias_ = 0;
  float step_ = 0;
  std::vector<uint8_t> tables_;
};

/// How a code's sum becomes a distance, for one query and metric.
struct ScanTerms {
  float slope = 0;  ///< Times scale and sum: what the code adds to the distance.
  float noise = 0;  ///< Times scale: the error that comes from rounding the query.
};

/// What is the same for all codes of one reference point.
struct PointTerms {
  float base = 0;    ///< What the point adds to the distance.
  float spread = 0;  ///< Times scale and spread: the error that comes from having signs only.
};

/// Estimates of a block's codes.
struct BlockEstimates {
  alignas(64) std::array<float, kBlockCodes> distance;
  alignas(64) std::array<float, kBlockCodes> lowest;  ///< The distance less its error.
};

/// The point terms of each code of a block.
struct BlockTerms {
  alignas(64) std::array<float, kBlockCodes> base;
  alignas(64) std::array<float, kBlockCodes> spread;
};

/// Estimates the distance of each code of `block`, BlockContentBytes long:
///
///     sum      = the code's entries in `table`, less the bias
///     distance = (base + offset) + slope * (scale * sum)
///     lowest   = distance - scale * (spread of the code * spread of the point + noise)
///
/// Returns the codes, the first in the lowest bit, whose `lowest` is not above `limit`; one that is
/// no number is not. All kernels give the same bits.
using ScanFunction = uint32_t (*)(const uint8_t* block, const ScanTable& table,
                                  const ScanTerms& terms, const BlockTerms& points, float limit,
                                  BlockEstimates& out);

/// The kernel of an instruction set. REQUIRES: HasInstructionSet(set).
[[nodiscard]] ScanFunction ScanFunctionOf(InstructionSet set);

/// The fastest of this machine.
[[nodiscard]] ScanFunction BestScanFunction();

}  // namespace infino::vector
