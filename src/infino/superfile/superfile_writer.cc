#include "infino/superfile/superfile_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_binary.h>
#include <arrow/array/builder_decimal.h>
#include <arrow/buffer.h>
#include <arrow/ipc/writer.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/byte_size.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/decimal.h>
#include <parquet/arrow/schema.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/vector/vector_index_builder.h"
#include "infino/superfile/block_checksums.h"
#include "infino/superfile/column_layout.h"
#include "infino/superfile/column_stats.h"
#include "infino/superfile/footer_keys.h"
#include "infino/superfile/id_map.h"
#include "infino/superfile/open_section.h"
#include "infino/superfile/page_walk.h"
#include "infino/superfile/parquet_guard.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_format.h"
#include "infino/superfile/superfile_sink.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"
#include "infino/superfile/text_column_writer.h"
#include "infino/superfile/value_counts.h"
#include "infino/superfile/vector_column_writer.h"

namespace infino {
namespace {

/// A batch is taken in steps of about this many bytes.
constexpr int64_t kStepBytes = int64_t{4} << 20;
constexpr int64_t kStepRowsMax = 8192;

constexpr int64_t kIdBytes = 16;

/// The highest upper half of an id that still is a decimal128(38, 0).
constexpr uint64_t kIdHighMax = 5'421'010'862'427'522'169;

/// An index that holds more than this is built no quicker.
constexpr int64_t kIndexBytesMax = int64_t{40} << 20;

/// A footer's length and the magic, behind the footer.
constexpr size_t kFooterEndBytes = 8;

/// What writing a row group holds beside its rows, as a share of them.
constexpr int64_t kEncodingShare = 2;

/// What the values of an array take. Views of strings share buffers with rows that are not here, so
/// they are counted one by one.
int64_t BytesOf(const arrow::Array& array) {
  if (array.type_id() != arrow::Type::STRING_VIEW && array.type_id() != arrow::Type::BINARY_VIEW) {
    return arrow::util::ReferencedBufferSize(array).ValueOr(0);
  }
  const auto& views = arrow::internal::checked_cast<const arrow::BinaryViewArray&>(array);
  int64_t total = 0;
  for (int64_t i = 0; i < views.length(); ++i) {
    total += static_cast<int64_t>(sizeof(arrow::BinaryViewType::c_type));
    if (views.IsValid(i)) total += static_cast<int64_t>(views.GetView(i).size());
  }
  return total;
}

class ParquetSuperfileWriter final : public SuperfileWriter {
 public:
  ParquetSuperfileWriter(TableSchema schema, const SuperfileWriterOptions& options)
      : schema_(std::move(schema)),
        options_(options),
        declared_(schema_.ToArrow()),
        file_schema_(schema_.ToFileSchema()),
        pages_(options.compression) {}

  arrow::Status Open() {
    sink_ = std::make_shared<SuperfileSink>(options_.scratch, options_.file_memory_bytes);
    ARROW_RETURN_NOT_OK(sink_->Open());
    ARROW_RETURN_NOT_OK(parquet::arrow::ToParquetSchema(
        file_schema_.get(), *parquet::default_writer_properties(), &parquet_schema_));
    for (size_t i = 0; i < schema_.columns.size(); ++i) {
      const TableColumn& column = schema_.columns[i];
      if (column.stored()) {
        stored_.push_back(static_cast<int>(i));
        stats_.push_back(ColumnStatsBuilder::Make(column.field_id, *column.field->type()));
      }
      ARROW_RETURN_NOT_OK(OpenIndex(column, static_cast<int>(i)));
    }
    return arrow::Status::OK();
  }

  arrow::Status Add(const arrow::RecordBatch& batch, RowId first_id) override {
    const auto row_count = static_cast<uint64_t>(batch.num_rows());
    ARROW_RETURN_NOT_OK(CheckBatch(batch, first_id.Plus(row_count)));
    return AddRows(batch, [&](int64_t start, int64_t rows) {
      std::vector<RowId> ids(static_cast<size_t>(rows));
      for (size_t i = 0; i < ids.size(); ++i) {
        ids[i] = first_id.Plus(static_cast<uint64_t>(start) + i);
      }
      return ids;
    });
  }

