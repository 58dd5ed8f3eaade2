#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "infino/superfile/flat_layout.h"
#include "infino/superfile/page_reads.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

/// A row to fetch.
struct WantedRow {
  int row_group = 0;
  int64_t row = 0;  ///< Counted in the row group.
};

/// The rows of a fetch.
struct WantedRows {
  std::vector<WantedRow> rows;  ///< Ascending, each once.
  std::vector<uint32_t> order;  ///< Of the result: ordinals of `rows`.
};

/// A stored column of which rows are fetched.
struct FetchedColumn {
  std::shared_ptr<arrow::Field> field;  ///< As in the file schema.
  int first_leaf = 0;                   ///< In the row-fetch map; -1 is `_id`.
  int leaf_count = 0;
};

/// What fetching rows does for one column: says which pages it needs, and makes an array of them.
/// Single-threaded.
class ColumnFetch {
 public:
  /// For the rows of `wanted`, of which there is one at least. All arguments outlive it.
  [[nodiscard]] static std::unique_ptr<ColumnFetch> Make(const SuperfileReader& superfile,
                                                         const RowFetchMap& map,
                                                         const FetchedColumn& column,
                                                         const WantedRows& wanted);

  virtual ~ColumnFetch() = default;

  /// Adds the pages it needs.
  virtual void Plan(PageReads& reads) = 0;

  /// The rows in the order of the result, of the column's type. REQUIRES: planned, and `reads` has
  /// taken its bytes.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::Array>> Decode(
      const PageReads& reads) = 0;
};

/// For a flat column, through FlatPageReader.
[[nodiscard]] std::unique_ptr<ColumnFetch> MakeFlatColumnFetch(const SuperfileReader& superfile,
                                                               const RowFetchMap& map,
                                                               const FetchedColumn& column,
                                                               const WantedRows& wanted,
                                                               FlatLayout layout);

/// For any column, through Parquet's reader, which decodes whole pages.
[[nodiscard]] std::unique_ptr<ColumnFetch> MakeNestedColumnFetch(const SuperfileReader& superfile,
                                                                 const RowFetchMap& map,
                                                                 const FetchedColumn& column,
                                                                 const WantedRows& wanted);

}  // namespace infino
