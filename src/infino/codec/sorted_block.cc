#include "infino/codec/sorted_block.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infino/codec/sorted_block_kernels.h"
#include "infino/common/cpu.h"

namespace infino {
namespace {

using LocateFunction = void (*)(std::span<const uint32_t>, std::span<const uint32_t>,
                                std::span<uint8_t>);

void LocatePlain(std::span<const uint32_t> block, std::span<const uint32_t> numbers,
                 std::span<uint8_t> ordinals) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t ordinal = SearchBlock(block, numbers[i]);
    ordinals[i] = block[ordinal] == numbers[i] ? static_cast<uint8_t>(ordinal) : kNotInBlock;
  }
}

void LocateBitsPlain(std::span<const uint8_t> bitmap, uint32_t first,
                     std::span<const uint32_t> numbers, std::span<uint8_t> ordinals) {
  internal::LocateBits(bitmap, first, numbers, ordinals);
}

using LocateBitsFunction = void (*)(std::span<const uint8_t>, uint32_t, std::span<const uint32_t>,
                                    std::span<uint8_t>);

LocateBitsFunction ChooseLocateBits() {
#if defined(__x86_64__)
  if (ThisCpu().avx2) return &internal::LocateBitsAvx2;
#endif
  return &LocateBitsPlain;
}

LocateFunction ChooseLocate() {
#if defined(__x86_64__)
  if (ThisCpu().avx2) return &internal::LocateAvx2;
#endif
  return &LocatePlain;
}

}  // namespace

void LocateInBlock(std::span<const uint32_t> block, std::span<const uint32_t> numbers,
                   std::span<uint8_t> ordinals) {
  static const LocateFunction kFunction = ChooseLocate();
  kFunction(block, numbers, ordinals);
}

void LocateInBitmap(std::span<const uint8_t> bitmap, uint32_t first,
                    std::span<const uint32_t> numbers, std::span<uint8_t> ordinals) {
  static const LocateBitsFunction kFunction = ChooseLocateBits();
  kFunction(bitmap, first, numbers, ordinals);
}

}  // namespace infino
