#include "infino/common/hash.h"

#include <cstdint>

#include <isa-l/crc64.h>

#include "infino/common/bytes.h"

namespace infino {

uint64_t Hash64(ByteSpan bytes) {
  // A CRC tells short strings apart but is linear; the multiplications spread it over all bits.
  uint64_t hash = crc64_ecma_refl(0, bytes.data(), bytes.size());
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccdULL;
  hash ^= hash >> 33;
  hash *= 0xc4ceb9fe1a85ec53ULL;
  hash ^= hash >> 33;
  return hash;
}

}  // namespace infino
