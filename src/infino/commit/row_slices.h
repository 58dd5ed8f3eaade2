#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/record_batch.h>

#include "infino/commit/row_coercion.h"
#include "infino/common/ids.h"

namespace infino {

/// Some ids of a list that is kept alive with them.
struct RowIds {
  std::shared_ptr<const std::vector<RowId>> owner;
  std::span<const RowId> ids;
};

/// A piece of an append's rows, as they came in, with the ids they get. Cheap to move.
struct RowSlice {
  std::shared_ptr<arrow::RecordBatch> rows;
  std::shared_ptr<const RowCoercion> coercion;
  RowId first_id;   ///< Of the first row; the others follow one by one, unless there are ids.
  RowIds ids = {};  ///< Of every row, ascending.
  uint64_t first_row = 0;  ///< How many rows the append had before.
  int64_t size_bytes = 0;  ///< About what the rows take when they stand alone.
};

/// Cuts `rows` into pieces of at most `rows_max` rows and about `bytes_max` bytes, but one row at
/// least, in order. The pieces share the memory of `rows`.
[[nodiscard]] std::vector<RowSlice> SliceRows(const std::shared_ptr<arrow::RecordBatch>& rows,
                                              int64_t rows_max, int64_t bytes_max);

}  // namespace infino
