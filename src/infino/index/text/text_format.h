#pragma once

#include <cstddef>
#include <cstdint>

namespace infino::text {

/// Constants of the text index format; docs/format/text-index.md is the specification.

inline constexpr uint32_t kOpenPartMagic = 0x4F584449;  ///< "IDXO" in the file's order of bytes.
inline constexpr uint32_t kBlobMagic = 0x42584449;      ///< "IDXB".
inline constexpr uint16_t kTextFormatVersion = 0;
inline constexpr uint8_t kTextIndexKind = 1;

/// magic, kind, zero, version, superfile id, zero, crc32c.
inline constexpr size_t kBlobHeadSize = 32;
static_assert(kBlobHeadSize == 4 + 1 + 1 + 2 + 16 + 4 + 4);

inline constexpr size_t kChecksumSize = 4;

/// Flags of the open part.
inline constexpr uint16_t kHasPositions = 1;
inline constexpr uint16_t kHasInlineDictionary = 2;

inline constexpr uint32_t kAnalysisRevision = 1;

inline constexpr int64_t kRowCountMax = (int64_t{1} << 31) - 1;

/// The most tokens of one document, and the bits that its length or a frequency takes.
inline constexpr int64_t kDocumentLengthMax = (int64_t{1} << 30) - 1;
inline constexpr uint32_t kLengthWidthMax = 30;

inline constexpr uint32_t kBlockSize = 128;        ///< Documents of a block of postings.
inline constexpr uint32_t kSuperBlockBlocks = 32;  ///< Blocks of a super-block.

/// More than a super-block can take.
inline constexpr uint64_t kSuperBlockBytesMax = uint64_t{1} << 17;

inline constexpr uint32_t kLengthChunkSize = 4096;  ///< Documents of a chunk of lengths.
static_assert(kLengthChunkSize % kBlockSize == 0);

inline constexpr uint32_t kBitWidthMax = 32;  ///< Of gaps between documents.

/// The document code of a block that is a bitmap; every lower one is a bit width.
inline constexpr uint8_t kBitmapCode = 64;

/// A dictionary of up to this many bytes stands in the open part.
inline constexpr size_t kInlineDictionaryMax = 4096;

/// A dictionary block ends before the entry that would take it past this.
inline constexpr size_t kDictionaryBlockTarget = 4096;

/// The transducer's value is a block's offset, shifted by this, and its length.
inline constexpr uint32_t kBlockLengthBits = 14;
inline constexpr size_t kDictionaryBlockMax = (size_t{1} << kBlockLengthBits) - 1;

/// The longest term, in bytes: 255 code points. Also the longest key of a transducer.
inline constexpr size_t kTermLengthMax = 1020;

/// The most impacts that are kept of one set of postings.
inline constexpr size_t kImpactsMax = 32;
static_assert(kTermLengthMax + kImpactsMax * 10 + 128 < kDictionaryBlockMax);

/// Encoded positions of a term with one document stand in the dictionary up to this many bytes.
inline constexpr size_t kInlinePositionsMax = 16;

}  // namespace infino::text
