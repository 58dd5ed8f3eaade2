#pragma once

#include <cstdint>

#include "infino/common/bytes.h"

namespace infino {

/// A well-mixed 64-bit hash of `bytes`, the same on every machine and in every version, so it may
/// be stored: CRC-64/XZ, then the finalizer of docs/format/primitives.md. Not for adversaries, who
/// can find colliding bytes at will; content is named by ContentHash.
[[nodiscard]] uint64_t Hash64(ByteSpan bytes);

}  // namespace infino
