#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// A stored column of a table as one superfile has it. A file keeps the columns and types of when
/// it was written, and the table's may have changed since: columns are found by field id, whatever
/// they are called in the file.
struct MappedColumn {
  int32_t field_id = 0;
  std::shared_ptr<arrow::Field> declared;  ///< As the table has it; no metadata.

  /// Its place in SuperfileReader::file_schema, which is its place in the Parquet body too. -1: the
  /// file has no such column, and all of its rows are null.
  int file_ordinal = -1;

  /// Its type in the file; null if it is not there.
  std::shared_ptr<arrow::DataType> file_type = nullptr;

  [[nodiscard]] bool is_in_file() const { return file_ordinal >= 0; }

  /// Whether values as the file has them are values as the table has them.
  [[nodiscard]] bool is_as_declared() const {
    return is_in_file() && file_type->Equals(*declared->type());
  }
};

/// Finds columns by field id; `declared` has a field for each. kCorrupt, naming the file and the
/// column, if the file's type can't become the declared one (widening.h), or the column may not be
/// null and is not in the file.
[[nodiscard]] arrow::Result<std::vector<MappedColumn>> MapColumns(
    const SuperfileReader& superfile, std::span<const int32_t> field_ids,
    const arrow::FieldVector& declared);

/// Finds all stored columns of `schema`, in its order, without `_id`.
[[nodiscard]] arrow::Result<std::vector<MappedColumn>> MapColumns(const SuperfileReader& superfile,
                                                                  const TableSchema& schema);

/// `values` of the column as the file has them, as the table declares them; nulls, as many as
/// `row_count`, if the file has no such column, when `values` may be null.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> AsDeclared(
    const MappedColumn& column, const std::shared_ptr<arrow::Array>& values, int64_t row_count);

}  // namespace infino
