#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/options.h"
#include "infino/superfile/page_header.h"

namespace infino {

/// A data page of a flat column taken apart, of which nothing is decompressed yet. A view.
struct PageBody {
  PageHeader header;
  ByteSpan levels;  ///< Which rows are not null, as runs; may be empty if all are.
  ByteSpan stored;  ///< The values that are not null.

  [[nodiscard]] size_t value_count() const { return header.value_count - header.null_count; }

  /// Of the values when decompressed.
  [[nodiscard]] size_t plain_length() const {
    return header.plain_length - header.definition_length;
  }

  [[nodiscard]] bool IsCompressed(Compression compression) const {
    return header.compressed && compression != Compression::kNone;
  }
};

/// Takes a page apart that should have `row_count` rows. kCorrupt unless it is such a page.
[[nodiscard]] arrow::Result<PageBody> ParsePageBody(ByteSpan page, uint32_t row_count,
                                                    bool nullable);

/// Reads the levels of a page with nulls: 1 for each row that has a value. kCorrupt unless they are
/// as many as there should be.
[[nodiscard]] arrow::Status ReadLevels(const PageBody& body, std::vector<uint32_t>& levels);

/// Decompresses the values into `out`, which is resized. REQUIRES: IsCompressed.
[[nodiscard]] arrow::Result<ByteSpan> InflateBody(const PageBody& body, Compression compression,
                                                  arrow::ResizableBuffer& out);

/// Checks the length to which `compressed` bytes should decompress, before memory is taken for it.
/// `in` is where they come from, for the error.
[[nodiscard]] arrow::Status CheckPlainLength(const ByteReader& in, Compression compression,
                                             size_t compressed, size_t plain);

/// Inflate, whose failure is kCorrupt.
[[nodiscard]] arrow::Status InflateChecked(const ByteReader& in, Compression compression,
                                           ByteSpan compressed, std::span<uint8_t> out);

}  // namespace infino
