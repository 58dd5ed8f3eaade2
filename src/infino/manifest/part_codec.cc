#include "infino/manifest/part_codec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <arrow/array/builder_base.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_decimal.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/writer.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table_builder.h>
#include <arrow/type.h>
#include <arrow/util/compression.h>
#include <arrow/util/decimal.h>
#include <arrow/util/key_value_metadata.h>

#include "infino/common/bytes.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/manifest/arrow_object.h"
#include "infino/manifest/entry_rules.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/object_names.h"
#include "infino/manifest/part_schema.h"
#include "infino/superfile/superfile_summary.h"

namespace infino {
namespace {

using arrow::Status;

Status FaultyEntry(const SuperfileEntry& entry, std::string_view fault) {
  return MakeError(ErrorKind::kInternal, "encode the manifest entry of superfile " +
                                             entry.id.ToHex() + ": " + std::string(fault));
}

/// Fields of one list<struct> column.
class StructListWriter {
 public:
  explicit StructListWriter(arrow::ArrayBuilder* column)
      : list_(static_cast<arrow::ListBuilder*>(column)),
        items_(static_cast<arrow::StructBuilder*>(list_->value_builder())) {}

  [[nodiscard]] Status StartRow() { return list_->Append(); }

  [[nodiscard]] Status StartItem() { return items_->Append(); }

  template <typename Builder>
  [[nodiscard]] Builder* field(int ordinal) {
    return static_cast<Builder*>(items_->field_builder(ordinal));
  }

 private:
  arrow::ListBuilder* list_;
  arrow::StructBuilder* items_;
};

class PartWriter {
 public:
  explicit PartWriter(arrow::RecordBatchBuilder* batch) : batch_(batch) {}

  [[nodiscard]] Status Add(const SuperfileEntry& entry, std::span<const ObjectRef> summaries) {
    ARROW_ASSIGN_OR_RAISE(const ObjectRef* summary, SummaryOf(entry, summaries));
    const auto fault = FindEntryFault(entry, summary == nullptr ? 0 : summary->size_bytes);
    if (!fault.empty()) return FaultyEntry(entry, fault);
    ARROW_RETURN_NOT_OK(AddFile(entry));
    ARROW_RETURN_NOT_OK(AddColumns(entry));
    ARROW_RETURN_NOT_OK(AddTexts(entry));
    ARROW_RETURN_NOT_OK(AddSummaryRefs(kPartTermFilters, entry.term_filters));
    ARROW_RETURN_NOT_OK(AddSummaryRefs(kPartValueCounts, entry.value_counts));
    ARROW_RETURN_NOT_OK(AddSummary(summary));
    return AddTombstones(entry);
  }

 private:
  template <typename Builder>
  [[nodiscard]] Builder* column(PartColumn ordinal) {
    return batch_->GetFieldAs<Builder>(ordinal);
  }

  [[nodiscard]] static arrow::Result<const ObjectRef*> SummaryOf(
      const SuperfileEntry& entry, std::span<const ObjectRef> summaries) {
    if (entry.term_filters.empty() && entry.value_counts.empty()) return nullptr;
    const int32_t ordinal =
        (entry.term_filters.empty() ? entry.value_counts : entry.term_filters).front().summary;
    for (const auto* refs : {&entry.term_filters, &entry.value_counts}) {
      if (std::ranges::any_of(*refs,
                              [&](const SummaryRef& ref) { return ref.summary != ordinal; })) {
        return FaultyEntry(entry, "it is summarized in two objects");
      }
    }
    if (ordinal < 0 || static_cast<size_t>(ordinal) >= summaries.size()) {
      return FaultyEntry(entry, "it is summarized in an unknown object");
    }
    return &summaries[static_cast<size_t>(ordinal)];
  }

  [[nodiscard]] Status AddInt64(PartColumn ordinal, int64_t value) {
    return column<arrow::Int64Builder>(ordinal)->Append(value);
  }

  [[nodiscard]] Status AddRowId(PartColumn ordinal, const RowId& id) {
    return column<arrow::Decimal128Builder>(ordinal)->Append(
        arrow::Decimal128(static_cast<int64_t>(id.high), id.low));
  }

