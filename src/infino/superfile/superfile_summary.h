#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/buffer.h>

#include "infino/common/byte_range.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"

namespace infino {

/// Statistics of one stored column of one superfile.
///
/// `min` and `max` bound all values that are neither null nor NaN, in Parquet's PLAIN encoding of
/// the column's physical type (docs/format/manifest.md, "Column statistics"); long strings are cut
/// to 32 bytes, the upper one rounded up, and then not exact. Absent for types without an order.
struct ColumnStats {
  int32_t field_id = 0;
  int64_t null_count = 0;
  bool has_bounds = false;
  bool min_exact = false;
  bool max_exact = false;
  bool has_nan = false;  ///< A NaN is among the values: greater than `max` for every comparison.
  std::string min;
  std::string max;

  friend bool operator==(const ColumnStats&, const ColumnStats&) = default;
};

/// What the manifest knows of one keyword index of one superfile.
struct TextColumnSummary {
  int32_t field_id = 0;
  int64_t rows_with_token = 0;
  int64_t token_total = 0;
  int64_t term_count = 0;
  std::string min_term;  ///< Bytewise smallest and largest term, cut to 32 bytes (max rounded up).
  std::string max_term;

  friend bool operator==(const TextColumnSummary&, const TextColumnSummary&) = default;
};

/// A Bloom filter over all terms of one keyword index (codec/bloom_filter.h). Bulky: it goes into
/// the commit's summary object, not into the manifest entry.
struct TermFilter {
  int32_t field_id = 0;
  std::shared_ptr<arrow::Buffer> filter;
};

/// The Parquet footer of a superfile with its length and magic: the last `length` bytes.
struct ParquetFooter {
  int64_t length = 0;
  uint32_t checksum = 0;  ///< crc32c.

  friend bool operator==(const ParquetFooter&, const ParquetFooter&) = default;
};

/// All that the manifest needs of a superfile; falls out of writing it.
struct SuperfileSummary {
  SuperfileId id;
  int64_t size_bytes = 0;
  ByteRange open_section;
  ParquetFooter footer;
  ContentHash hash;  ///< Of the whole file.
  int64_t row_count = 0;
  RowId min_id;
  RowId max_id;
  std::vector<ColumnStats> columns;
  std::vector<TextColumnSummary> texts;
};

}  // namespace infino
