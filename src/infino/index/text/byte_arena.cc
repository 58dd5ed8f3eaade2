#include "infino/index/text/byte_arena.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "infino/common/bytes.h"

namespace infino::text {
namespace {

/// Sizes of a stream's slices, links included; the last one repeats.
constexpr std::array<uint16_t, 12> kSliceSizes = {8,   16,  24,  40,  64,   104,
                                                  168, 272, 440, 712, 1152, 1864};

uint32_t SliceSize(uint8_t level) {
  return kSliceSizes[std::min<size_t>(level, kSliceSizes.size()) - 1];
}

void StoreU32(uint32_t value, uint8_t* at) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<uint8_t>(value >> (8 * i));
}

}  // namespace

uint32_t ByteArena::Allocate(uint32_t size) {
  if (kBlockSize - used_ < size) {
    if (blocks_.size() == kBlocksMax) {
      exhausted_ = true;
    } else {
      blocks_.push_back(std::make_unique_for_overwrite<uint8_t[]>(kBlockSize));
    }
    used_ = 0;
  }
  const auto block = static_cast<uint32_t>(blocks_.size() - 1);
  const uint32_t address = (block << kBlockBits) | used_;
  used_ += size;
  return address;
}

void ByteStream::Grow(ByteArena& arena) {
  level_ = static_cast<uint8_t>(std::min<size_t>(level_ + size_t{1}, kSliceSizes.size() + 1));
  const uint32_t size = SliceSize(level_);
  const uint32_t slice = arena.Allocate(size);
  if (level_ == 1) {
    head_ = slice;
  } else {
    StoreU32(slice, arena.At(tail_));
  }
  tail_ = slice;
  left_ = static_cast<uint16_t>(size - kLinkSize);
}

void ByteStream::CopyTo(const ByteArena& arena, std::vector<uint8_t>& out) const {
  out.clear();
  if (empty()) return;
  uint32_t slice = head_;
  for (uint8_t level = 1;; ++level) {
    const uint32_t payload = SliceSize(level) - kLinkSize;
    const uint8_t* begin = arena.At(slice);
    const bool last = tail_ + left_ == slice + payload;
    out.insert(out.end(), begin, begin + (last ? payload - left_ : payload));
    if (last) return;
    slice = LoadU32(begin + payload);
    level = static_cast<uint8_t>(std::min<size_t>(level, kSliceSizes.size()));
  }
}

}  // namespace infino::text
