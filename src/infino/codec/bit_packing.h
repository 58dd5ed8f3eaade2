#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "infino/common/bytes.h"

namespace infino {

/// How many numbers a packed block holds.
inline constexpr size_t kPackedBlockCount = 128;

/// The largest width of a packed number, in bits.
inline constexpr uint32_t kPackedWidthMax = 32;

using BlockSpan = std::span<uint32_t, kPackedBlockCount>;
using ConstBlockSpan = std::span<const uint32_t, kPackedBlockCount>;

/// The size of a packed block of `width` bits a number: 16 bytes a bit.
[[nodiscard]] constexpr size_t PackedBlockBytes(uint32_t width) {
  return size_t{16} * width;
}

/// The smallest width that holds every one of `values`: 0 if all are 0.
[[nodiscard]] uint32_t PackedWidth(std::span<const uint32_t> values);

/// Packs a block at `width` bits a number, in the layout of docs/format/primitives.md.
/// REQUIRES: width >= PackedWidth(in), width <= 32, out.size() >= PackedBlockBytes(width).
void PackBlock(ConstBlockSpan in, uint32_t width, std::span<uint8_t> out);

/// Undoes PackBlock. Any bytes are a block. REQUIRES: width <= 32, which a caller that read it from
/// storage has checked, and in.size() >= PackedBlockBytes(width).
void UnpackBlock(ByteSpan in, uint32_t width, BlockSpan out);

/// The number at `ordinal` of a packed block, without the others. REQUIRES: as UnpackBlock, and
/// ordinal < 128.
[[nodiscard]] inline uint32_t UnpackAtOfBlock(ByteSpan in, uint32_t width, size_t ordinal) {
  if (width == 0) return 0;
  constexpr size_t kLanes = 4;
  constexpr size_t kWordBits = 32;
  const size_t bit = ordinal / kLanes * width;
  const uint8_t* const word =
      in.data() + (bit / kWordBits * kLanes + ordinal % kLanes) * sizeof(uint32_t);
  const size_t shift = bit % kWordBits;
  uint64_t value = LoadU32(word);
  if (shift + width > kWordBits) {
    value |= uint64_t{LoadU32(word + kLanes * sizeof(uint32_t))} << kWordBits;
  }
  return static_cast<uint32_t>((value >> shift) & ((uint64_t{1} << width) - 1));
}

/// The base of a sequence that may begin with 0.
inline constexpr uint32_t kNoBase = std::numeric_limits<uint32_t>::max();

/// Turns strictly increasing numbers into what UnpackDeltas reads: out[i] = in[i] - in[i - 1] - 1,
/// where in[-1] is `base`. REQUIRES: `in` strictly increasing, in[0] > base unless base is kNoBase,
/// out.size() == in.size(). `out` may be `in`.
void ComputeDeltas(std::span<const uint32_t> in, uint32_t base, std::span<uint32_t> out);

/// Unpacks a block of deltas and adds them up: out[i] = out[i - 1] + 1 + delta[i], where out[-1] is
/// `base`. False if the sums run past 2^32 - 1: then the block is corrupt and `out` is unspecified.
/// True means that `out` is strictly increasing and begins after `base`. REQUIRES: as UnpackBlock.
[[nodiscard]] bool UnpackDeltas(ByteSpan in, uint32_t width, uint32_t base, BlockSpan out);

/// UnpackDeltas on deltas that were unpacked already, of any number; in place.
[[nodiscard]] bool SumDeltas(uint32_t base, std::span<uint32_t> values);

/// The size of `count` numbers packed as an array: bits one after the other, rounded up to bytes.
/// For at most 2^58 numbers.
[[nodiscard]] constexpr uint64_t PackedArrayBytes(uint64_t count, uint32_t width) {
  return (count * width + 7) / 8;
}

/// Packs any number of values at `width` bits each, for access to single ones.
/// REQUIRES: width >= PackedWidth(in), width <= 32, out.size() >= PackedArrayBytes(in.size(),
/// width).
void PackArray(std::span<const uint32_t> in, uint32_t width, std::span<uint8_t> out);

/// The number at `ordinal` of a packed array. REQUIRES: width <= 32 and
/// in.size() >= PackedArrayBytes(ordinal + 1, width).
[[nodiscard]] uint32_t UnpackAt(ByteSpan in, uint32_t width, uint64_t ordinal);

/// The first out.size() numbers of a packed array. REQUIRES: width <= 32 and
/// in.size() >= PackedArrayBytes(out.size(), width).
void UnpackArray(ByteSpan in, uint32_t width, std::span<uint32_t> out);

}  // namespace infino
