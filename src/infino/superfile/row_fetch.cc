#include "infino/superfile/row_fetch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/builder_decimal.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/chunked_array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/superfile/conform.h"
#include "infino/superfile/leaf_columns.h"
#include "infino/superfile/page_decoder.h"
#include "infino/superfile/parquet_guard.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

/// Pages that follow each other are read as one range up to this length.
constexpr int64_t kReadMax = int64_t{8} << 20;

/// A column of the result.
struct FetchedColumn {
  std::shared_ptr<arrow::Field> field;  ///< As in the file schema.
  int first_leaf = 0;                   ///< In the row-fetch map; -1 is `_id`.
  int leaf_count = 0;
};

/// A page to read: where its bytes are in the buffers of the round.
struct PlannedPage {
  size_t read = 0;
  int64_t offset = 0;
  int64_t length = 0;
  uint32_t checksum = 0;
};

/// Rows that are decoded together, [begin, end) of the row group; `position` is where they begin
/// among the decoded rows of their piece.
struct RowInterval {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t position = 0;
};

/// What is read of one column in one row group.
struct Piece {
  int row_group = 0;
  std::vector<RowInterval> intervals;
  std::vector<std::vector<PlannedPage>> leaves;
  int64_t row_count = 0;
};

/// A wanted row, by row group.
struct WantedRow {
  int row_group = 0;
  int64_t row = 0;
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

class PagedRowFetch final : public RowFetch {
 public:
  PagedRowFetch(const SuperfileReader& superfile, std::vector<DocId> docs,
                std::vector<FetchedColumn> columns)
      : superfile_(&superfile), docs_(std::move(docs)), columns_(std::move(columns)) {
    needs_pages_ =
        !docs_.empty() && std::any_of(columns_.begin(), columns_.end(),
                                      [](const auto& column) { return column.first_leaf >= 0; });
  }

  arrow::Result<std::vector<ByteRange>> NextReads() override {
    if (!needs_pages_ || fed_) return std::vector<ByteRange>();
    if (map_ == nullptr) map_ = superfile_->row_map();
    if (map_ == nullptr) return std::vector<ByteRange>{superfile_->row_map_place()};
    if (reads_.empty()) Plan();
    return reads_;
  }

