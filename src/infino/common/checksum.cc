#include "infino/common/checksum.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <isa-l/crc.h>

#include "infino/common/bytes.h"

namespace infino {

uint32_t Crc32c(ByteSpan bytes) {
  return ExtendCrc32c(0, bytes);
}

uint32_t ExtendCrc32c(uint32_t crc, ByteSpan bytes) {
  // The library takes the length as an int and leaves the inversions to the caller.
  constexpr size_t kChunkBytes = size_t{1} << 30;
  uint32_t state = ~crc;
  while (!bytes.empty()) {
    const ByteSpan chunk = bytes.first(std::min(bytes.size(), kChunkBytes));
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): only read, but declared without const
    auto* data = const_cast<uint8_t*>(chunk.data());
    state = crc32_iscsi(data, static_cast<int>(chunk.size()), state);
    bytes = bytes.subspan(chunk.size());
  }
  return ~state;
}

}  // namespace infino
