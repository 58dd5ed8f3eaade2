#pragma once

#include <cstddef>
#include <cstdint>

#include "infino/index/vector/code_scan.h"

// What the kernels of code_scan.h share.

namespace infino::vector::internal {

/// Where the factors of a block are, behind its codes.
struct BlockFactors {
  BlockFactors(const uint8_t* block, size_t code_bytes)
      : offsets(block + kBlockCodes * code_bytes),
        scales(offsets + 4 * kBlockCodes),
        spreads(scales + 2 * kBlockCodes) {}

  const uint8_t* offsets;
  const uint8_t* scales;
  const uint8_t* spreads;
};

#if defined(__x86_64__)
uint32_t ScanBlockAvx2(const uint8_t* block, const ScanTable& table, const ScanTerms& terms,
                       const BlockTerms& points, float limit, BlockEstimates& out);
uint32_t ScanBlockAvx512(const uint8_t* block, const ScanTable& table, const ScanTerms& terms,
                         const BlockTerms& points, float limit, BlockEstimates& out);
#endif
#if defined(__aarch64__)
uint32_t ScanBlockNeon(const uint8_t* block, const ScanTable& table, const ScanTerms& terms,
                       const BlockTerms& points, float limit, BlockEstimates& out);
#endif

}  // namespace infino::vector::internal
