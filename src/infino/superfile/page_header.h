#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <arrow/result.h>

#include "infino/common/bytes.h"

namespace infino {

/// How values stand in a page; the numbers are Parquet's.
enum class PageEncoding : uint8_t {
  kPlain = 0,
  kPlainDictionary = 2,  ///< Old name of kPlain in dictionaries, of kRleDictionary in data pages.
  kRle = 3,
  kDeltaBinaryPacked = 5,
  kDeltaLengthByteArray = 6,
  kRleDictionary = 8,
};

/// What stands before the bytes of a page, a dictionary page or a version 2 data page.
struct PageHeader {
  bool is_dictionary = false;
  size_t header_length = 0;        ///< Of the header itself.
  uint32_t compressed_length = 0;  ///< Of what follows it, levels included.
  uint32_t plain_length = 0;       ///< The same when decompressed.
  uint32_t value_count = 0;        ///< Nulls included.
  uint32_t null_count = 0;         ///< Of data pages, as all below.
  uint32_t row_count = 0;
  uint32_t definition_length = 0;
  uint32_t repetition_length = 0;
  bool compressed = true;  ///< Whether the values are; levels never.
  int32_t encoding = 0;    ///< A PageEncoding, or one that is not known here.
};

/// Reads the header of a page of which `page` is all: header and what follows it. `object` is named
/// in errors. kCorrupt unless it is the header of such a page and its lengths add up.
[[nodiscard]] arrow::Result<PageHeader> ParsePageHeader(ByteSpan page, std::string_view object);

}  // namespace infino
