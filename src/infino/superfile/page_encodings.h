#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"

namespace infino {

/// Parquet's encodings of numbers in pages, as far as superfiles are written with them. What they
/// read comes from storage: bytes that are none of the encoding are kCorrupt.

/// Reads the first `count` numbers of `width` bits that stand as runs and packed groups (RLE
/// hybrid). REQUIRES: width <= 32.
[[nodiscard]] arrow::Status ReadRuns(ByteReader& in, uint32_t width, size_t count,
                                     std::vector<uint32_t>& out);

/// Reads the first `limit` of `count` numbers that stand as packed differences
/// (DELTA_BINARY_PACKED); if they are all, `in` stands behind them then. Sums wrap around; of
/// 32-bit numbers only the lower half counts. REQUIRES: limit <= count.
[[nodiscard]] arrow::Status ReadDeltas(ByteReader& in, size_t count, size_t limit,
                                       std::vector<uint64_t>& out);

}  // namespace infino
