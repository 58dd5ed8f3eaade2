#pragma once

#include <cstddef>
#include <cstdint>

namespace infino::vector {

/// Constants of the vector index format; docs/format/vector-index.md is the specification.

inline constexpr uint32_t kVectorOpenMagic = 0x4F585649;  ///< "IVXO" in the file's order of bytes.
inline constexpr uint32_t kVectorBlobMagic = 0x42584449;  ///< "IDXB", as of every index.
inline constexpr uint16_t kVectorFormatVersion = 0;
inline constexpr uint8_t kVectorIndexKind = 2;

/// magic, kind, zero, version, superfile id, zero, crc32c.
inline constexpr size_t kVectorHeadSize = 32;
static_assert(kVectorHeadSize == 4 + 1 + 1 + 2 + 16 + 4 + 4);

inline constexpr size_t kVectorChecksumSize = 4;

/// Documents of a chunk of the first section.
inline constexpr size_t kDocChunkSize = 4096;

inline constexpr int64_t kVectorRowsMax = (int64_t{1} << 31) - 1;

/// Recalls whose fraction is kept.
inline constexpr size_t kCurvePoints = 3;
inline constexpr double kCurveRecalls[kCurvePoints] = {0.90, 0.95, 0.99};

/// A fraction of all rows.
inline constexpr uint16_t kWholeFraction = 65535;

}  // namespace infino::vector
