#pragma once

#include <cstdint>
#include <span>

namespace infino {

/// How many bits of all words are set.
[[nodiscard]] uint64_t CountBits(std::span<const uint64_t> words);

/// What one of many numbers in any order is marked by: a byte a number, which unlike a bit is set
/// without reading what stood there.
inline constexpr uint8_t kMark = 0xFF;

/// Sets the bit of every marked number, the lowest of a word first, and takes the marks away. The
/// same on every processor. REQUIRES: each byte is 0 or kMark, 64 of them a word of `bits`.
void FoldMarks(std::span<uint8_t> marks, std::span<uint64_t> bits);

namespace internal {

#if defined(__x86_64__)
/// As above. REQUIRES: ThisCpu().avx2.
[[nodiscard]] uint64_t CountBitsAvx2(std::span<const uint64_t> words);
void FoldMarksAvx2(std::span<uint8_t> marks, std::span<uint64_t> bits);
#endif

}  // namespace internal
}  // namespace infino
