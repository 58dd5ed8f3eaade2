#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "infino/codec/bit_packing.h"
#include "infino/codec/bit_packing_kernels.h"
#include "infino/common/bytes.h"
#include "infino/common/cpu.h"

// Width, base, then a block's bytes: all kernels must agree, and packing must undo unpacking.

namespace infino {
namespace {

using Block = std::array<uint32_t, kPackedBlockCount>;

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckBlock(ByteSpan block, uint32_t width, uint32_t base) {
  Block values{};
  internal::UnpackBlockScalar(block, width, values);
  Require(PackedWidth(values) <= width);
  Block sums{};
  internal::UnpackSumsScalar(block, width, base, sums);
#if defined(__x86_64__)
  if (ThisCpu().avx2) {
    Block other{};
    internal::UnpackBlockAvx2(block, width, other);
    Require(other == values);
    internal::UnpackSumsAvx2(block, width, base, other);
    Require(other == sums);
  }
#endif
  std::vector<uint8_t> packed(PackedBlockBytes(width));
  PackBlock(values, width, packed);
  Require(std::ranges::equal(packed, block));
  Block docs{};
  if (UnpackDeltas(block, width, base, docs)) {
    Require(base == kNoBase || docs.front() > base);
    Require(std::ranges::is_sorted(docs));
    Block deltas{};
    ComputeDeltas(docs, base, deltas);
    Require(deltas == values);
  }
}

void CheckArray(ByteSpan bytes, uint32_t width) {
  const uint64_t count = width == 0 ? 5 : bytes.size() * 8 / width;
  std::vector<uint32_t> values(count);
  UnpackArray(bytes, width, values);
  std::vector<uint8_t> packed(PackedArrayBytes(count, width));
  PackArray(values, width, packed);
  for (uint64_t i = 0; i < count; ++i) Require(UnpackAt(packed, width, i) == values[i]);
}

}  // namespace
}  // namespace infino

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeadBytes = 5;
  if (size < kHeadBytes) return 0;
  const uint32_t width = data[0] % (infino::kPackedWidthMax + 1);
  const uint32_t base = infino::LoadU32(data + 1);
  const infino::ByteSpan rest(data + kHeadBytes, size - kHeadBytes);
  // A copy of just the block, so that the sanitizer sees any access beyond it.
  std::vector<uint8_t> block(infino::PackedBlockBytes(width));
  std::copy_n(rest.begin(), std::min(rest.size(), block.size()), block.begin());
  infino::CheckBlock(block, width, base);
  infino::CheckArray(rest, width);
  return 0;
}
