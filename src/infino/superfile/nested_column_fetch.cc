#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/chunked_array.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/error.h"
#include "infino/superfile/column_fetch.h"
#include "infino/superfile/conform.h"
#include "infino/superfile/page_decoder.h"
#include "infino/superfile/page_reads.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {
namespace {

/// Rows that are decoded together, [begin, end) of the row group; `position` is where they begin
/// among the decoded rows of the column.
struct RowInterval {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t position = 0;
};

/// What is read of the column in one row group.
struct Piece {
  int row_group = 0;
  std::vector<RowInterval> intervals;
  std::vector<std::vector<PlannedPage>> leaves;
  int64_t row_count = 0;
};

/// The rows at which a page starts in every leaf of the column, and behind them the row count.
std::vector<int64_t> CommonPageStarts(const RowFetchMap& map, int row_group,
                                      const FetchedColumn& column) {
  std::vector<int64_t> common;
  for (int leaf = 0; leaf < column.leaf_count; ++leaf) {
    std::vector<int64_t> starts;
    for (const PagePlace& page : map.Chunk(row_group, column.first_leaf + leaf).pages) {
      starts.push_back(page.first_row);
    }
    if (leaf == 0) {
      common = std::move(starts);
      continue;
    }
    std::vector<int64_t> both;
    std::set_intersection(common.begin(), common.end(), starts.begin(), starts.end(),
                          std::back_inserter(both));
    common = std::move(both);
  }
  const auto& groups = map.row_group_starts();
  common.push_back(groups[static_cast<size_t>(row_group) + 1] -
                   groups[static_cast<size_t>(row_group)]);
  return common;
}

class NestedColumnFetch final : public ColumnFetch {
 public:
  NestedColumnFetch(const SuperfileReader& superfile, const RowFetchMap& map,
                    const FetchedColumn& column, const WantedRows& wanted)
      : superfile_(&superfile), map_(&map), column_(&column), wanted_(&wanted) {}

  void Plan(PageReads& reads) override {
    const std::vector<WantedRow>& rows = wanted_->rows;
    int64_t decoded = 0;
    for (size_t begin = 0; begin < rows.size();) {
      size_t end = begin;
      while (end < rows.size() && rows[end].row_group == rows[begin].row_group) ++end;
      pieces_.push_back(PlanPiece(begin, end, decoded, reads));
      decoded += pieces_.back().row_count;
      begin = end;
    }
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Decode(const PageReads& reads) override {
    ARROW_ASSIGN_OR_RAISE(const arrow::ArrayVector rows, DecodePieces(reads));
    std::vector<int64_t> positions;
    positions.reserve(wanted_->order.size());
    for (const uint32_t ordinal : wanted_->order) positions.push_back(positions_[ordinal]);
    auto picked = Pick(rows, positions);
    if (picked.ok()) picked = Conform(*picked, column_->field->type());
    if (picked.ok()) return picked;
    return FromForeign(picked.status(), superfile_->name() + ": fetch rows of column '" +
                                            column_->field->name() + "'");
  }

 private:
  /// The piece for the wanted rows [begin, end); `decoded` rows are decoded before it.
  Piece PlanPiece(size_t begin, size_t end, int64_t decoded, PageReads& reads) {
    Piece piece;
    piece.row_group = wanted_->rows[begin].row_group;
    const std::vector<int64_t> starts = CommonPageStarts(*map_, piece.row_group, *column_);
    for (size_t i = begin; i < end; ++i) {
      const int64_t row = wanted_->rows[i].row;
      if (piece.intervals.empty() || row >= piece.intervals.back().end) {
        const auto after = std::upper_bound(starts.begin(), starts.end(), row);
        const RowInterval interval{
            .begin = *std::prev(after), .end = *after, .position = decoded + piece.row_count};
        piece.intervals.push_back(interval);
        piece.row_count += interval.end - interval.begin;
      }
      const RowInterval& interval = piece.intervals.back();
      positions_.push_back(interval.position + row - interval.begin);
    }
    for (int leaf = 0; leaf < column_->leaf_count; ++leaf) {
      piece.leaves.push_back(PlanLeaf(map_->Chunk(piece.row_group, column_->first_leaf + leaf),
                                      piece.intervals, reads));
    }
    return piece;
  }

  static std::vector<PlannedPage> PlanLeaf(const ChunkPages& chunk,
                                           const std::vector<RowInterval>& intervals,
                                           PageReads& reads) {
    std::vector<PlannedPage> planned;
    if (chunk.dictionary.length > 0) {
      planned.push_back(reads.Add(chunk.dictionary, chunk.dictionary_checksum));
    }
    for (const RowInterval& interval : intervals) {
      auto page = std::lower_bound(
          chunk.pages.begin(), chunk.pages.end(), interval.begin,
          [](const PagePlace& place, int64_t row) { return int64_t{place.first_row} < row; });
      for (; page != chunk.pages.end() && int64_t{page->first_row} < interval.end; ++page) {
        planned.push_back(
            reads.Add({.offset = page->offset, .length = page->length}, page->checksum));
      }
    }
    return planned;
  }

  /// All decoded rows, as the pieces have them.
  [[nodiscard]] arrow::Result<arrow::ArrayVector> DecodePieces(const PageReads& reads) const {
    ARROW_ASSIGN_OR_RAISE(
        const auto decoder,
        PageDecoder::Make(column_->field, ToParquet(map_->compression()), superfile_->name()));
    arrow::ArrayVector rows;
    for (const Piece& piece : pieces_) {
      std::vector<LeafPages> leaves;
      for (const auto& planned : piece.leaves) {
        LeafPages& pages = leaves.emplace_back();
        for (const PlannedPage& page : planned) pages.push_back(reads.BufferOf(page));
      }
      ARROW_ASSIGN_OR_RAISE(const auto decoded,
                            decoder->Decode(std::move(leaves), piece.row_count));
      rows.insert(rows.end(), decoded->chunks().begin(), decoded->chunks().end());
    }
    return rows;
  }

  /// The rows at `positions` of `chunks` laid end to end.
  static arrow::Result<std::shared_ptr<arrow::Array>> Pick(const arrow::ArrayVector& chunks,
                                                           const std::vector<int64_t>& positions) {
    std::vector<int64_t> starts = {0};
    for (const auto& chunk : chunks) starts.push_back(starts.back() + chunk->length());
    arrow::ArrayVector slices;
    for (size_t i = 0; i < positions.size();) {
      const auto after = std::upper_bound(starts.begin(), starts.end(), positions[i]);
      size_t end = i + 1;
      while (end < positions.size() && positions[end] == positions[end - 1] + 1 &&
             positions[end] < *after) {
        ++end;
      }
      const auto chunk = static_cast<size_t>(after - starts.begin()) - 1;
      slices.push_back(
          chunks[chunk]->Slice(positions[i] - starts[chunk], static_cast<int64_t>(end - i)));
      i = end;
    }
    if (slices.size() == 1) return slices.front();
    return arrow::Concatenate(slices);
  }

  const SuperfileReader* superfile_;
  const RowFetchMap* map_;
  const FetchedColumn* column_;
  const WantedRows* wanted_;
  std::vector<Piece> pieces_;       // by row group
  std::vector<int64_t> positions_;  // of the wanted rows, among those decoded
};

}  // namespace

std::unique_ptr<ColumnFetch> MakeNestedColumnFetch(const SuperfileReader& superfile,
                                                   const RowFetchMap& map,
                                                   const FetchedColumn& column,
                                                   const WantedRows& wanted) {
  return std::make_unique<NestedColumnFetch>(superfile, map, column, wanted);
}

}  // namespace infino
