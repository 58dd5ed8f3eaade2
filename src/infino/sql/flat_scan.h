#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "duckdb/common/types.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/table_filter.hpp"
#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/query/tombstones.h"
#include "infino/sql/flat_conversion.h"
#include "infino/sql/row_marks.h"
#include "infino/sql/superfile_list.h"
#include "infino/superfile/column_pages.h"
#include "infino/superfile/page_reads.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_reader.h"

namespace infino::sql {

/// A column that a scan reads, for its filter or to give it out.
struct ScanColumn {
  enum class Kind : uint8_t {
    kStored,
    kId,
    kFile,   ///< The superfile's place in the snapshot.
    kRow,    ///< The row's in its superfile.
    kEmpty,  ///< None: only rows are counted.
  };

  Kind kind = Kind::kStored;
  duckdb::LogicalType type{};
  std::string name{};
  int32_t field_id = -1;  ///< Of a stored column.
  const duckdb::TableFilter* filter = nullptr;
};

/// A superfile of a scan.
struct ScanFile {
  /// A stored column in it.
  struct Column {
    std::optional<FlatConversion> conversion;  ///< None: the file lacks it, all rows are null.
    int leaf = -1;                             ///< In the row-fetch map.
  };

  std::shared_ptr<const SuperfileReader> reader;
  std::shared_ptr<const DeletedRows> deleted;  ///< Null: all rows are left.
  uint64_t place = 0;                          ///< In the snapshot.
  std::vector<Column> columns;                 ///< As those of the scan.
};

/// Bytes of pages that a scan has asked for.
struct ScanReads {
  PageReads reads;
  std::optional<Buffers> resident;
  arrow::Future<Buffers> under_way;

  /// In bytes.
  [[nodiscard]] int64_t length() const {
    int64_t total = 0;
    for (const ByteRange& range : reads.ranges()) total += range.length;
    return total;
  }
};

/// Rows that one thread scans: some of a row group.
struct ScanUnit {
  const ScanFile* file = nullptr;
  DocId first_doc = 0;
  uint32_t first_row = 0;  ///< Counted in the row group.
  uint32_t row_count = 0;
  duckdb::idx_t ordinal = 0;  ///< In the order of the rows of the table.

  /// The rows that may pass: by themselves, before their pages are read.
  RowMarks candidates;

  std::vector<std::unique_ptr<ColumnPages>> pages;  ///< By column; null for what has none.
  ScanReads first;   ///< Of the columns that are needed to tell which rows pass.
  ScanReads second;  ///< Of the others.
};

/// Our own scan of a table, for columns that are flat: pages are decoded straight into DuckDB's
/// vectors, and those without a row that passes the filters are left alone. Each page's checksum is
/// verified. Thread-safe; each thread takes one unit after the other.
class FlatScan {
 public:
  /// Null if DuckDB's Parquet scan has to do it: for nested columns, and types that are not known
  /// to come out the same. `input` is what a scan's init_global gets, and outlives the scan. Blocks
  /// in Wait.
  [[nodiscard]] static arrow::Result<std::unique_ptr<FlatScan>> Make(
      duckdb::ClientContext& context, const duckdb::TableFunctionInitInput& input);

  /// In the order of the scan's column ids.
  [[nodiscard]] const std::vector<ScanColumn>& columns() const { return columns_; }

  /// The columns to give out.
  [[nodiscard]] const std::vector<size_t>& output() const { return output_; }

  /// About how many units there are.
  [[nodiscard]] duckdb::idx_t unit_count() const;

  /// How much has been taken, in percent.
  [[nodiscard]] double progress() const;

  /// The next unit, null at the end. Its first pages are read, or on their way. Blocks in Wait.
  [[nodiscard]] arrow::Result<std::unique_ptr<ScanUnit>> Next(duckdb::ClientContext& context);

  /// Whether a column's pages are among the first reads of a unit.
  [[nodiscard]] bool IsFirst(size_t column) const;

  /// Asks for pages: from the cache, or else by a read that is then under way.
  static void Ask(const ScanFile& file, ScanReads& reads);

 private:
  /// What is read ahead, in bytes, but for the unit that is asked for.
  static constexpr int64_t kAheadBytesMax = int64_t{16} << 20;

  /// Row-fetch maps that are not in memory are read so many files ahead.
  static constexpr size_t kMapsAhead = 8;

  arrow::Status Open(duckdb::ClientContext& context);
  bool MapColumns(const std::vector<duckdb::column_t>& ids, const duckdb::FunctionData& bound);
  arrow::Result<bool> MapFile(ScanFile& file) const;
  void StartMaps();
  arrow::Result<bool> StartFile(duckdb::ClientContext& context);
  arrow::Result<bool> AddUnit(duckdb::ClientContext& context);
  [[nodiscard]] bool MayPass(const ScanFile& file, size_t item) const;
  [[nodiscard]] bool MayPass(const ScanFile& file, DocId first, uint32_t count) const;
  [[nodiscard]] std::unique_ptr<ScanUnit> MakeUnit(const ScanFile& file, DocId first_doc,
                                                   const ChunkRows& rows) const;
  void MarkCandidates(ScanUnit& unit) const;

  const SuperfileList* list_ = nullptr;
  std::vector<ScanColumn> columns_;
  std::vector<int32_t> field_ids_;  // of the stored columns
  arrow::FieldVector declared_;     // of these
  std::vector<size_t> output_;
  std::optional<std::vector<int64_t>> rows_;  // that a filter lists, ascending
  bool has_filters_ = false;
  std::vector<ScanFile> files_;
  uint32_t unit_rows_ = 0;
  int64_t row_count_ = 0;
  size_t thread_count_ = 1;

  mutable std::mutex mutex_;
  size_t next_file_ = 0;
  size_t next_map_ = 0;
  std::vector<arrow::Future<Buffers>> maps_;  // by file; invalid where none was asked for
  std::shared_ptr<const RowFetchMap> map_;    // of the file that units are taken of; null: none is
  int row_group_ = 0;
  uint32_t next_row_ = 0;  // in the row group
  std::deque<std::unique_ptr<ScanUnit>> ready_;
  int64_t ready_bytes_ = 0;  // of the first reads of these
  int64_t rows_taken_ = 0;
  duckdb::idx_t units_taken_ = 0;
};

}  // namespace infino::sql
