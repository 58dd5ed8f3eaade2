#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "infino/options.h"

namespace infino {

/// Constants of the superfile format; docs/format/superfile.md is the specification.

inline constexpr uint32_t kOpenSectionMagic = 0x4F465349;  ///< "ISFO" in the file's order of bytes.
inline constexpr uint16_t kSuperfileFormatVersion = 0;

/// magic, version, zero, superfile id, row count, body length.
inline constexpr size_t kOpenSectionHeadSize = 40;
static_assert(kOpenSectionHeadSize == 4 + 2 + 2 + 16 + 8 + 8);

/// The body is checksummed in blocks of this many bytes.
inline constexpr int64_t kBodyBlockSize = int64_t{256} << 10;

/// A row-fetch map of up to this many bytes stands in the open section.
inline constexpr size_t kInlineRowMapMax = size_t{64} << 10;

/// A row group ends at the row that reaches either.
inline constexpr int64_t kRowGroupRowsMax = int64_t{64} << 10;
inline constexpr int64_t kRowGroupBytesMax = int64_t{32} << 20;

/// No page has more rows.
inline constexpr int64_t kPageRowsMax = 1024;

/// DocId is 32 bits wide.
inline constexpr int64_t kSuperfileRowsMax = (int64_t{1} << 32) - 1;

/// What a region of the file holds. Values are stored.
enum class RegionKind : uint8_t {
  kText = 1,
  kRowMap = 2,
  kVector = 3,
};

/// What a part of the open section holds. Values are stored; unknown ones are passed over.
enum class PartKind : uint8_t {
  kSchema = 1,
  kIdMap = 2,
  kBlockChecksums = 3,
  kRowMap = 4,
  kText = 5,
  kVector = 6,
};

/// Keys of the Parquet footer. The value of inf.format says what the file is.
namespace footer_key {
inline constexpr std::string_view kFormat = "inf.format";
inline constexpr std::string_view kFormatVersion = "inf.format_version";
inline constexpr std::string_view kBuilder = "inf.builder";
inline constexpr std::string_view kId = "inf.id";
inline constexpr std::string_view kIdColumn = "inf.id_column";
inline constexpr std::string_view kRows = "inf.rows";
inline constexpr std::string_view kSchemaId = "inf.schema_id";
inline constexpr std::string_view kOpenOffset = "inf.open.offset";
inline constexpr std::string_view kOpenLength = "inf.open.length";
inline constexpr std::string_view kTextColumns = "inf.text.columns";
inline constexpr std::string_view kVectorColumns = "inf.vector.columns";
}  // namespace footer_key

inline constexpr std::string_view kFormatName = "infino-superfile";
inline constexpr std::string_view kBuilderName = "infino/0.11.0";

/// "text.3", "vector.4" or "row_map": how errors and the footer call a region.
[[nodiscard]] std::string RegionName(RegionKind kind, int32_t field_id);

}  // namespace infino
