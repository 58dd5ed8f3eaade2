#pragma once

#include <cstdint>

#include "infino/common/bytes.h"

namespace infino {

/// CRC-32C (Castagnoli, RFC 3720) of `bytes`, with hardware help where there is some.
[[nodiscard]] uint32_t Crc32c(ByteSpan bytes);

/// The checksum of the bytes behind `crc` followed by `bytes`.
[[nodiscard]] uint32_t ExtendCrc32c(uint32_t crc, ByteSpan bytes);

}  // namespace infino