  arrow::Status Add(const arrow::RecordBatch& batch, std::span<const RowId> ids) override {
    if (ids.size() != static_cast<size_t>(batch.num_rows())) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "add rows to a superfile: rows=" + std::to_string(batch.num_rows()) +
                           " ids=" + std::to_string(ids.size()));
    }
    ARROW_RETURN_NOT_OK(CheckBatch(batch, ids.empty() ? RowId() : ids.back()));
    return AddRows(batch, [&](int64_t start, int64_t rows) {
      const auto own = ids.subspan(static_cast<size_t>(start), static_cast<size_t>(rows));
      return std::vector<RowId>(own.begin(), own.end());
    });
  }

  /// Adds rows step by step; `ids_of` gives the ids of some from a place on.
  template <typename IdsOf>
  arrow::Status AddRows(const arrow::RecordBatch& batch, const IdsOf& ids_of) {
    const int64_t batch_rows = std::max<int64_t>(batch.num_rows(), 1);
    int64_t batch_bytes = 0;
    for (const auto& column : batch.columns()) batch_bytes += BytesOf(*column);
    // What is in an index only does not count for a row group.
    int64_t stored_bytes = 0;
    for (const int ordinal : stored_) stored_bytes += BytesOf(*batch.column(ordinal));
    const int64_t stored_row_bytes = kIdBytes + stored_bytes / batch_rows;
    const int64_t step =
        std::clamp<int64_t>(kStepBytes / (kIdBytes + batch_bytes / batch_rows), 1, kStepRowsMax);
    for (int64_t start = 0; start < batch.num_rows();) {
      const int64_t rows =
          std::min({step, batch.num_rows() - start, kRowGroupRowsMax - pending_rows_});
      ARROW_RETURN_NOT_OK(AddStep(*batch.Slice(start, rows), ids_of(start, rows)));
      pending_bytes_ += rows * stored_row_bytes;
      if (pending_rows_ >= kRowGroupRowsMax || pending_bytes_ >= kRowGroupBytesMax) {
        ARROW_RETURN_NOT_OK(WriteRowGroup());
      }
      start += rows;
    }
    return arrow::Status::OK();
  }

  [[nodiscard]] int64_t memory_bytes() const override {
    return sink_->memory_bytes() + (pending_bytes_ * kEncodingShare) + ids_.memory_bytes() +
           pages_.memory_bytes() + index_bytes();
  }

  [[nodiscard]] int64_t file_bytes() const override {
    return sink_->size() + pending_bytes_ + ids_.memory_bytes() + index_bytes() + spilled_bytes();
  }

  [[nodiscard]] int64_t row_count() const override { return ids_.row_count(); }

  arrow::Result<BuiltSuperfile> Finish() override {
    if (row_count() == 0) {
      return MakeError(ErrorKind::kInvalidArgument, "finish a superfile: it has no rows");
    }
    ARROW_RETURN_NOT_OK(WriteRowGroup());
    BuiltSuperfile built;
    SuperfileSummary& summary = built.summary;
    summary.id = options_.id;
    summary.row_count = row_count();
    summary.min_id = ids_.min_id();
    summary.max_id = ids_.max_id();
    for (const auto& stats : stats_) {
      summary.columns.push_back(stats->Finish());
      std::optional<ValueCounts> counts = stats->FinishCounts();
      if (counts && AreRepeated(*counts, row_count()) &&
          built.value_counts.size() < kCountedColumnsMax) {
        built.value_counts.push_back(*std::move(counts));
      }
    }

    OpenSection section;
    section.id = options_.id;
    section.row_count = row_count();
    section.body_length = sink_->size();
    ARROW_ASSIGN_OR_RAISE(const BlockChecksums body, sink_->EndBody());
    ByteWriter blocks;
    body.Encode(blocks);
    ARROW_ASSIGN_OR_RAISE(const auto open_parts, WriteIndexes(section, built));
    ARROW_RETURN_NOT_OK(WriteOpenSection(blocks.bytes(), section, summary));
    ARROW_ASSIGN_OR_RAISE(summary.footer, WriteFooter(section, summary));
    ARROW_ASSIGN_OR_RAISE(SuperfileSink::Finished finished, sink_->Finish());
    built.bytes = std::move(finished.bytes);
    built.file = std::move(finished.file);
    summary.size_bytes = finished.size;
    summary.hash = finished.hash;
    return built;
  }

