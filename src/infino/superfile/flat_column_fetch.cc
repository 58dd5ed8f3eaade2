#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/error.h"
#include "infino/superfile/column_fetch.h"
#include "infino/superfile/conform.h"
#include "infino/superfile/flat_layout.h"
#include "infino/superfile/flat_pages.h"
#include "infino/superfile/flat_values.h"
#include "infino/superfile/page_dictionaries.h"
#include "infino/superfile/page_reads.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {
namespace {

/// A data page with the rows wanted of it.
struct PagePart {
  PlannedPage page;
  uint32_t row_count = 0;
  size_t first_wanted = 0;  ///< Into rows_.
  size_t wanted_count = 0;
};

/// The parts of one column chunk.
struct ChunkPart {
  int row_group = 0;
  bool has_dictionary = false;
  std::shared_ptr<const PageDictionary> dictionary;  ///< Null if it has to be read.
  PlannedPage dictionary_page;
  std::vector<PagePart> pages;
};

class FlatColumnFetch final : public ColumnFetch {
 public:
  FlatColumnFetch(const SuperfileReader& superfile, const RowFetchMap& map,
                  const FetchedColumn& column, const WantedRows& wanted, FlatLayout layout)
      : superfile_(&superfile),
        map_(&map),
        column_(&column),
        wanted_(&wanted),
        layout_(std::move(layout)) {}

  void Plan(PageReads& reads) override {
    rows_.reserve(wanted_->rows.size());
    const ChunkPages* chunk = nullptr;
    auto page = std::vector<PagePlace>::const_iterator();
    int64_t page_end = 0;
    for (const WantedRow& wanted : wanted_->rows) {
      if (chunk == nullptr || chunks_.back().row_group != wanted.row_group) {
        chunk = &map_->Chunk(wanted.row_group, column_->first_leaf);
        AddChunk(wanted.row_group, *chunk, reads);
        page_end = 0;
      }
      if (wanted.row >= page_end) {
        page = std::prev(std::upper_bound(
            chunk->pages.begin(), chunk->pages.end(), wanted.row,
            [](int64_t row, const PagePlace& place) { return row < place.first_row; }));
        const auto next = std::next(page);
        page_end = next == chunk->pages.end() ? RowsOfGroup(wanted.row_group) : next->first_row;
        chunks_.back().pages.push_back(
            {.page = reads.Add({.offset = page->offset, .length = page->length}, page->checksum),
             .row_count = static_cast<uint32_t>(page_end - page->first_row),
             .first_wanted = rows_.size()});
      }
      ++chunks_.back().pages.back().wanted_count;
      rows_.push_back(static_cast<uint32_t>(wanted.row - page->first_row));
    }
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Decode(const PageReads& reads) override {
    FlatPageReader reader(layout_, map_->compression());
    FlatValues values(layout_);
    for (ChunkPart& chunk : chunks_) {
      if (chunk.has_dictionary && chunk.dictionary == nullptr) {
        ARROW_RETURN_NOT_OK(ReadDictionary(chunk, reads));
      }
      for (const PagePart& part : chunk.pages) {
        const auto rows = std::span(rows_).subspan(part.first_wanted, part.wanted_count);
        const arrow::Status status = reader.Append(reads.BytesOf(part.page), part.row_count, rows,
                                                   chunk.dictionary.get(), values);
        if (!status.ok()) return Located(status, reads.OffsetOf(part.page));
      }
    }
    auto array = values.Take(wanted_->order);
    if (array.ok()) array = Conform(*array, column_->field->type());
    if (array.ok()) return array;
    return FromForeign(array.status(), superfile_->name() + ": fetch rows of column '" +
                                           column_->field->name() + "'");
  }

 private:
  [[nodiscard]] int64_t RowsOfGroup(int row_group) const {
    const auto& starts = map_->row_group_starts();
    return starts[static_cast<size_t>(row_group) + 1] - starts[static_cast<size_t>(row_group)];
  }

  void AddChunk(int row_group, const ChunkPages& chunk, PageReads& reads) {
    ChunkPart& part = chunks_.emplace_back();
    part.row_group = row_group;
    part.has_dictionary = chunk.dictionary.length > 0;
    if (!part.has_dictionary) return;
    part.dictionary = superfile_->dictionaries().Find(row_group, column_->first_leaf);
    if (part.dictionary != nullptr) return;
    part.dictionary_page = reads.Add(chunk.dictionary, chunk.dictionary_checksum);
  }

  arrow::Status ReadDictionary(ChunkPart& chunk, const PageReads& reads) {
    auto read =
        PageDictionary::Read(layout_, map_->compression(), reads.BytesOf(chunk.dictionary_page));
    if (!read.ok()) return Located(read.status(), reads.OffsetOf(chunk.dictionary_page));
    chunk.dictionary = *std::move(read);
    superfile_->dictionaries().Keep(chunk.row_group, column_->first_leaf, chunk.dictionary);
    return arrow::Status::OK();
  }

  [[nodiscard]] arrow::Status Located(const arrow::Status& status, int64_t offset) const {
    return FromForeign(status, superfile_->name() + ": column '" + column_->field->name() +
                                   "': page with offset=" + std::to_string(offset));
  }

  const SuperfileReader* superfile_;
  const RowFetchMap* map_;
  const FetchedColumn* column_;
  const WantedRows* wanted_;
  FlatLayout layout_;
  std::vector<ChunkPart> chunks_;
  std::vector<uint32_t> rows_;  // counted in their pages
};

}  // namespace

std::unique_ptr<ColumnFetch> MakeFlatColumnFetch(const SuperfileReader& superfile,
                                                 const RowFetchMap& map,
                                                 const FetchedColumn& column,
                                                 const WantedRows& wanted, FlatLayout layout) {
  return std::make_unique<FlatColumnFetch>(superfile, map, column, wanted, std::move(layout));
}

}  // namespace infino
