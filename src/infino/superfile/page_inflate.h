#pragma once

#include <cstdint>
#include <span>

#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/options.h"

namespace infino {

/// The most that `compressed_length` bytes may decompress to: what a length is checked against
/// before memory is taken for it.
[[nodiscard]] int64_t InflatedMax(Compression compression, int64_t compressed_length);

/// Decompresses into `out`, which it must fill to the byte; else, and for bytes that nothing
/// compressed, a failed status of no kind. Each thread keeps one decompressor, of about 200 KiB,
/// since setting one up costs as much as a small page. Thread-safe.
[[nodiscard]] arrow::Status Inflate(Compression compression, ByteSpan compressed,
                                    std::span<uint8_t> out);

}  // namespace infino
