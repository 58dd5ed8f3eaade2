#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/status.h>

#include "duckdb/common/types/data_chunk.hpp"
#include "duckdb/common/types/selection_vector.hpp"
#include "duckdb/common/types/vector.hpp"
#include "duckdb/main/client_context.hpp"
#include "infino/sql/flat_column.h"
#include "infino/sql/flat_scan.h"
#include "infino/sql/scan_filter.h"

namespace infino::sql {

/// One thread's part in a FlatScan: takes unit after unit, finds out which rows pass the filters,
/// reads the pages of the other columns that have such rows, and gives the rows out.
class UnitScan {
 public:
  /// `scan` outlives it.
  UnitScan(duckdb::ClientContext& context, FlatScan& scan);

  /// Fills `chunk`, whose columns are the scan's output, with the next rows; with none at the end.
  /// Throws what DuckDB throws, and failures as it does. Blocks in Wait.
  void Next(duckdb::ClientContext& context, duckdb::DataChunk& chunk);

  /// Where the rows given last are in the order of the table: of all units, that one.
  [[nodiscard]] duckdb::idx_t ordinal() const { return unit_ == nullptr ? 0 : unit_->ordinal; }

 private:
  /// A column's filter and its values that were read for it.
  struct Filter {
    size_t column = 0;
    ScanFilter filter;
    bool is_given_out = false;
    std::vector<std::unique_ptr<duckdb::Vector>> kept;  ///< By window; null where no row passes.
  };

  [[nodiscard]] size_t window_count() const;
  [[nodiscard]] WindowRows Window(size_t window) const;
  bool StartUnit(duckdb::ClientContext& context);
  arrow::Status TakeBytes(duckdb::ClientContext& context, ScanReads& reads) const;
  arrow::Status FilterRows(duckdb::ClientContext& context);
  arrow::Status FilterWindow(size_t window);
  arrow::Status ReadOthers(duckdb::ClientContext& context);
  arrow::Status Fill(size_t column, const WindowRows& rows, Placing placing, duckdb::Vector& out);
  arrow::Status GiveOut(size_t window, const WindowRows& rows, duckdb::DataChunk& chunk);

  FlatScan& scan_;
  std::vector<FlatColumn> columns_;
  std::vector<Filter> filters_;
  std::unique_ptr<ScanUnit> unit_;
  size_t next_window_ = 0;
};

}  // namespace infino::sql
