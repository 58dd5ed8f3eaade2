#include "infino/commit/row_slices.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <arrow/util/byte_size.h>

namespace infino {
namespace {

int64_t BytesOf(const arrow::Array& column) {
  if (column.type_id() == arrow::Type::DICTIONARY) {
    // What counts is what the rows are once they are decoded.
    const auto& encoded = static_cast<const arrow::DictionaryArray&>(column);
    const int64_t values = std::max<int64_t>(encoded.dictionary()->length(), 1);
    return BytesOf(*encoded.dictionary()) / values * column.length() + column.length();
  }
  const arrow::Result<int64_t> referenced = arrow::util::ReferencedBufferSize(column);
  return referenced.ok() ? *referenced : arrow::util::TotalBufferSize(column);
}

}  // namespace

std::vector<RowSlice> SliceRows(const std::shared_ptr<arrow::RecordBatch>& rows, int64_t rows_max,
                                int64_t bytes_max) {
  std::vector<RowSlice> slices;
  const int64_t row_count = rows->num_rows();
  if (row_count == 0) return slices;
  int64_t size_bytes = 0;
  for (int i = 0; i < rows->num_columns(); ++i) size_bytes += BytesOf(*rows->column(i));
  const int64_t row_bytes = size_bytes / row_count + 1;
  const int64_t step = std::clamp<int64_t>(bytes_max / row_bytes, 1, rows_max);
  for (int64_t at = 0; at < row_count; at += step) {
    const int64_t count = std::min(step, row_count - at);
    slices.push_back({.rows = count == row_count ? rows : rows->Slice(at, count),
                      .coercion = nullptr,
                      .first_id = {},
                      .ids = {},
                      .first_row = 0,
                      .size_bytes = row_bytes * count});
  }
  return slices;
}

}  // namespace infino