 private:
  static ByteSpan SpanOf(const arrow::Buffer& buffer) {
    return {buffer.data(), static_cast<size_t>(buffer.size())};
  }

  [[nodiscard]] arrow::Status CheckBatch(const arrow::RecordBatch& batch, const RowId& last_id) {
    if (!batch.schema()->Equals(*declared_, /*check_metadata=*/false)) {
      return MakeError(ErrorKind::kInvalidArgument, "add rows to a superfile: columns are " +
                                                        batch.schema()->ToString() + ", expected " +
                                                        declared_->ToString());
    }
    for (int i = 0; i < batch.num_columns(); ++i) {
      if (!declared_->field(i)->nullable() && batch.column(i)->null_count() > 0) {
        return MakeError(ErrorKind::kInvalidArgument, "add rows to a superfile: column '" +
                                                          declared_->field(i)->name() +
                                                          "' is not nullable and has a null");
      }
    }
    if (batch.num_rows() > kSuperfileRowsMax - row_count()) {
      return MakeError(ErrorKind::kResourceExhausted,
                       "add rows to a superfile: it can't have more than rows=" +
                           std::to_string(kSuperfileRowsMax));
    }
    if (last_id.high > kIdHighMax) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "add rows to a superfile: an id has more than 38 digits");
    }
    return arrow::Status::OK();
  }

  arrow::Status OpenIndex(const TableColumn& column, int ordinal) {
    if (column.text) {
      ARROW_ASSIGN_OR_RAISE(
          auto builder,
          TextColumnWriter::Make(column, ordinal, options_.id,
                                 {.limit_bytes = index_limit_bytes(), .scratch = index_scratch()}));
      texts_.push_back(std::move(builder));
    }
    if (column.vector) {
      const auto space = options_.spaces.find(column.field_id);
      ARROW_ASSIGN_OR_RAISE(auto builder,
                            VectorColumnWriter::Make(
                                column, ordinal, options_.id,
                                space == options_.spaces.end() ? nullptr : space->second,
                                {.limit_bytes = index_limit_bytes(), .scratch = index_scratch()}));
      vectors_.push_back(std::move(builder));
    }
    return arrow::Status::OK();
  }

  [[nodiscard]] std::shared_ptr<ScratchSpace> index_scratch() const {
    return options_.index_memory_bytes > 0 ? options_.scratch : nullptr;
  }

  /// What one index may hold in memory; 0: anything.
  [[nodiscard]] int64_t index_limit_bytes() const {
    if (index_scratch() == nullptr) return 0;
    const auto indexes = std::ranges::count_if(schema_.columns, [](const TableColumn& column) {
      return column.text.has_value() || column.vector.has_value();
    });
    return std::clamp<int64_t>(options_.index_memory_bytes / std::max<int64_t>(indexes, 1), 1,
                               kIndexBytesMax);
  }

  /// Writes the blobs of all indexes, each a region, and lets go of their builders. Returns the
  /// buffers that `section` has views of.
  arrow::Result<arrow::BufferVector> WriteIndexes(OpenSection& section, BuiltSuperfile& built) {
    arrow::BufferVector open_parts;
    for (auto& text : texts_) {
      ARROW_ASSIGN_OR_RAISE(FinishedTextColumn finished, text->Finish(*sink_));
      section.regions.push_back(EndRegion(RegionKind::kText, text->field_id()));
      section.parts.push_back({.kind = PartKind::kText,
                               .field_id = text->field_id(),
                               .bytes = SpanOf(*finished.open_part)});
      open_parts.push_back(std::move(finished.open_part));
      built.summary.texts.push_back(std::move(finished.summary));
      built.term_filters.push_back(std::move(finished.filter));
      text.reset();
    }
    texts_.clear();
    for (auto& vectors : vectors_) {
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> open_part, vectors->Finish(*sink_));
      section.regions.push_back(EndRegion(RegionKind::kVector, vectors->field_id()));
      section.parts.push_back({.kind = PartKind::kVector,
                               .field_id = vectors->field_id(),
                               .bytes = SpanOf(*open_part)});
      open_parts.push_back(std::move(open_part));
      vectors.reset();
    }
    vectors_.clear();
    return open_parts;
  }

  arrow::Status AddStep(const arrow::RecordBatch& rows, const std::vector<RowId>& ids) {
    for (size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
      for (end = begin + 1; end < ids.size() && ids[end] == ids[end - 1].Plus(1);) ++end;
      ARROW_RETURN_NOT_OK(ids_.Add(ids[begin], static_cast<int64_t>(end - begin)));
    }
    ARROW_ASSIGN_OR_RAISE(auto id_column, IdColumnOf(ids));
    arrow::ArrayVector columns = {std::move(id_column)};
    for (size_t i = 0; i < stored_.size(); ++i) {
      columns.push_back(rows.column(stored_[i]));
      ARROW_RETURN_NOT_OK(stats_[i]->Add(*columns.back()));
    }
    for (const auto& text : texts_) ARROW_RETURN_NOT_OK(text->Add(rows));
    for (const auto& vectors : vectors_) ARROW_RETURN_NOT_OK(vectors->Add(rows));
    pending_.push_back(arrow::RecordBatch::Make(file_schema_, rows.num_rows(), std::move(columns)));
    pending_rows_ += rows.num_rows();
    return arrow::Status::OK();
  }

  static arrow::Result<std::shared_ptr<arrow::Array>> IdColumnOf(const std::vector<RowId>& ids) {
    arrow::Decimal128Builder builder(IdField()->type());
    ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(ids.size())));
    for (const RowId& id : ids) {
      builder.UnsafeAppend(arrow::Decimal128(static_cast<int64_t>(id.high), id.low));
    }
    return builder.Finish();
  }

  arrow::Status WriteRowGroup() {
    if (pending_.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto table,
                          arrow::Table::FromRecordBatches(file_schema_, pending_));
    if (parquet_ == nullptr) ARROW_RETURN_NOT_OK(OpenParquet(*table));
    WrittenRowGroup group;
    group.row_count = table->num_rows();
    group.codec = ToParquet(options_.compression);
    group.offset = sink_->size();
    sink_->Hold();
    ARROW_RETURN_NOT_OK(
        FromForeign(GuardParquet([&] { return parquet_->WriteTable(*table, table->num_rows()); }),
                    "write a row group of a superfile"));
    group.bytes = sink_->held();
    ARROW_ASSIGN_OR_RAISE(auto leaves, WalkPages(group, *parquet_schema_, /*skipped_leaves=*/1));
    group.bytes.reset();
    ARROW_RETURN_NOT_OK(sink_->Release());
    pages_.AddRowGroup(group.row_count, std::move(leaves));
    pending_.clear();
    pending_rows_ = 0;
    pending_bytes_ = 0;
    return arrow::Status::OK();
  }

  arrow::Status OpenParquet(const arrow::Table& sample) {
    ARROW_ASSIGN_OR_RAISE(auto layout,
                          ChooseLayout(sample, *parquet_schema_, options_.compression));
    auto arrow_properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
    return GuardParquet([&]() -> arrow::Status {
      ARROW_ASSIGN_OR_RAISE(parquet_, parquet::arrow::FileWriter::Open(
                                          *file_schema_, arrow::default_memory_pool(), sink_,
                                          std::move(layout), std::move(arrow_properties)));
      return arrow::Status::OK();
    });
  }

  /// The region that was written since the last one ended.
  OpenRegion EndRegion(RegionKind kind, int32_t field_id) {
    const SuperfileSink::Region region = sink_->EndRegion();
    return {.kind = kind, .field_id = field_id, .place = region.place, .checksum = region.checksum};
  }

  /// What the indexes have in memory.
  [[nodiscard]] int64_t index_bytes() const {
    int64_t total = 0;
    for (const auto& text : texts_) total += text->memory_bytes();
    for (const auto& vectors : vectors_) total += vectors->memory_bytes();
    return total;
  }

  [[nodiscard]] int64_t spilled_bytes() const {
    int64_t total = 0;
    for (const auto& text : texts_) total += text->spilled_bytes();
    for (const auto& vectors : vectors_) total += vectors->spilled_bytes();
    return total;
  }

  arrow::Status WriteOpenSection(ByteSpan blocks, OpenSection& section, SuperfileSummary& summary) {
    ByteWriter row_map;
    pages_.Encode(row_map);
    if (row_map.size() > kInlineRowMapMax) {
      ARROW_RETURN_NOT_OK(Write(row_map.bytes()));
      section.regions.push_back(EndRegion(RegionKind::kRowMap, 0));
    } else {
      section.parts.push_back({.kind = PartKind::kRowMap, .field_id = 0, .bytes = row_map.bytes()});
    }
    ByteWriter ids;
    ids_.Encode(ids);
    ARROW_ASSIGN_OR_RAISE(const auto schema, arrow::ipc::SerializeSchema(*file_schema_));
    section.parts.push_back({.kind = PartKind::kSchema, .field_id = 0, .bytes = SpanOf(*schema)});
    section.parts.push_back({.kind = PartKind::kIdMap, .field_id = 0, .bytes = ids.bytes()});
    section.parts.push_back({.kind = PartKind::kBlockChecksums, .field_id = 0, .bytes = blocks});
    ByteWriter out;
    EncodeOpenSection(section, out);
    summary.open_section.offset = sink_->size();
    summary.open_section.length = static_cast<int64_t>(out.size());
    return Write(out.bytes());
  }

  /// Parquet's page index, then its footer.
  arrow::Result<ParquetFooter> WriteFooter(const OpenSection& section,
                                           const SuperfileSummary& summary) {
    sink_->Hold();
    ARROW_RETURN_NOT_OK(FromForeign(GuardParquet([&]() -> arrow::Status {
                                      ARROW_RETURN_NOT_OK(parquet_->AddKeyValueMetadata(
                                          MakeFooterKeys(schema_, section, summary)));
                                      return parquet_->Close();
                                    }),
                                    "write the footer of a superfile"));
    const std::shared_ptr<arrow::Buffer> written = sink_->held();
    const ByteSpan all = SpanOf(*written);
    const size_t length = kFooterEndBytes + LoadU32(all.last(kFooterEndBytes).data());
    const ParquetFooter footer = {.length = static_cast<int64_t>(length),
                                  .checksum = Crc32c(all.last(length))};
    ARROW_RETURN_NOT_OK(sink_->Release());
    return footer;
  }

  arrow::Status Write(ByteSpan bytes) {
    return sink_->Write(bytes.data(), static_cast<int64_t>(bytes.size()));
  }

  TableSchema schema_;
  SuperfileWriterOptions options_;
  std::shared_ptr<arrow::Schema> declared_;
  std::shared_ptr<arrow::Schema> file_schema_;
  std::shared_ptr<parquet::SchemaDescriptor> parquet_schema_;
  std::shared_ptr<SuperfileSink> sink_;
  std::unique_ptr<parquet::arrow::FileWriter> parquet_;     // from the first row group on
  std::vector<int> stored_;                                 // ordinals in schema_.columns
  std::vector<std::unique_ptr<ColumnStatsBuilder>> stats_;  // one per stored column
  std::vector<std::unique_ptr<TextColumnWriter>> texts_;
  std::vector<std::unique_ptr<VectorColumnWriter>> vectors_;
  IdMapBuilder ids_;
  RowFetchMap pages_;
  std::vector<std::shared_ptr<arrow::RecordBatch>> pending_;  // the row group to come
  int64_t pending_rows_ = 0;
  int64_t pending_bytes_ = 0;
};

}  // namespace

arrow::Result<std::unique_ptr<SuperfileWriter>> SuperfileWriter::Make(
    const TableSchema& schema, const SuperfileWriterOptions& options) {
  auto writer = std::make_unique<ParquetSuperfileWriter>(schema, options);
  ARROW_RETURN_NOT_OK(GuardParquet([&] { return writer->Open(); }));
  return writer;
}

}  // namespace infino
