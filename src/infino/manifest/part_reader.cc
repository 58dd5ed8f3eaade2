#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_binary.h>
#include <arrow/array/array_decimal.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/manifest/arrow_object.h"
#include "infino/manifest/entry_rules.h"
#include "infino/manifest/json_fields.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/object_names.h"
#include "infino/manifest/part_codec.h"
#include "infino/manifest/part_schema.h"
#include "infino/superfile/superfile_summary.h"

namespace infino {
namespace {

using arrow::Status;

/// Copies values out of the record batch of a part. The batch has PartSchema and is valid.
class PartReader {
 public:
  PartReader(const arrow::RecordBatch& batch, std::string_view object)
      : batch_(&batch), object_(object) {}

  [[nodiscard]] Status Read(ManifestPart* part) {
    std::unordered_set<SuperfileId, RandomIdHash> ids;
    part->entries.reserve(static_cast<size_t>(batch_->num_rows()));
    for (int64_t row = 0; row < batch_->num_rows(); ++row) {
      SuperfileEntry entry;
      ReadFile(row, &entry);
      ARROW_RETURN_NOT_OK(ReadColumns(row, &entry));
      ReadTexts(row, &entry);
      ReadTombstones(row, &entry);
      ARROW_ASSIGN_OR_RAISE(const int64_t summary_size, ReadSummary(row, part, &entry));
      if (const auto fault = FindEntryFault(entry, summary_size); !fault.empty()) {
        return Corrupt(row, fault);
      }
      if (!ids.insert(entry.id).second) return Corrupt(row, "superfile listed twice");
      part->entries.push_back(std::move(entry));
    }
    return Status::OK();
  }

 private:
  template <typename Array>
  [[nodiscard]] const Array& column(PartColumn ordinal) const {
    return static_cast<const Array&>(*batch_->column(ordinal));
  }

  template <typename Array>
  [[nodiscard]] static const Array& field(const arrow::StructArray& items, int ordinal) {
    return static_cast<const Array&>(*items.field(ordinal));
  }

  [[nodiscard]] Status Corrupt(int64_t row, std::string_view what) const {
    return CorruptObject(object_, "entry " + std::to_string(row) + ": " + std::string(what));
  }

  template <typename Out>
  static void CopyFixed(const arrow::FixedSizeBinaryArray& array, int64_t row, Out* out) {
    const uint8_t* value = array.GetValue(row);
    std::copy(value, value + out->size(), out->begin());
  }

  [[nodiscard]] RowId RowIdAt(PartColumn ordinal, int64_t row) const {
    const arrow::Decimal128 value(column<arrow::Decimal128Array>(ordinal).GetValue(row));
    return {.high = static_cast<uint64_t>(value.high_bits()), .low = value.low_bits()};
  }

  [[nodiscard]] int64_t Int64At(PartColumn ordinal, int64_t row) const {
    return column<arrow::Int64Array>(ordinal).Value(row);
  }

  void ReadFile(int64_t row, SuperfileEntry* entry) const {
    CopyFixed(column<arrow::FixedSizeBinaryArray>(kPartId), row, &entry->id.bytes);
    entry->size_bytes = Int64At(kPartSizeBytes, row);
    entry->open_section = {.offset = Int64At(kPartOpenOffset, row),
                           .length = Int64At(kPartOpenLength, row)};
    entry->footer = {.length = Int64At(kPartFooterLength, row),
                     .checksum = column<arrow::UInt32Array>(kPartFooterChecksum).Value(row)};
    CopyFixed(column<arrow::FixedSizeBinaryArray>(kPartHash), row, &entry->hash.bytes);
    entry->row_count = Int64At(kPartRowCount, row);
    entry->min_id = RowIdAt(kPartMinId, row);
    entry->max_id = RowIdAt(kPartMaxId, row);
    entry->schema_id = column<arrow::Int32Array>(kPartSchemaId).Value(row);
    CopyFixed(column<arrow::FixedSizeBinaryArray>(kPartCommit), row, &entry->commit.bytes);
  }

  [[nodiscard]] Status ReadColumns(int64_t row, SuperfileEntry* entry) const {
    const auto& list = column<arrow::ListArray>(kPartColumns);
    const auto& items = static_cast<const arrow::StructArray&>(*list.values());
    const auto& min = field<arrow::BinaryArray>(items, 2);
    const auto& max = field<arrow::BinaryArray>(items, 3);
    for (int64_t i = list.value_offset(row); i < list.value_offset(row + 1); ++i) {
      ColumnStats stats;
      stats.field_id = field<arrow::Int32Array>(items, 0).Value(i);
      stats.null_count = field<arrow::Int64Array>(items, 1).Value(i);
      stats.has_bounds = min.IsValid(i);
      if (max.IsValid(i) != stats.has_bounds) return Corrupt(row, "only one bound of a column");
      if (stats.has_bounds) {
        stats.min = min.GetString(i);
        stats.max = max.GetString(i);
      }
      stats.min_exact = field<arrow::BooleanArray>(items, 4).Value(i);
      stats.max_exact = field<arrow::BooleanArray>(items, 5).Value(i);
      stats.has_nan = field<arrow::BooleanArray>(items, 6).Value(i);
      entry->columns.push_back(std::move(stats));
    }
    return Status::OK();
  }