  [[nodiscard]] Status AddFixed(PartColumn ordinal, ByteSpan bytes) {
    return column<arrow::FixedSizeBinaryBuilder>(ordinal)->Append(bytes.data());
  }

  [[nodiscard]] Status AddFile(const SuperfileEntry& entry) {
    ARROW_RETURN_NOT_OK(AddFixed(kPartId, entry.id.bytes));
    ARROW_RETURN_NOT_OK(AddInt64(kPartSizeBytes, entry.size_bytes));
    ARROW_RETURN_NOT_OK(AddInt64(kPartOpenOffset, entry.open_section.offset));
    ARROW_RETURN_NOT_OK(AddInt64(kPartOpenLength, entry.open_section.length));
    ARROW_RETURN_NOT_OK(AddInt64(kPartFooterLength, entry.footer.length));
    ARROW_RETURN_NOT_OK(
        column<arrow::UInt32Builder>(kPartFooterChecksum)->Append(entry.footer.checksum));
    ARROW_RETURN_NOT_OK(AddFixed(kPartHash, entry.hash.bytes));
    ARROW_RETURN_NOT_OK(AddInt64(kPartRowCount, entry.row_count));
    ARROW_RETURN_NOT_OK(AddRowId(kPartMinId, entry.min_id));
    ARROW_RETURN_NOT_OK(AddRowId(kPartMaxId, entry.max_id));
    ARROW_RETURN_NOT_OK(column<arrow::Int32Builder>(kPartSchemaId)->Append(entry.schema_id));
    return AddFixed(kPartCommit, entry.commit.bytes);
  }

  [[nodiscard]] Status AddColumns(const SuperfileEntry& entry) {
    StructListWriter list(column<arrow::ArrayBuilder>(kPartColumns));
    ARROW_RETURN_NOT_OK(list.StartRow());
    for (const ColumnStats& stats : entry.columns) {
      ARROW_RETURN_NOT_OK(list.StartItem());
      ARROW_RETURN_NOT_OK(list.field<arrow::Int32Builder>(0)->Append(stats.field_id));
      ARROW_RETURN_NOT_OK(list.field<arrow::Int64Builder>(1)->Append(stats.null_count));
      auto* min = list.field<arrow::BinaryBuilder>(2);
      auto* max = list.field<arrow::BinaryBuilder>(3);
      ARROW_RETURN_NOT_OK(stats.has_bounds ? min->Append(stats.min) : min->AppendNull());
      ARROW_RETURN_NOT_OK(stats.has_bounds ? max->Append(stats.max) : max->AppendNull());
      ARROW_RETURN_NOT_OK(list.field<arrow::BooleanBuilder>(4)->Append(stats.min_exact));
      ARROW_RETURN_NOT_OK(list.field<arrow::BooleanBuilder>(5)->Append(stats.max_exact));
      ARROW_RETURN_NOT_OK(list.field<arrow::BooleanBuilder>(6)->Append(stats.has_nan));
    }
    return Status::OK();
  }

  [[nodiscard]] Status AddTexts(const SuperfileEntry& entry) {
    StructListWriter list(column<arrow::ArrayBuilder>(kPartTexts));
    ARROW_RETURN_NOT_OK(list.StartRow());
    for (const TextColumnSummary& text : entry.texts) {
      ARROW_RETURN_NOT_OK(list.StartItem());
      ARROW_RETURN_NOT_OK(list.field<arrow::Int32Builder>(0)->Append(text.field_id));
      ARROW_RETURN_NOT_OK(list.field<arrow::Int64Builder>(1)->Append(text.rows_with_token));
      ARROW_RETURN_NOT_OK(list.field<arrow::Int64Builder>(2)->Append(text.token_total));
      ARROW_RETURN_NOT_OK(list.field<arrow::Int64Builder>(3)->Append(text.term_count));
      ARROW_RETURN_NOT_OK(list.field<arrow::BinaryBuilder>(4)->Append(text.min_term));
      ARROW_RETURN_NOT_OK(list.field<arrow::BinaryBuilder>(5)->Append(text.max_term));
    }
    return Status::OK();
  }

