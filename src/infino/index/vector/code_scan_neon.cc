#include "infino/index/vector/code_scan_internal.h"

#if defined(__aarch64__)

#include <array>
#include <cstddef>
#include <cstdint>

#include <arm_neon.h>

#include "infino/index/vector/code_scan.h"

namespace infino::vector::internal {
namespace {

/// 32 sums of 16 bits, in order.
struct Sums {
  std::array<uint16x8_t, 4> parts;
};

inline uint8x16_t Entries(uint8x16_t codes, uint8x16_t low_table, uint8x16_t high_table) {
  return vaddq_u8(vqtbl1q_u8(low_table, vandq_u8(codes, vdupq_n_u8(0x0F))),
                  vqtbl1q_u8(high_table, vshrq_n_u8(codes, 4)));
}

inline Sums SumEntries(const uint8_t* block, const ScanTable& table) {
  Sums sums;
  sums.parts.fill(vdupq_n_u16(0));
  for (size_t group = 0; group < table.code_bytes(); ++group) {
    const uint8_t* const codes = block + group * kBlockCodes;
    const uint8x16_t low = vld1q_u8(table.low(group));
    const uint8x16_t high = vld1q_u8(table.high(group));
    const uint8x16_t first = Entries(vld1q_u8(codes), low, high);
    const uint8x16_t second = Entries(vld1q_u8(codes + 16), low, high);
    sums.parts[0] = vaddw_u8(sums.parts[0], vget_low_u8(first));
    sums.parts[1] = vaddw_u8(sums.parts[1], vget_high_u8(first));
    sums.parts[2] = vaddw_u8(sums.parts[2], vget_low_u8(second));
    sums.parts[3] = vaddw_u8(sums.parts[3], vget_high_u8(second));
  }
  return sums;
}

/// The numbers of four codes from `first` on.
struct Four {
  float32x4_t sum;
  float32x4_t offset;
  float32x4_t scale;
  float32x4_t spread;
};

inline Four LoadFour(const Sums& sums, const BlockFactors& factors, size_t first, int32_t bias) {
  const uint16x8_t eight = sums.parts[first / 8];
  const uint16x4_t words = first % 8 == 0 ? vget_low_u16(eight) : vget_high_u16(eight);
  const int32x4_t whole = vreinterpretq_s32_u32(vmovl_u16(words));
  const uint16x4_t briefs = vreinterpret_u16_u8(vld1_u8(factors.scales + 2 * first));
  // Eight bytes of the spreads hold the four wanted; the block does not end there.
  const size_t eighth = first / 8 * 8;
  const uint16x8_t spreads = vmovl_u8(vld1_u8(factors.spreads + eighth));
  const uint16x4_t wanted = first == eighth ? vget_low_u16(spreads) : vget_high_u16(spreads);
  return {.sum = vcvtq_f32_s32(vsubq_s32(whole, vdupq_n_s32(bias))),
          .offset = vreinterpretq_f32_u8(vld1q_u8(factors.offsets + 4 * first)),
          .scale = vreinterpretq_f32_u32(vshll_n_u16(briefs, 16)),
          .spread = vcvtq_f32_u32(vmovl_u16(wanted))};
}

}  // namespace

uint32_t ScanBlockNeon(const uint8_t* block, const ScanTable& table, const ScanTerms& terms,
                       const BlockTerms& points, float limit, BlockEstimates& out) {
  const Sums sums = SumEntries(block, table);
  const BlockFactors factors(block, table.code_bytes());
  uint32_t passing = 0;
  for (size_t first = 0; first < kBlockCodes; first += 4) {
    const Four four = LoadFour(sums, factors, first, table.bias());
    const float32x4_t sloped = vmulq_f32(vdupq_n_f32(terms.slope), vmulq_f32(four.scale, four.sum));
    const float32x4_t based = vaddq_f32(vld1q_f32(points.base.data() + first), four.offset);
    const float32x4_t spreads = vmulq_f32(four.spread, vld1q_f32(points.spread.data() + first));
    const float32x4_t error = vmulq_f32(four.scale, vaddq_f32(spreads, vdupq_n_f32(terms.noise)));
    const float32x4_t distance = vaddq_f32(based, sloped);
    const float32x4_t lowest = vsubq_f32(distance, error);
    vst1q_f32(out.distance.data() + first, distance);
    vst1q_f32(out.lowest.data() + first, lowest);
    const uint32x4_t above = vcgtq_f32(lowest, vdupq_n_f32(limit));
    constexpr std::array<uint32_t, 4> kBits = {1, 2, 4, 8};
    const uint32_t bits = vaddvq_u32(vbicq_u32(vld1q_u32(kBits.data()), above));
    passing |= bits << first;
  }
  return passing;
}

}  // namespace infino::vector::internal

#endif
