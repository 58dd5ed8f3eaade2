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
#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/superfile/column_fetch.h"
#include "infino/superfile/flat_layout.h"
#include "infino/superfile/leaf_columns.h"
#include "infino/superfile/page_reads.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

class PagedRowFetch final : public RowFetch {
 public:
  PagedRowFetch(const SuperfileReader& superfile, std::vector<DocId> docs,
                std::vector<FetchedColumn> columns)
      : superfile_(&superfile),
        docs_(std::move(docs)),
        columns_(std::move(columns)),
        arrays_(columns_.size()) {
    needs_pages_ =
        !docs_.empty() && std::any_of(columns_.begin(), columns_.end(),
                                      [](const auto& column) { return column.first_leaf >= 0; });
  }

  arrow::Result<std::vector<ByteRange>> NextReads() override {
    if (!needs_pages_ || fed_) return std::vector<ByteRange>();
    if (map_ == nullptr) map_ = superfile_->row_map();
    if (map_ == nullptr) return std::vector<ByteRange>{superfile_->row_map_place()};
    if (fetches_.empty()) Plan();
    return reads_.ranges();
  }

  arrow::Status Feed(Buffers bytes) override {
    if (map_ == nullptr) {
      if (bytes.size() != 1) {
        return MakeError(ErrorKind::kInternal,
                         superfile_->name() + ": fetch rows: bytes fed are not those asked for");
      }
      ARROW_RETURN_NOT_OK(superfile_->SetRowMap(std::move(bytes.front())));
      map_ = superfile_->row_map();
      return arrow::Status::OK();
    }
    ARROW_RETURN_NOT_OK(reads_.Take(std::move(bytes), superfile_->name()));
    fed_ = true;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (fetches_[i] == nullptr) continue;
      ARROW_ASSIGN_OR_RAISE(arrays_[i], fetches_[i]->Decode(reads_));
      fetches_[i].reset();
    }
    reads_.DropBytes();
    return arrow::Status::OK();
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Rows() const override {
    arrow::FieldVector fields;
    arrow::ArrayVector arrays = arrays_;
    for (size_t i = 0; i < columns_.size(); ++i) {
      fields.push_back(columns_[i].field->RemoveMetadata());
      if (arrays[i] != nullptr) continue;
      ARROW_ASSIGN_OR_RAISE(
          arrays[i], docs_.empty() ? arrow::MakeEmptyArray(columns_[i].field->type()) : Ids());
    }
    return arrow::RecordBatch::Make(arrow::schema(std::move(fields)),
                                    static_cast<int64_t>(docs_.size()), std::move(arrays));
  }

 private:
  void Plan() {
    std::vector<DocId> sorted = docs_;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (const DocId doc : sorted) wanted_.rows.push_back(Locate(doc));
    for (const DocId doc : docs_) {
      wanted_.order.push_back(static_cast<uint32_t>(
          std::lower_bound(sorted.begin(), sorted.end(), doc) - sorted.begin()));
    }
    for (const FetchedColumn& column : columns_) {
      fetches_.push_back(
          column.first_leaf < 0 ? nullptr : ColumnFetch::Make(*superfile_, *map_, column, wanted_));
      if (fetches_.back() != nullptr) fetches_.back()->Plan(reads_);
    }
  }

  [[nodiscard]] WantedRow Locate(DocId doc) const {
    const auto& starts = map_->row_group_starts();
    const auto after = std::upper_bound(starts.begin(), starts.end(), int64_t{doc});
    const auto group = static_cast<int>(after - starts.begin()) - 1;
    return {.row_group = group, .row = int64_t{doc} - *std::prev(after)};
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

  const SuperfileReader* superfile_;
  std::vector<DocId> docs_;
  std::vector<FetchedColumn> columns_;
  bool needs_pages_ = false;
  bool fed_ = false;
  std::shared_ptr<const RowFetchMap> map_;
  WantedRows wanted_;
  std::vector<std::unique_ptr<ColumnFetch>> fetches_;  // by column; null for `_id`
  PageReads reads_;
  arrow::ArrayVector arrays_;  // by column; null for `_id`
};

}  // namespace

std::unique_ptr<ColumnFetch> ColumnFetch::Make(const SuperfileReader& superfile,
                                               const RowFetchMap& map, const FetchedColumn& column,
                                               const WantedRows& wanted) {
  std::optional<FlatLayout> layout = FlatLayoutOf(*column.field);
  if (!layout) return MakeNestedColumnFetch(superfile, map, column, wanted);
  return MakeFlatColumnFetch(superfile, map, column, wanted, *std::move(layout));
}

arrow::Result<std::unique_ptr<RowFetch>> RowFetch::Make(const SuperfileReader& superfile,
                                                        std::vector<DocId> docs,
                                                        std::vector<int32_t> field_ids) {
  for (const DocId doc : docs) {
    if (int64_t{doc} < superfile.row_count()) continue;
    return MakeError(ErrorKind::kInvalidArgument,
                     superfile.name() + ": fetch rows: no row " + std::to_string(doc) +
                         ", rows=" + std::to_string(superfile.row_count()));
  }
  std::vector<FetchedColumn> columns(field_ids.size());
  int first_leaf = -1;
  for (const auto& field : superfile.file_schema()->fields()) {
    const int leaf_count = LeafCount(*field->type());
    const std::optional<int32_t> own = FieldIdOf(*field);
    for (size_t i = 0; i < field_ids.size(); ++i) {
      if (own != field_ids[i]) continue;
      columns[i] = {.field = field, .first_leaf = first_leaf, .leaf_count = leaf_count};
    }
    first_leaf += leaf_count;
  }
  for (size_t i = 0; i < field_ids.size(); ++i) {
    if (columns[i].field != nullptr) continue;
    return MakeError(ErrorKind::kInvalidArgument,
                     superfile.name() + ": fetch rows: no stored column has the field id " +
                         std::to_string(field_ids[i]));
  }
  return std::make_unique<PagedRowFetch>(superfile, std::move(docs), std::move(columns));
}

}  // namespace infino
