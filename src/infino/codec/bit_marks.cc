#include "infino/codec/bit_marks.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infino/common/cpu.h"

namespace infino {

uint64_t CountBits(std::span<const uint64_t> words) {
#if defined(__x86_64__)
  if (ThisCpu().avx2) return internal::CountBitsAvx2(words);
#endif
  uint64_t count = 0;
  for (const uint64_t word : words) count += static_cast<uint64_t>(std::popcount(word));
  return count;
}

void FoldMarks(std::span<uint8_t> marks, std::span<uint64_t> bits) {
#if defined(__x86_64__)
  if (ThisCpu().avx2) return internal::FoldMarksAvx2(marks, bits);
#endif
  for (size_t i = 0; i < marks.size(); ++i) {
    bits[i / 64] |= uint64_t{marks[i] & 1U} << (i % 64);
    marks[i] = 0;
  }
}

}  // namespace infino
