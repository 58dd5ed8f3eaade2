#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/superfile/flat_layout.h"
#include "infino/superfile/flat_pages.h"
#include "infino/superfile/page_bounds.h"
#include "infino/superfile/page_reads.h"
#include "infino/superfile/page_values.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

/// Which column chunk, and which of its rows.
struct ChunkRows {
  int row_group = 0;
  int leaf = 0;            ///< In the row-fetch map.
  uint32_t first_row = 0;  ///< Counted in the row group.
  uint32_t row_count = 0;
};

/// The pages of some rows of one flat column in one row group, decoded one after the other: what a
/// scan does for a column. Single-threaded.
class ColumnPages {
 public:
  /// The rows of one page: its values, with the row that is the first of them, in the row group.
  struct Page {
    const PageValues* values = nullptr;
    uint32_t first_row = 0;
    uint32_t end_row = 0;
  };

  /// Whether any of the rows from the first to before the second is wanted, in the row group.
  using AnyWanted = std::function<bool(uint32_t, uint32_t)>;

  /// `name` is the column's in errors. The map has the chunk, and the rows are in it.
  ColumnPages(std::shared_ptr<const SuperfileReader> superfile,
              std::shared_ptr<const RowFetchMap> map, std::string name, const FlatLayout& layout,
              const ChunkRows& part);

  /// Adds the pages with a wanted row, and the dictionary page if it has to be read. `any_wanted`
  /// null: all of them.
  void Plan(PageReads& reads, const AnyWanted& any_wanted);

  /// The page with that row, decoded; valid until the next call. kCorrupt, naming the file and the
  /// offset, for a page that none was written as. Any order is fine, forwards costs least.
  /// REQUIRES: planned, the row was wanted, and `reads` has taken its bytes.
  [[nodiscard]] arrow::Result<Page> At(uint32_t row, const PageReads& reads);

  /// The chunk's dictionary, null if it has none. REQUIRES: as At.
  [[nodiscard]] arrow::Result<std::shared_ptr<const PageDictionary>> Dictionary(
      const PageReads& reads);

  /// Calls `visit` with the first row of each page whose bounds an earlier scan has
  /// met, the row behind its last one, and the bounds; just of the part's rows.
  void VisitBounds(const std::function<void(uint32_t, uint32_t, const PageBound&)>& visit) const;

  /// The dictionary's values, in its order. They point into it.
  [[nodiscard]] arrow::Result<PageValues> ValuesOf(const PageDictionary& dictionary) const;

 private:
  static constexpr size_t kNone = SIZE_MAX;

  [[nodiscard]] uint32_t EndOf(size_t page) const;
  [[nodiscard]] bool HasBounds() const;
  [[nodiscard]] int64_t NumberAt(const PageValues& values, size_t place) const;
  arrow::Status NoteBound(size_t page, const PageDictionary* dictionary);
  [[nodiscard]] arrow::Status Located(const arrow::Status& status, int64_t offset) const;

  std::shared_ptr<const SuperfileReader> superfile_;
  std::shared_ptr<const RowFetchMap> map_;
  std::string name_;
  FlatLayout layout_;
  ChunkRows part_;
  const ChunkPages* chunk_;
  uint32_t group_rows_ = 0;
  size_t first_page_ = 0;
  std::vector<PlannedPage> planned_;  // from first_page_ on; of no length: not wanted
  PlannedPage dictionary_page_;
  std::shared_ptr<const PageDictionary> dictionary_;
  PageValuesReader reader_;
  PageValues values_;
  size_t current_ = kNone;                   // the page that values_ are of
  std::vector<PageBound> bounds_;            // of the chunk's pages, as far as they are known
  std::vector<int64_t> dictionary_numbers_;  // of the dictionary, as bounds have them
};

}  // namespace infino
