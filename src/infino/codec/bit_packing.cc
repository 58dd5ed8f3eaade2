#include "infino/codec/bit_packing.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infino/codec/bit_packing_kernels.h"
#include "infino/common/bytes.h"
#include "infino/common/cpu.h"

namespace infino {
namespace {

constexpr size_t kLaneCount = 4;
constexpr size_t kLaneValues = kPackedBlockCount / kLaneCount;
constexpr size_t kWordBytes = 4;
constexpr size_t kRowBytes = kLaneCount * kWordBytes;

constexpr uint32_t MaskOf(uint32_t width) {
  return static_cast<uint32_t>((uint64_t{1} << width) - 1);
}

void StoreU32(uint32_t value, uint8_t* at) {
  for (size_t i = 0; i < kWordBytes; ++i) at[i] = static_cast<uint8_t>(value >> (8 * i));
}

struct Kernels {
  void (*unpack_block)(ByteSpan in, uint32_t width, BlockSpan out);
  void (*unpack_sums)(ByteSpan in, uint32_t width, uint32_t base, BlockSpan out);
};

Kernels ChooseKernels() {
#if defined(__x86_64__)
  if (ThisCpu().avx2) {
    return {.unpack_block = &internal::UnpackBlockAvx2, .unpack_sums = &internal::UnpackSumsAvx2};
  }
#endif
  return {.unpack_block = &internal::UnpackBlockScalar, .unpack_sums = &internal::UnpackSumsScalar};
}

const Kernels& ChosenKernels() {
  static const Kernels kKernels = ChooseKernels();
  return kKernels;
}

bool IncreasesFrom(uint32_t base, std::span<const uint32_t> values) {
  if (values.empty()) return true;
  bool increases = base == kNoBase || values.front() > base;
  for (size_t i = 1; i < values.size(); ++i) increases &= values[i] > values[i - 1];
  return increases;
}

}  // namespace

namespace internal {

void UnpackBlockScalar(ByteSpan in, uint32_t width, BlockSpan out) {
  if (width == 0) {
    std::ranges::fill(out, 0U);
    return;
  }
  const uint32_t mask = MaskOf(width);
  for (size_t lane = 0; lane < kLaneCount; ++lane) {
    const uint8_t* word = in.data() + kWordBytes * lane;
    uint64_t bits = 0;
    uint32_t bit_count = 0;
    for (size_t slot = 0; slot < kLaneValues; ++slot) {
      if (bit_count < width) {
        bits |= uint64_t{LoadU32(word)} << bit_count;
        bit_count += 32;
        word += kRowBytes;
      }
      out[slot * kLaneCount + lane] = static_cast<uint32_t>(bits) & mask;
      bits >>= width;
      bit_count -= width;
    }
  }
}

void UnpackSumsScalar(ByteSpan in, uint32_t width, uint32_t base, BlockSpan out) {
  UnpackBlockScalar(in, width, out);
  uint32_t last = base;
  for (uint32_t& value : out) {
    last += value + 1;
    value = last;
  }
}

}  // namespace internal

uint32_t PackedWidth(std::span<const uint32_t> values) {
  uint32_t all = 0;
  for (const uint32_t value : values) all |= value;
  return static_cast<uint32_t>(std::bit_width(all));
}

void PackBlock(ConstBlockSpan in, uint32_t width, std::span<uint8_t> out) {
  assert(width <= kPackedWidthMax && out.size() >= PackedBlockBytes(width));
  if (width == 0) return;
  for (size_t lane = 0; lane < kLaneCount; ++lane) {
    uint8_t* word = out.data() + kWordBytes * lane;
    uint64_t bits = 0;
    uint32_t bit_count = 0;
    for (size_t slot = 0; slot < kLaneValues; ++slot) {
      bits |= uint64_t{in[slot * kLaneCount + lane]} << bit_count;
      bit_count += width;
      if (bit_count >= 32) {
        StoreU32(static_cast<uint32_t>(bits), word);
        word += kRowBytes;
        bits >>= 32;
        bit_count -= 32;
      }
    }
  }
}

void UnpackBlock(ByteSpan in, uint32_t width, BlockSpan out) {
  assert(width <= kPackedWidthMax && in.size() >= PackedBlockBytes(width));
  ChosenKernels().unpack_block(in, width, out);
}

void ComputeDeltas(std::span<const uint32_t> in, uint32_t base, std::span<uint32_t> out) {
  assert(in.size() == out.size());
  uint32_t last = base;
  for (size_t i = 0; i < in.size(); ++i) {
    const uint32_t value = in[i];
    out[i] = value - last - 1;
    last = value;
  }
}

bool UnpackDeltas(ByteSpan in, uint32_t width, uint32_t base, BlockSpan out) {
  assert(width <= kPackedWidthMax && in.size() >= PackedBlockBytes(width));
  ChosenKernels().unpack_sums(in, width, base, out);
  // 128 deltas of up to 24 bits sum to less than 2^32, so the last sum tells whether any ran over.
  constexpr uint32_t kWidthOfShortSums = 24;
  if (width > kWidthOfShortSums) return IncreasesFrom(base, out);
  return base == kNoBase || out.back() > base;
}

bool SumDeltas(uint32_t base, std::span<uint32_t> values) {
  uint32_t last = base;
  for (uint32_t& value : values) {
    last += value + 1;
    value = last;
  }
  return IncreasesFrom(base, values);
}

void PackArray(std::span<const uint32_t> in, uint32_t width, std::span<uint8_t> out) {
  assert(width <= kPackedWidthMax && out.size() >= PackedArrayBytes(in.size(), width));
  uint64_t bits = 0;
  uint32_t bit_count = 0;
  size_t at = 0;
  for (const uint32_t value : in) {
    bits |= uint64_t{value} << bit_count;
    bit_count += width;
    while (bit_count >= 8) {
      out[at++] = static_cast<uint8_t>(bits);
      bits >>= 8;
      bit_count -= 8;
    }
  }
  if (bit_count > 0) out[at] = static_cast<uint8_t>(bits);
}

uint32_t UnpackAt(ByteSpan in, uint32_t width, uint64_t ordinal) {
  assert(width <= kPackedWidthMax && in.size() >= PackedArrayBytes(ordinal + 1, width));
  const uint64_t first_bit = ordinal * width;
  const uint64_t first_byte = first_bit / 8;
  const uint64_t available = in.size() - first_byte;
  uint64_t bits = 0;
  if (available >= sizeof(bits)) {
    bits = LoadU64(in.data() + first_byte);
  } else {
    for (uint64_t i = 0; i < available; ++i) bits |= uint64_t{in[first_byte + i]} << (8 * i);
  }
  return static_cast<uint32_t>(bits >> (first_bit % 8)) & MaskOf(width);
}

void UnpackArray(ByteSpan in, uint32_t width, std::span<uint32_t> out) {
  const uint32_t mask = MaskOf(width);
  size_t i = 0;
  // As long as a whole word is left, it has the number.
  for (uint64_t bit = 0; i < out.size() && bit / 8 + sizeof(uint64_t) <= in.size(); ++i) {
    out[i] = static_cast<uint32_t>(LoadU64(in.data() + (bit / 8)) >> (bit % 8)) & mask;
    bit += width;
  }
  for (; i < out.size(); ++i) out[i] = UnpackAt(in, width, i);
}

}  // namespace infino
