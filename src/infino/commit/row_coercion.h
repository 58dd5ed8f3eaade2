#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/superfile/table_schema.h"

namespace infino {

/// How the columns of incoming rows become the declared columns of a table.
///
/// Columns are matched by name, in any order; a missing nullable one is null. Types are converted
/// only where no value changes, but the numbers of vectors are rounded to floats; a vector is never
/// null. Everything else is kInvalidArgument that names the column and says what to do. Immutable
/// and thread-safe.
class RowCoercion {
 public:
  /// What happens to columns of type null that the table does not have: they say nothing of what
  /// they are.
  enum class UnknownNulls : uint8_t { kRefuse, kIgnore };

  /// Matches the columns of `input`, and checks that their types can be converted.
  [[nodiscard]] static arrow::Result<RowCoercion> Make(
      const TableSchema& schema, const arrow::Schema& input,
      UnknownNulls unknown_nulls = UnknownNulls::kRefuse);

  /// The declared columns, in order, with the rows of `rows`. `first_row` is how many rows the
  /// append had before these, for messages. REQUIRES: `rows` has the schema given to Make and
  /// passed ValidateRows, or is a slice of what did.
  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::RecordBatch>> Coerce(
      const arrow::RecordBatch& rows, uint64_t first_row) const;

  /// The declared column number `ordinal` alone.
  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> CoerceColumn(
      size_t ordinal, const arrow::RecordBatch& rows, uint64_t first_row) const;

 private:
  RowCoercion() = default;

  std::shared_ptr<arrow::Schema> schema_;
  std::vector<int> sources_;       ///< For each declared column its place in the input, or -1.
  std::vector<bool> has_vectors_;  ///< For each declared column whether it has a vector index.
};

/// Fails with kInvalidArgument, naming the column (and for text that is not UTF-8 the row), unless
/// `rows` is what Arrow's format says: rows may come over the C interface from anywhere. Costs one
/// pass over text, offsets and dictionary indices. `first_row` as in Coerce.
[[nodiscard]] arrow::Status ValidateRows(const arrow::RecordBatch& rows, uint64_t first_row);

}  // namespace infino
