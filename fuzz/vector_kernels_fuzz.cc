#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "infino/common/bytes.h"
#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/instruction_set.h"
#include "infino/index/vector/row_kernels.h"

// A dimension, then bytes that are taken for a query, a stored vector and a block of codes: all
// kernels must give the same bits.

namespace infino::vector {
namespace {

void RequireSame(float left, float right) {
  // Which of several NaNs comes out is not the same everywhere.
  if (std::isnan(left) && std::isnan(right)) return;
  if (std::bit_cast<uint32_t>(left) != std::bit_cast<uint32_t>(right)) std::abort();
}

/// `size` bytes of the input, over and over.
std::vector<uint8_t> Take(ByteSpan in, size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = in[i % in.size()];
  return bytes;
}

void CheckRows(const std::vector<float>& query, ByteSpan in) {
  const size_t dimension = query.size();
  const float scale = std::isfinite(query[0]) ? query[0] : 1;
  for (const NumberEncoding encoding : {NumberEncoding::kFp32, NumberEncoding::kFp16,
                                        NumberEncoding::kSq8, NumberEncoding::kSq8Residual}) {
    std::vector<uint8_t> numbers = Take(in, NumbersSize(encoding, dimension));
    if (encoding == NumberEncoding::kSq8Residual) {
      const auto end = numbers.begin() + static_cast<ptrdiff_t>(dimension);
      std::replace(numbers.begin(), end, uint8_t{0x80}, uint8_t{0x81});
    }
    const RowKernels& plain = RowKernelsOf(InstructionSet::kPlain, encoding);
    for (const InstructionSet set : kInstructionSets) {
      if (!HasInstructionSet(set)) continue;
      const RowKernels& kernels = RowKernelsOf(set, encoding);
      RequireSame(kernels.dot(query.data(), numbers.data(), dimension),
                  plain.dot(query.data(), numbers.data(), dimension));
      RequireSame(kernels.squared(query.data(), numbers.data(), dimension, scale),
                  plain.squared(query.data(), numbers.data(), dimension, scale));
    }
  }
}

void CheckScan(const std::vector<float>& query, ByteSpan in) {
  std::vector<float> finite = query;
  for (float& number : finite) {
    if (!(std::abs(number) < 1e30F)) number = 1;
  }
  const ScanTable table(finite);
  const std::vector<uint8_t> block = Take(in, BlockContentBytes(query.size()));
  BlockTerms points{};
  for (size_t i = 0; i < kBlockCodes; ++i) {
    points.base[i] = query[i % query.size()];
    points.spread[i] = query[(i + 7) % query.size()];
  }
  const ScanTerms terms = {.slope = query[0], .noise = query.back()};
  BlockEstimates plain;
  const uint32_t passing =
      ScanFunctionOf(InstructionSet::kPlain)(block.data(), table, terms, points, query[0], plain);
  for (const InstructionSet set : kInstructionSets) {
    if (!HasInstructionSet(set)) continue;
    BlockEstimates other;
    if (ScanFunctionOf(set)(block.data(), table, terms, points, query[0], other) != passing) {
      std::abort();
    }
    for (size_t i = 0; i < kBlockCodes; ++i) {
      RequireSame(other.distance[i], plain.distance[i]);
      RequireSame(other.lowest[i], plain.lowest[i]);
    }
  }
}

}  // namespace
}  // namespace infino::vector

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kDimensionBytes = 2;
  if (size < kDimensionBytes + 4) return 0;
  const size_t dimension = 1 + infino::LoadU16(data) % 4096;
  const infino::ByteSpan rest(data + kDimensionBytes, size - kDimensionBytes);
  std::vector<float> query(dimension);
  for (size_t i = 0; i < dimension; ++i) {
    uint32_t bits = 0;
    for (size_t b = 0; b < 4; ++b) bits |= uint32_t{rest[(4 * i + b) % rest.size()]} << (8 * b);
    query[i] = std::bit_cast<float>(bits);
  }
  infino::vector::CheckRows(query, rest);
  infino::vector::CheckScan(query, rest);
  return 0;
}
