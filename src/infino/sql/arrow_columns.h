#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/table.h>

#include "duckdb/common/types/data_chunk.hpp"
#include "duckdb/main/client_context.hpp"

namespace infino::sql {

/// Rows of ours on their way into DuckDB: an Arrow table, given out chunk by chunk as values of
/// ToLogicalType. Used by one thread.
class ArrowColumns {
 public:
  ArrowColumns();
  ~ArrowColumns();
  ArrowColumns(const ArrowColumns&) = delete;
  ArrowColumns& operator=(const ArrowColumns&) = delete;
  ArrowColumns(ArrowColumns&&) = delete;
  ArrowColumns& operator=(ArrowColumns&&) = delete;

  /// Takes the rows of `table`.
  [[nodiscard]] arrow::Status Set(duckdb::ClientContext& context, const arrow::Table& table);

  /// Fills `chunk`, whose columns have the types of the table's, with the next rows; with none at
  /// the end. Throws what DuckDB throws.
  void Next(duckdb::ClientContext& context, duckdb::DataChunk& chunk);

 private:
  struct Column;

  int64_t row_count_ = 0;
  int64_t next_row_ = 0;
  std::vector<std::unique_ptr<Column>> columns_;
};

}  // namespace infino::sql