  arrow::Status Feed(Buffers bytes) override {
    if (map_ == nullptr) {
      if (bytes.size() != 1) return WrongBuffers();
      ARROW_RETURN_NOT_OK(superfile_->SetRowMap(std::move(bytes.front())));
      map_ = superfile_->row_map();
      return arrow::Status::OK();
    }
    if (bytes.size() != reads_.size()) return WrongBuffers();
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == nullptr || bytes[i]->size() != reads_[i].length) return WrongBuffers();
    }
    buffers_ = std::move(bytes);
    fed_ = true;
    return CheckPages();
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Rows() const override {
    arrow::FieldVector fields;
    arrow::ArrayVector arrays;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const auto field = columns_[i].field->RemoveMetadata();
      ARROW_ASSIGN_OR_RAISE(auto array, RowsOf(i));
      fields.push_back(field);
      arrays.push_back(std::move(array));
    }
    return arrow::RecordBatch::Make(arrow::schema(std::move(fields)),
                                    static_cast<int64_t>(docs_.size()), std::move(arrays));
  }

 private:
  [[nodiscard]] arrow::Status WrongBuffers() const {
    return MakeError(ErrorKind::kInternal,
                     superfile_->name() + ": fetch rows: bytes fed are not those asked for");
  }

  void Plan() {
    std::vector<DocId> sorted = docs_;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (const DocId doc : sorted) wanted_.push_back(Locate(doc));
    pieces_.resize(columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].first_leaf < 0) continue;
      for (size_t begin = 0; begin < wanted_.size();) {
        size_t end = begin;
        while (end < wanted_.size() && wanted_[end].row_group == wanted_[begin].row_group) ++end;
        pieces_[i].push_back(PlanPiece(columns_[i], begin, end));
        begin = end;
      }
    }
  }

  [[nodiscard]] WantedRow Locate(DocId doc) const {
    const auto& starts = map_->row_group_starts();
    const auto after = std::upper_bound(starts.begin(), starts.end(), int64_t{doc});
    const auto group = static_cast<int>(after - starts.begin()) - 1;
    return {.row_group = group, .row = int64_t{doc} - *std::prev(after)};
  }

  Piece PlanPiece(const FetchedColumn& column, size_t begin, size_t end) {
    Piece piece;
    piece.row_group = wanted_[begin].row_group;
    const std::vector<int64_t> starts = CommonPageStarts(*map_, piece.row_group, column);
    for (size_t i = begin; i < end; ++i) {
      const int64_t row = wanted_[i].row;
      if (!piece.intervals.empty() && row < piece.intervals.back().end) continue;
      const auto after = std::upper_bound(starts.begin(), starts.end(), row);
      const RowInterval interval{
          .begin = *std::prev(after), .end = *after, .position = piece.row_count};
      piece.intervals.push_back(interval);
      piece.row_count += interval.end - interval.begin;
    }
    for (int leaf = 0; leaf < column.leaf_count; ++leaf) {
      piece.leaves.push_back(
          PlanLeaf(map_->Chunk(piece.row_group, column.first_leaf + leaf), piece.intervals));
    }
    return piece;
  }

  std::vector<PlannedPage> PlanLeaf(const ChunkPages& chunk,
                                    const std::vector<RowInterval>& intervals) {
    std::vector<PlannedPage> planned;
    bool may_extend = false;
    const auto add = [&](const ByteRange& place, uint32_t checksum) {
      const bool extends = may_extend && reads_.back().end() == place.offset &&
                           reads_.back().length + place.length <= kReadMax;
      if (!extends) reads_.push_back({.offset = place.offset, .length = 0});
      planned.push_back({.read = reads_.size() - 1,
                         .offset = reads_.back().length,
                         .length = place.length,
                         .checksum = checksum});
      reads_.back().length += place.length;
      may_extend = true;
    };
    if (chunk.dictionary.length > 0) add(chunk.dictionary, chunk.dictionary_checksum);
    for (const RowInterval& interval : intervals) {
      auto page = std::lower_bound(
          chunk.pages.begin(), chunk.pages.end(), interval.begin,
          [](const PagePlace& place, int64_t row) { return int64_t{place.first_row} < row; });
      for (; page != chunk.pages.end() && int64_t{page->first_row} < interval.end; ++page) {
        add({.offset = page->offset, .length = page->length}, page->checksum);
      }
    }
    return planned;
  }

  [[nodiscard]] arrow::Status CheckPages() const {
    for (const auto& column : pieces_) {
      for (const Piece& piece : column) {
        for (const auto& leaf : piece.leaves) {
          for (const PlannedPage& page : leaf) ARROW_RETURN_NOT_OK(CheckPage(page));
        }
      }
    }
    return arrow::Status::OK();
  }

  [[nodiscard]] arrow::Status CheckPage(const PlannedPage& page) const {
    const ByteSpan bytes(buffers_[page.read]->data() + page.offset,
                         static_cast<size_t>(page.length));
    if (Crc32c(bytes) == page.checksum) return arrow::Status::OK();
    return MakeError(ErrorKind::kCorrupt,
                     superfile_->name() + ": page has a wrong checksum, offset=" +
                         std::to_string(reads_[page.read].offset + page.offset));
  }

  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> RowsOf(size_t column) const {
    const std::shared_ptr<arrow::DataType>& type = columns_[column].field->type();
    if (docs_.empty()) return arrow::MakeEmptyArray(type);
    if (columns_[column].first_leaf < 0) return Ids();
    ARROW_ASSIGN_OR_RAISE(const arrow::ArrayVector rows, Decode(column));
    auto picked = Pick(rows, PositionsOf(column));
    if (picked.ok()) picked = Conform(*picked, type);
    if (picked.ok()) return picked;
    return FromForeign(picked.status(), superfile_->name() + ": fetch rows of column '" +
                                            columns_[column].field->name() + "'");
  }

  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> Ids() const {
    arrow::Decimal128Builder builder(IdField()->type());
    ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(docs_.size())));
    for (const DocId doc : docs_) {
      const RowId id = superfile_->IdOf(doc);
      builder.UnsafeAppend(arrow::Decimal128(static_cast<int64_t>(id.high), id.low));
    }
    return builder.Finish();
  }

  /// All decoded rows of a column, as its pieces have them.
  [[nodiscard]] arrow::Result<arrow::ArrayVector> Decode(size_t column) const {
    ARROW_ASSIGN_OR_RAISE(const auto decoder,
                          PageDecoder::Make(columns_[column].field, ToParquet(map_->compression()),
                                            superfile_->name()));
    arrow::ArrayVector rows;
    for (const Piece& piece : pieces_[column]) {
      std::vector<LeafPages> leaves;
      for (const auto& planned : piece.leaves) {
        LeafPages& pages = leaves.emplace_back();
        for (const PlannedPage& page : planned) {
          pages.push_back(arrow::SliceBuffer(buffers_[page.read], page.offset, page.length));
        }
      }
      ARROW_ASSIGN_OR_RAISE(const auto decoded,
                            decoder->Decode(std::move(leaves), piece.row_count));
      rows.insert(rows.end(), decoded->chunks().begin(), decoded->chunks().end());
    }
    return rows;
  }

  /// Where each of `docs_` is among the decoded rows of a column.
  [[nodiscard]] std::vector<int64_t> PositionsOf(size_t column) const {
    std::vector<int64_t> positions;
    positions.reserve(docs_.size());
    std::vector<int64_t> piece_starts;
    int64_t start = 0;
    for (const Piece& piece : pieces_[column]) {
      piece_starts.push_back(start);
      start += piece.row_count;
    }
    for (const DocId doc : docs_) {
      const WantedRow wanted = Locate(doc);
      const auto piece = std::lower_bound(
          pieces_[column].begin(), pieces_[column].end(), wanted.row_group,
          [](const Piece& candidate, int group) { return candidate.row_group < group; });
      const auto interval = std::prev(std::upper_bound(
          piece->intervals.begin(), piece->intervals.end(), wanted.row,
          [](int64_t row, const RowInterval& candidate) { return row < candidate.begin; }));
      positions.push_back(piece_starts[static_cast<size_t>(piece - pieces_[column].begin())] +
                          interval->position + wanted.row - interval->begin);
    }
    return positions;
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
  std::vector<DocId> docs_;
  std::vector<FetchedColumn> columns_;
  bool needs_pages_ = false;
  bool fed_ = false;
  std::shared_ptr<const RowFetchMap> map_;
  std::vector<WantedRow> wanted_;           // ascending, each once
  std::vector<std::vector<Piece>> pieces_;  // by column, then by row group
  std::vector<ByteRange> reads_;
  Buffers buffers_;
};

}  // namespace