  void ReadTexts(int64_t row, SuperfileEntry* entry) const {
    const auto& list = column<arrow::ListArray>(kPartTexts);
    const auto& items = static_cast<const arrow::StructArray&>(*list.values());
    for (int64_t i = list.value_offset(row); i < list.value_offset(row + 1); ++i) {
      entry->texts.push_back({
          .field_id = field<arrow::Int32Array>(items, 0).Value(i),
          .rows_with_token = field<arrow::Int64Array>(items, 1).Value(i),
          .token_total = field<arrow::Int64Array>(items, 2).Value(i),
          .term_count = field<arrow::Int64Array>(items, 3).Value(i),
          .min_term = field<arrow::BinaryArray>(items, 4).GetString(i),
          .max_term = field<arrow::BinaryArray>(items, 5).GetString(i),
      });
    }
  }

  void ReadTombstones(int64_t row, SuperfileEntry* entry) const {
    const auto& items = column<arrow::StructArray>(kPartTombstones);
    if (items.IsNull(row)) return;
    TombstonesRef& ref = entry->tombstones.emplace();
    ref.object.name = field<arrow::StringArray>(items, 0).GetString(row);
    CopyFixed(field<arrow::FixedSizeBinaryArray>(items, 1), row, &ref.object.hash.bytes);
    ref.object.size_bytes = field<arrow::Int64Array>(items, 2).Value(row);
    ref.deleted_count = field<arrow::Int64Array>(items, 3).Value(row);
  }

  /// Returns the size of the summary object that filters and counts lie in.
  [[nodiscard]] arrow::Result<int64_t> ReadSummary(int64_t row, ManifestPart* part,
                                                   SuperfileEntry* entry) {
    const auto& hashes = column<arrow::FixedSizeBinaryArray>(kPartSummaryHash);
    const auto& sizes = column<arrow::Int64Array>(kPartSummarySize);
    const bool has_any = column<arrow::ListArray>(kPartTermFilters).value_length(row) > 0 ||
                         column<arrow::ListArray>(kPartValueCounts).value_length(row) > 0;
    if (hashes.IsValid(row) != has_any || sizes.IsValid(row) != has_any) {
      return Corrupt(row, "filters or counts without a summary, or a summary without any");
    }
    if (!has_any) return 0;
    ObjectRef summary;
    CopyFixed(hashes, row, &summary.hash.bytes);
    summary.size_bytes = sizes.Value(row);
    summary.name = SummaryName(summary.hash);
    const auto [known, is_new] =
        summaries_.emplace(summary.hash, static_cast<int32_t>(part->summaries.size()));
    if (is_new) part->summaries.push_back(summary);
    if (part->summaries[static_cast<size_t>(known->second)] != summary) {
      return Corrupt(row, "one summary of two sizes");
    }
    ReadSummaryRefs(kPartTermFilters, row, known->second, &entry->term_filters);
    ReadSummaryRefs(kPartValueCounts, row, known->second, &entry->value_counts);
    return summary.size_bytes;
  }

  void ReadSummaryRefs(PartColumn ordinal, int64_t row, int32_t summary,
                       std::vector<SummaryRef>* refs) const {
    const auto& list = column<arrow::ListArray>(ordinal);
    const auto& items = static_cast<const arrow::StructArray&>(*list.values());
    for (int64_t i = list.value_offset(row); i < list.value_offset(row + 1); ++i) {
      refs->push_back({
          .field_id = field<arrow::Int32Array>(items, 0).Value(i),
          .summary = summary,
          .place = {.offset = field<arrow::Int64Array>(items, 1).Value(i),
                    .length = field<arrow::Int64Array>(items, 2).Value(i)},
          .checksum = field<arrow::UInt32Array>(items, 3).Value(i),
      });
    }
  }

  const arrow::RecordBatch* batch_;
  std::string_view object_;
  std::map<ContentHash, int32_t> summaries_;
};

Status CheckSchema(const arrow::Schema& schema, std::string_view object) {
  if (schema.Equals(*PartSchema(), /*check_metadata=*/false)) return Status::OK();
  return CorruptObject(object, "not the schema of a part: " + schema.ToString());
}

}  // namespace

arrow::Result<ManifestPart> DecodePart(const arrow::Buffer& bytes, std::string_view object) {
  // An entry has at least 64 bytes that don't compress, so no real part comes near this.
  constexpr int64_t kExpansionMax = 256;
  constexpr int64_t kSlackBytes = int64_t{1} << 20;
  ManifestPart part;
  ARROW_RETURN_NOT_OK(
      ReadArrowObject(bytes, kPartKind, object, bytes.size() * kExpansionMax + kSlackBytes,
                      [&](const CommitId& commit, const arrow::RecordBatch& batch) -> Status {
                        part.commit = commit;
                        ARROW_RETURN_NOT_OK(CheckSchema(*batch.schema(), object));
                        // Only tombstones can be null, and they are read only where they are not.
                        ARROW_RETURN_NOT_OK(CheckNoNulls(batch, object));
                        return PartReader(batch, object).Read(&part);
                      }));
  return part;
}

}  // namespace infino
