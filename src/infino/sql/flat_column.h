#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "duckdb/common/types/selection_vector.hpp"
#include "duckdb/common/types/vector.hpp"
#include "infino/sql/flat_conversion.h"
#include "infino/superfile/column_pages.h"
#include "infino/superfile/flat_pages.h"
#include "infino/superfile/page_reads.h"

namespace infino::sql {

/// Some rows of a stretch of at most a vector's length.
struct WindowRows {
  uint32_t first_row = 0;  ///< Of the stretch, counted in the row group.
  size_t length = 0;       ///< Of the stretch.

  /// Ascending places in the stretch of so many rows; null: all of them.
  const duckdb::SelectionVector* selected = nullptr;
  size_t count = 0;

  [[nodiscard]] uint32_t RowAt(size_t i) const {
    return first_row + static_cast<uint32_t>(selected == nullptr ? i : selected->get_index(i));
  }
};

/// Where values of rows go in a vector.
enum class Placing : uint8_t {
  kDense,     ///< One behind the other.
  kInWindow,  ///< At their places in the stretch; others hold anything.
};

/// Reads a flat column of one row group after the other into DuckDB's vectors. Texts and binaries
/// of dictionary pages become dictionary vectors, others point into the pages, which the vectors
/// keep. Used by one thread.
class FlatColumn {
 public:
  /// Sets what is read next. `pages` outlive it.
  void Start(const FlatConversion& conversion, ColumnPages& pages);

  /// Writes rows to `out`, an empty flat vector of the conversion's type. Fails as ColumnPages.
  [[nodiscard]] arrow::Status Read(const PageReads& reads, const WindowRows& rows, Placing placing,
                                   duckdb::Vector& out);

 private:
  /// The values of a dictionary page as a flat vector with a null behind them.
  struct Dictionary {
    std::shared_ptr<const PageDictionary> source;
    duckdb::buffer_ptr<duckdb::VectorChildBuffer> values;
    duckdb::buffer_ptr<duckdb::VectorBuffer> keeper;
  };

  arrow::Status ReadDictionary(const PageReads& reads);
  void Keep(const std::shared_ptr<arrow::Buffer>& owner, duckdb::Vector& out);
  void WriteIndices(const PageValues& values, const RowMove& move);
  void Unindex(const WindowRows& rows, size_t count, Placing placing, duckdb::Vector& out);

  FlatConversion conversion_;
  ColumnPages* pages_ = nullptr;
  Dictionary dictionary_;
  duckdb::SelectionVector indices_;
  std::vector<uint32_t> from_;
};

}  // namespace infino::sql
