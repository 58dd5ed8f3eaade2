#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/options.h"
#include "infino/superfile/flat_layout.h"
#include "infino/superfile/flat_pages.h"
#include "infino/superfile/page_body.h"

namespace infino {

/// The values of a data page, one a row; a row without a value has any.
struct PageValues {
  enum class Form : uint8_t {
    kNumbers,  ///< Of bits and integers.
    kFixed,    ///< Of fixed bytes and decimals: as stored, one behind the other.
    kBytes,    ///< Of bytes of any length.
    kIndices,  ///< Of any, into the dictionary of the column chunk.
  };

  Form form = Form::kNumbers;
  uint32_t row_count = 0;
  std::vector<uint8_t> valid;     ///< 1 or 0 for each row; empty if all have a value.
  std::vector<uint64_t> numbers;  ///< The lower `stored_width` bytes count.
  ByteSpan fixed;
  std::vector<ByteSpan> bytes;
  std::vector<uint32_t> indices;  ///< Each of them is in the dictionary.

  /// What `fixed` and `bytes` point into.
  std::shared_ptr<arrow::Buffer> owner;

  [[nodiscard]] bool IsValid(uint32_t row) const { return valid.empty() || valid[row] != 0; }
};

/// Decodes whole data pages of one flat column, without Parquet's reader: only what SuperfileWriter
/// writes. Any bytes are safe: what is not such a page is kCorrupt, and so is text that is not
/// UTF-8. Single-threaded.
class PageValuesReader {
 public:
  PageValuesReader(const FlatLayout& layout, Compression compression);

  /// Sets `values` to those of `page`, which should have `row_count` rows. `dictionary` is that of
  /// the column chunk; null if it has none. The values keep alive what they point into.
  [[nodiscard]] arrow::Status Read(const std::shared_ptr<arrow::Buffer>& page, uint32_t row_count,
                                   const PageDictionary* dictionary, PageValues& values);

  /// The values of a dictionary, in its order. They point into it.
  [[nodiscard]] arrow::Result<PageValues> Read(const PageDictionary& dictionary) const;

 private:
  arrow::Status ReadStored(const PageBody& body, const std::shared_ptr<arrow::Buffer>& page,
                           const PageDictionary* dictionary, PageValues& values);
  arrow::Status ReadPlain(ByteReader& in, PageValues& values) const;
  arrow::Status ReadDeltas(ByteReader& in, PageValues& values) const;
  arrow::Status ReadDeltaLengths(ByteReader& in, PageValues& values);
  arrow::Status ReadBits(ByteReader& in, PageValues& values);
  arrow::Status ReadIndices(ByteReader& in, const PageDictionary* dictionary,
                            PageValues& values) const;
  arrow::Status Spread(PageValues& values) const;

  [[nodiscard]] arrow::Status CheckTexts(ByteReader& in, const std::vector<ByteSpan>& texts) const;

  FlatLayout layout_;
  Compression compression_;
  bool is_text_ = false;
  size_t value_count_ = 0;  // of the page at hand, without nulls
  std::vector<uint32_t> small_numbers_;
  std::vector<uint64_t> wide_numbers_;
};

}  // namespace infino
