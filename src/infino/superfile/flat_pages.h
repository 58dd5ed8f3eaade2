#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/options.h"
#include "infino/superfile/flat_layout.h"
#include "infino/superfile/flat_values.h"
#include "infino/superfile/page_body.h"

namespace infino {

/// The values of a dictionary page. Immutable and shared.
class PageDictionary {
 public:
  /// Reads a dictionary page of a column with that layout. kCorrupt if it is none.
  [[nodiscard]] static arrow::Result<std::shared_ptr<const PageDictionary>> Read(
      const FlatLayout& layout, Compression compression, ByteSpan page);

  [[nodiscard]] size_t size() const { return starts_.size(); }

  /// As it stands in the page, without its length. REQUIRES: ordinal < size().
  [[nodiscard]] ByteSpan operator[](size_t ordinal) const;

  [[nodiscard]] int64_t memory_bytes() const;

 private:
  std::vector<uint8_t> bytes_;
  std::vector<uint32_t> starts_;
  size_t width_ = 0;  // 0: each value has its length before it
};

/// Decodes single rows of the data pages of one flat column, without Parquet's reader: only what
/// SuperfileWriter writes. Any bytes are safe: what is not such a page is kCorrupt.
/// Single-threaded.
class FlatPageReader {
 public:
  FlatPageReader(const FlatLayout& layout, Compression compression)
      : layout_(layout), compression_(compression) {}

  /// Appends to `values` the rows of `page` that `rows` names, counted in the page and ascending.
  /// `page` should have `row_count` rows. `dictionary` is that of the column chunk; null if it has
  /// none.
  [[nodiscard]] arrow::Status Append(ByteSpan page, uint32_t row_count,
                                     std::span<const uint32_t> rows,
                                     const PageDictionary* dictionary, FlatValues& values);

 private:
  arrow::Status FindValues(const PageBody& body, std::span<const uint32_t> rows);
  arrow::Result<ByteSpan> Inflated(const PageBody& body);
  arrow::Status AppendPlain(ByteReader& in, FlatValues& values) const;
  arrow::Status AppendPlainBytes(ByteReader& in, FlatValues& values) const;
  arrow::Status AppendDeltas(ByteReader& in, FlatValues& values);
  arrow::Status AppendDeltaLengths(ByteReader& in, FlatValues& values);
  arrow::Status AppendRuns(ByteReader& in, FlatValues& values);
  arrow::Status AppendIndexed(ByteReader& in, const PageDictionary* dictionary, FlatValues& values);

  FlatLayout layout_;
  Compression compression_;

  // Of the page at hand.
  size_t value_count_ = 0;          // that are not null
  std::vector<uint32_t> ordinals_;  // of the wanted rows' values among them, or kNull
  size_t needed_count_ = 0;         // how many values are read until the last of those

  std::shared_ptr<arrow::ResizableBuffer> inflated_;
  std::vector<uint32_t> numbers_;
  std::vector<uint64_t> wide_numbers_;
};

}  // namespace infino