arrow::Result<std::unique_ptr<RowFetch>> RowFetch::Make(const SuperfileReader& superfile,
                                                        std::vector<DocId> docs,
                                                        std::vector<int32_t> field_ids) {
  for (const DocId doc : docs) {
    if (int64_t{doc} < superfile.row_count()) continue;
    return MakeError(ErrorKind::kInvalidArgument,
                     superfile.name() + ": fetch rows: no row " + std::to_string(doc) +
                         ", rows=" + std::to_string(superfile.row_count()));
  }
  std::vector<FetchedColumn> columns;
  for (const int32_t field_id : field_ids) {
    std::optional<FetchedColumn> column;
    int first_leaf = -1;
    for (const auto& field : superfile.file_schema()->fields()) {
      const int leaf_count = LeafCount(*field->type());
      if (FieldIdOf(*field) == field_id) {
        column = {.field = field, .first_leaf = first_leaf, .leaf_count = leaf_count};
      }
      first_leaf += leaf_count;
    }
    if (!column) {
      return MakeError(ErrorKind::kInvalidArgument,
                       superfile.name() + ": fetch rows: no stored column has the field id " +
                           std::to_string(field_id));
    }
    columns.push_back(*std::move(column));
  }
  return std::make_unique<PagedRowFetch>(superfile, std::move(docs), std::move(columns));
}

}  // namespace infino
