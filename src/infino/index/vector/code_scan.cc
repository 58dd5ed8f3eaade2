#include "infino/index/vector/code_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infino/common/bytes.h"
#include "infino/index/vector/code_scan_internal.h"
#include "infino/index/vector/instruction_set.h"
#include "infino/index/vector/small_floats.h"

namespace infino::vector {
namespace {

constexpr size_t kGroupDimensions = 4;

/// Sums are kept in 16 bits. Up to 2,048 dimensions a number may be 15 steps: 512 entries of at
/// most 120. Two entries always fit a byte.
constexpr size_t kFineDimensions = 2048;
constexpr int32_t kFineLevels = 15;
constexpr int32_t kCoarseLevels = 7;
static_assert(kFineDimensions / kGroupDimensions * 2 * kGroupDimensions * kFineLevels < 65536);
static_assert(4096 / kGroupDimensions * 2 * kGroupDimensions * kCoarseLevels < 65536);
static_assert(2 * 2 * kGroupDimensions * kFineLevels < 256);

uint32_t ScanBlockPlain(const uint8_t* block, const ScanTable& table, const ScanTerms& terms,
                        const BlockTerms& points, float limit, BlockEstimates& out) {
  std::array<uint32_t, kBlockCodes> sums{};
  const size_t code_bytes = table.code_bytes();
  for (size_t group = 0; group < code_bytes; ++group) {
    const uint8_t* const bytes = block + group * kBlockCodes;
    const uint8_t* const low = table.low(group);
    const uint8_t* const high = table.high(group);
    for (size_t i = 0; i < kBlockCodes; ++i) {
      sums[i] += uint32_t{low[bytes[i] & 0x0FU]} + uint32_t{high[bytes[i] >> 4U]};
    }
  }
  const internal::BlockFactors factors(block, code_bytes);
  uint32_t passing = 0;
  for (size_t i = 0; i < kBlockCodes; ++i) {
    const auto sum = static_cast<float>(static_cast<int32_t>(sums[i]) - table.bias());
    const float offset = std::bit_cast<float>(LoadU32(factors.offsets + 4 * i));
    const float scale = BriefToFloat(LoadU16(factors.scales + 2 * i));
    const auto spread = static_cast<float>(factors.spreads[i]);
    const float scaled = scale * sum;
    const float sloped = terms.slope * scaled;
    const float based = points.base[i] + offset;
    const float spreads = spread * points.spread[i];
    const float error = scale * (spreads + terms.noise);
    out.distance[i] = based + sloped;
    out.lowest[i] = out.distance[i] - error;
    if (!(out.lowest[i] > limit)) passing |= uint32_t{1} << i;
  }
  return passing;
}

}  // namespace

ScanTable::ScanTable(std::span<const float> rotated)
    : code_bytes_(CodeBytes(rotated.size())),
      levels_(rotated.size() <= kFineDimensions ? kFineLevels : kCoarseLevels),
      tables_(code_bytes_ * 2 * kTableBytes) {
  float largest = 0;
  for (const float number : rotated) largest = std::max(largest, std::abs(number));
  step_ = largest / static_cast<float>(levels_);
  const auto groups = static_cast<int32_t>(2 * code_bytes_);
  bias_ = groups * static_cast<int32_t>(kGroupDimensions) * levels_;
  for (size_t group = 0; group < 2 * code_bytes_; ++group) {
    std::array<int32_t, kGroupDimensions> steps{};
    for (size_t i = 0; i < kGroupDimensions; ++i) {
      const size_t dimension = group * kGroupDimensions + i;
      if (dimension >= rotated.size() || !(step_ > 0)) continue;
      const float scaled = rotated[dimension] / step_;
      const auto rounded = static_cast<int32_t>(scaled < 0 ? scaled - 0.5F : scaled + 0.5F);
      steps[i] = std::clamp(rounded, -levels_, levels_);
    }
    FillTable(steps, tables_.data() + OffsetOf(group / 2, group % 2));
  }
}

/// Entry by entry from the one that lacks its highest sign.
void ScanTable::FillTable(const std::array<int32_t, 4>& steps, uint8_t* table) const {
  constexpr size_t kEntries = 16;
  std::array<int32_t, kEntries> sums{};
  sums[0] = static_cast<int32_t>(kGroupDimensions) * levels_ -
            (steps[0] + steps[1] + steps[2] + steps[3]);
  for (size_t i = 0; i < kGroupDimensions; ++i) {
    const size_t sign = size_t{1} << i;
    for (size_t below = 0; below < sign; ++below) sums[sign + below] = sums[below] + 2 * steps[i];
  }
  for (size_t signs = 0; signs < kEntries; ++signs) {
    table[signs] = static_cast<uint8_t>(sums[signs]);
    table[kEntries + signs] = static_cast<uint8_t>(sums[signs]);
  }
}

ScanFunction ScanFunctionOf(InstructionSet set) {
  switch (set) {
#if defined(__x86_64__)
    case InstructionSet::kAvx2:
      return &internal::ScanBlockAvx2;
    case InstructionSet::kAvx512:
      return &internal::ScanBlockAvx512;
#endif
#if defined(__aarch64__)
    case InstructionSet::kNeon:
      return &internal::ScanBlockNeon;
#endif
    default:
      return &ScanBlockPlain;
  }
}

ScanFunction BestScanFunction() {
  static const ScanFunction kBest = ScanFunctionOf(BestInstructionSet());
  return kBest;
}

}  // namespace infino::vector