  [[nodiscard]] Status AddSummaryRefs(PartColumn ordinal, std::span<const SummaryRef> refs) {
    StructListWriter list(column<arrow::ArrayBuilder>(ordinal));
    ARROW_RETURN_NOT_OK(list.StartRow());
    for (const SummaryRef& ref : refs) {
      ARROW_RETURN_NOT_OK(list.StartItem());
      ARROW_RETURN_NOT_OK(list.field<arrow::Int32Builder>(0)->Append(ref.field_id));
      ARROW_RETURN_NOT_OK(list.field<arrow::Int64Builder>(1)->Append(ref.place.offset));
      ARROW_RETURN_NOT_OK(list.field<arrow::Int64Builder>(2)->Append(ref.place.length));
      ARROW_RETURN_NOT_OK(list.field<arrow::UInt32Builder>(3)->Append(ref.checksum));
    }
    return Status::OK();
  }

  [[nodiscard]] Status AddSummary(const ObjectRef* summary) {
    if (summary == nullptr) {
      ARROW_RETURN_NOT_OK(column<arrow::ArrayBuilder>(kPartSummaryHash)->AppendNull());
      return column<arrow::ArrayBuilder>(kPartSummarySize)->AppendNull();
    }
    ARROW_RETURN_NOT_OK(AddFixed(kPartSummaryHash, summary->hash.bytes));
    return AddInt64(kPartSummarySize, summary->size_bytes);
  }

  [[nodiscard]] Status AddTombstones(const SuperfileEntry& entry) {
    auto* tombstones = column<arrow::StructBuilder>(kPartTombstones);
    if (!entry.tombstones) return tombstones->AppendNull();
    const TombstonesRef& ref = *entry.tombstones;
    const auto field = [&](int ordinal) { return tombstones->field_builder(ordinal); };
    ARROW_RETURN_NOT_OK(tombstones->Append());
    ARROW_RETURN_NOT_OK(static_cast<arrow::StringBuilder*>(field(0))->Append(ref.object.name));
    ARROW_RETURN_NOT_OK(static_cast<arrow::FixedSizeBinaryBuilder*>(field(1))->Append(
        ref.object.hash.bytes.data()));
    ARROW_RETURN_NOT_OK(static_cast<arrow::Int64Builder*>(field(2))->Append(ref.object.size_bytes));
    return static_cast<arrow::Int64Builder*>(field(3))->Append(ref.deleted_count);
  }

  arrow::RecordBatchBuilder* batch_;
};

arrow::Result<std::shared_ptr<arrow::Buffer>> Encode(const ManifestPart& part) {
  const auto schema = PartSchema();
  ARROW_ASSIGN_OR_RAISE(const auto builder,
                        arrow::RecordBatchBuilder::Make(schema, arrow::default_memory_pool()));
  PartWriter writer(builder.get());
  for (const SuperfileEntry& entry : part.entries) {
    ARROW_RETURN_NOT_OK(writer.Add(entry, part.summaries));
  }
  ARROW_ASSIGN_OR_RAISE(const auto batch, builder->Flush());

  // Buffers that compression would not make smaller stay as they are.
  constexpr double kMinSpaceSavings = 0.05;
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.use_threads = false;
  options.min_space_savings = kMinSpaceSavings;
  ARROW_ASSIGN_OR_RAISE(options.codec, arrow::util::Codec::Create(arrow::Compression::ZSTD));
  ARROW_ASSIGN_OR_RAISE(const auto sink, arrow::io::BufferOutputStream::Create());
  const auto metadata = ArrowObjectMetadata(kPartKind, part.commit);
  ARROW_ASSIGN_OR_RAISE(const auto stream, arrow::ipc::MakeStreamWriter(
                                               sink, schema->WithMetadata(metadata), options));
  ARROW_RETURN_NOT_OK(stream->WriteRecordBatch(*batch));
  ARROW_RETURN_NOT_OK(stream->Close());
  return sink->Finish();
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Buffer>> EncodePart(const ManifestPart& part) {
  auto bytes = Encode(part);
  if (!bytes.ok()) return FromForeign(bytes.status(), "encode a manifest part");
  return bytes;
}

ObjectRef RefOfPart(const arrow::Buffer& bytes) {
  const ContentHash hash = Blake3({bytes.data(), static_cast<size_t>(bytes.size())});
  return {.name = PartName(hash), .hash = hash, .size_bytes = bytes.size()};
}

}  // namespace infino
