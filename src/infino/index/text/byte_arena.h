#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "infino/common/bytes.h"

namespace infino::text {

/// Memory in blocks of 64 KiB that is only ever given back as a whole, addressed by 32 bits.
/// Single-threaded.
class ByteArena {
 public:
  /// Room for `size` bytes in a row. REQUIRES: 0 < size <= 8192. Past 4 GiB old room is given out
  /// again and exhausted() says so: what is in the arena is then of no use.
  [[nodiscard]] uint32_t Allocate(uint32_t size);

  [[nodiscard]] uint8_t* At(uint32_t address) {
    return blocks_[address >> kBlockBits].get() + (address & kBlockMask);
  }

  [[nodiscard]] const uint8_t* At(uint32_t address) const {
    return blocks_[address >> kBlockBits].get() + (address & kBlockMask);
  }

  [[nodiscard]] bool exhausted() const { return exhausted_; }

  [[nodiscard]] int64_t memory_bytes() const {
    return static_cast<int64_t>(blocks_.size() * (kBlockSize + sizeof(blocks_[0])));
  }

 private:
  static constexpr uint32_t kBlockBits = 16;
  static constexpr uint32_t kBlockSize = uint32_t{1} << kBlockBits;
  static constexpr uint32_t kBlockMask = kBlockSize - 1;
  static constexpr size_t kBlocksMax = size_t{1} << (32 - kBlockBits);

  std::vector<std::unique_ptr<uint8_t[]>> blocks_;
  uint32_t used_ = kBlockSize;  // of the last block
  bool exhausted_ = false;
};

/// Copies what usually is a few bytes, for which a call would take longer.
inline void CopySmall(const uint8_t* from, size_t count, uint8_t* to) {
  constexpr size_t kSmall = 16;
  if (count > kSmall) {
    std::copy_n(from, count, to);
    return;
  }
  for (; count >= 4; count -= 4, from += 4, to += 4) std::copy_n(from, 4, to);
  for (; count > 0; --count) *to++ = *from++;
}

/// A run of bytes that grows at its end, in slices of an arena that get longer and longer. What
/// writes to it is small, because there is one per term; the bytes are read once, at the end.
///
/// The last four bytes of a slice hold the address of the next one once there is one.
class ByteStream {
 public:
  [[nodiscard]] bool empty() const { return level_ == 0; }

  void Append(ByteSpan bytes, ByteArena& arena) {
    while (!bytes.empty()) {
      if (left_ == 0) Grow(arena);
      const size_t taken = std::min<size_t>(bytes.size(), left_);
      CopySmall(bytes.data(), taken, arena.At(tail_));
      tail_ += static_cast<uint32_t>(taken);
      left_ = static_cast<uint16_t>(left_ - taken);
      bytes = bytes.subspan(taken);
    }
  }

  /// Has the memory fetched that the next byte goes to, or that the first one is in.
  void FetchEnd(const ByteArena& arena) const {
    if (!empty()) __builtin_prefetch(arena.At(tail_), 1);
  }

  void FetchStart(const ByteArena& arena) const {
    if (!empty()) __builtin_prefetch(arena.At(head_));
  }

  /// Replaces the content of `out` with the bytes of the stream.
  void CopyTo(const ByteArena& arena, std::vector<uint8_t>& out) const;

 private:
  static constexpr uint32_t kLinkSize = 4;

  void Grow(ByteArena& arena);

  uint32_t head_ = 0;
  uint32_t tail_ = 0;  // where the next byte goes
  uint16_t left_ = 0;  // bytes that still fit the last slice
  uint8_t level_ = 0;  // slices so far, up to the last size
};

}  // namespace infino::text
