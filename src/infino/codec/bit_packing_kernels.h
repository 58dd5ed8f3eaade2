#pragma once

#include <cstdint>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"

// The two inner loops of bit_packing.h, once for every instruction set. The scalar ones are the
// truth; tests hold the others equal to them. Arguments as in bit_packing.h.
namespace infino::internal {

void UnpackBlockScalar(ByteSpan in, uint32_t width, BlockSpan out);

/// Adds up without looking for overflow: sums are modulo 2^32.
void UnpackSumsScalar(ByteSpan in, uint32_t width, uint32_t base, BlockSpan out);

#if defined(__x86_64__)
/// REQUIRES: ThisCpu().avx2.
void UnpackBlockAvx2(ByteSpan in, uint32_t width, BlockSpan out);
void UnpackSumsAvx2(ByteSpan in, uint32_t width, uint32_t base, BlockSpan out);
#endif

}  // namespace infino::internal
