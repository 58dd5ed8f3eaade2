#include "infino/query/value_counts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/chunked_array.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/manifest/declared_stats.h"
#include "infino/manifest/json_fields.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/manifest/value_counts_codec.h"
#include "infino/query/opened_files.h"
#include "infino/query/projection.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/tombstones.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/column_stats.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"
#include "infino/superfile/value_counts.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/snapshot.h"
#include "infino/supertable/summary_reads.h"

namespace infino {
namespace {

/// Where the counts of one superfile come from: what its summary has; its entry, where all rows
/// have one value or null; its rows.
enum class Source : uint8_t { kSummary, kConstant, kNull, kRows };

const SummaryRef* FindCounts(const SuperfileEntry& entry, int32_t field_id) {
  const auto found = std::ranges::find(entry.value_counts, field_id, &SummaryRef::field_id);
  return found == entry.value_counts.end() ? nullptr : &*found;
}

bool IsConstant(const ColumnStats& stats) {
  return stats.has_bounds && stats.min_exact && stats.max_exact && !stats.has_nan &&
         stats.min == stats.max;
}

/// Whether values that were encoded when the file was written are encoded the same way now.
bool HasDeclaredEncoding(const SuperfileEntry& entry, const std::optional<ColumnStats>& declared,
                         const Snapshot& snapshot) {
  if (!declared) return entry.schema_id == snapshot.root.schema.schema_id;
  const auto kept = std::ranges::find(entry.columns, declared->field_id, &ColumnStats::field_id);
  return kept->has_bounds == declared->has_bounds;
}

Source SourceOf(const SuperfileEntry& entry, const TableColumn& column, const Snapshot& snapshot) {
  const std::optional<ColumnStats> declared = DeclaredStats(entry, column);
  if (!declared && entry.columns.size() < kEntryColumnsMax) return Source::kNull;
  if (declared && declared->null_count == entry.row_count) return Source::kNull;
  if (!HasDeclaredEncoding(entry, declared, snapshot)) return Source::kRows;
  if (FindCounts(entry, column.field_id) != nullptr) return Source::kSummary;
  return declared && IsConstant(*declared) ? Source::kConstant : Source::kRows;
}

/// Whether the values of deleted rows have to be looked at.
bool DependsOnRows(Source source, const SuperfileEntry& entry, const TableColumn& column) {
  if (!entry.tombstones || source == Source::kNull || source == Source::kRows) return false;
  return source == Source::kSummary || DeclaredStats(entry, column)->null_count > 0;
}

/// A superfile whose counts are not known yet.
struct Uncounted {
  const Snapshot::File* file = nullptr;
  Source source = Source::kNull;
  bool needs_rows = false;
  LiveValueCounts counts = {};
  int64_t row_begin = 0;  ///< Of its rows among those fetched.
  int64_t row_end = 0;
};

class Counting {
 public:
  Counting(const QueryContext& context, ObjectStore& store, const TableColumn& column)
      : context_(context), store_(store), column_(column) {}

  void Add(const Snapshot::File& file) {
    const SuperfileEntry& entry = *file.entry;
    const Source source = SourceOf(entry, column_, *context_.snapshot);
    files_.push_back(
        {.file = &file,
         .source = source,
         .needs_rows = source == Source::kRows || DependsOnRows(source, entry, column_)});
  }

  [[nodiscard]] arrow::Status Run() {
    ARROW_RETURN_NOT_OK(ReadCounts());
    for (Uncounted& each : files_) TakeFromEntry(&each);
    return TakeRows();
  }

  [[nodiscard]] std::vector<Uncounted>& files() { return files_; }

 private:
  [[nodiscard]] arrow::Status Mismatch(const SuperfileEntry& entry) const {
    return CorruptObject(
        "superfile " + entry.id.ToHex(),
        "value counts are not those of its rows: column='" + column_.field->name() + "'");
  }

  [[nodiscard]] arrow::Status ReadCounts() {
    std::vector<WantedSummary> wanted;
    std::vector<Uncounted*> readers;
    for (Uncounted& each : files_) {
      if (each.source != Source::kSummary) continue;
      const SummaryRef* const ref = FindCounts(*each.file->entry, column_.field_id);
      const auto& summaries = each.file->part->summaries;
      wanted.push_back({.ref = ref, .object = &summaries[static_cast<size_t>(ref->summary)]});
      readers.push_back(&each);
    }
    ARROW_ASSIGN_OR_RAISE(const auto pieces, ReadSummaries(store_, *context_.folder, wanted,
                                                           "value counts", *context_.stop));
    for (size_t i = 0; i < pieces.size(); ++i) {
      const SuperfileEntry& entry = *readers[i]->file->entry;
      const ByteSpan bytes(pieces[i]->data(), static_cast<size_t>(pieces[i]->size()));
      ARROW_ASSIGN_OR_RAISE(
          ValueCounts counts,
          DecodeValueCounts(bytes, column_.field_id, entry.row_count,
                            ObjectPath(*context_.folder, wanted[i].object->name)));
      ARROW_RETURN_NOT_OK(Check(entry, counts));
      LiveValueCounts& live = readers[i]->counts;
      live.null_count = entry.row_count;
      for (ValueCount& value : counts.values) {
        live.null_count -= value.count;
        live.values.emplace_hint(live.values.end(), std::move(value.value), value.count);
      }
    }
    return arrow::Status::OK();
  }

  /// Values that can't be of the column would be mistaken for others.
  [[nodiscard]] arrow::Status Check(const SuperfileEntry& entry, const ValueCounts& counts) const {
    const std::optional<size_t> length = BoundLengthOf(*column_.field->type());
    int64_t null_count = entry.row_count;
    for (const ValueCount& value : counts.values) {
      if (length && value.value.size() != *length) return Mismatch(entry);
      null_count -= value.count;
    }
    const std::optional<ColumnStats> declared = DeclaredStats(entry, column_);
    if (declared && declared->null_count != null_count) return Mismatch(entry);
    return arrow::Status::OK();
  }

  void TakeFromEntry(Uncounted* each) const {
    const SuperfileEntry& entry = *each->file->entry;
    if (each->source == Source::kNull) each->counts.null_count = entry.live_row_count();
    if (each->source != Source::kConstant) return;
    const std::optional<ColumnStats> stats = DeclaredStats(entry, column_);
    const int64_t rows = each->needs_rows ? entry.row_count : entry.live_row_count();
    each->counts.null_count = stats->null_count;
    each->counts.values.emplace(stats->min, rows - stats->null_count);
  }

  /// Fetches the column's values in rows that are deleted, or of superfiles without counts.
  [[nodiscard]] arrow::Status TakeRows() {
    std::vector<Uncounted*> readers;
    std::vector<const SuperfileEntry*> entries;
    for (Uncounted& each : files_) {
      if (!each.needs_rows) continue;
      readers.push_back(&each);
      entries.push_back(each.file->entry);
    }
    if (entries.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const OpenedFiles opened, OpenFiles(context_, entries));
    std::vector<Hit> hits;
    for (uint32_t i = 0; i < entries.size(); ++i) {
      readers[i]->row_begin = static_cast<int64_t>(hits.size());
      AddRows(*readers[i], opened.tombstones, i, &hits);
      readers[i]->row_end = static_cast<int64_t>(hits.size());
    }
    const std::vector<std::string> names = {column_.field->name()};
    ARROW_ASSIGN_OR_RAISE(const Projection projection,
                          ResolveProjection(context_.snapshot->root.schema, names,
                                            /*number_queries=*/false, /*scored=*/false));
    ARROW_ASSIGN_OR_RAISE(const auto rows, FetchRows(hits, opened.files, projection, context_));
    for (Uncounted* reader : readers) {
      ARROW_RETURN_NOT_OK(TakeValues(
          *rows->column(0)->Slice(reader->row_begin, reader->row_end - reader->row_begin), reader));
    }
    return arrow::Status::OK();
  }

  static void AddRows(const Uncounted& reader, const Tombstones& tombstones, uint32_t file,
                      std::vector<Hit>* hits) {
    const SuperfileEntry& entry = *reader.file->entry;
    const auto add = [&](DocId doc) { hits->push_back({.id = {}, .file = file, .doc = doc}); };
    const auto deleted = tombstones.Find(entry.id);
    if (reader.source != Source::kRows) {
      for (const DocId doc : deleted->deleted.ToVector()) add(doc);
    } else if (deleted != nullptr) {
      deleted->live.ForEach(add);
    } else {
      for (DocId doc = 0; doc < static_cast<DocId>(entry.row_count); ++doc) add(doc);
    }
  }

  [[nodiscard]] arrow::Status TakeValues(const arrow::ChunkedArray& values,
                                         Uncounted* reader) const {
    constexpr size_t kAny = std::numeric_limits<size_t>::max();
    const auto builder =
        ColumnStatsBuilder::Make(column_.field_id, *values.type(),
                                 {.values = kAny, .value_bytes = kAny, .total_bytes = kAny});
    for (const auto& chunk : values.chunks()) ARROW_RETURN_NOT_OK(builder->Add(*chunk));
    const std::optional<ValueCounts> found = builder->FinishCounts();
    if (!found) return Mismatch(*reader->file->entry);
    const int64_t sign = reader->source == Source::kRows ? 1 : -1;
    LiveValueCounts& counts = reader->counts;
    counts.null_count += sign * builder->Finish().null_count;
    if (counts.null_count < 0) return Mismatch(*reader->file->entry);
    for (const ValueCount& value : found->values) {
      int64_t& count = counts.values[value.value];
      count += sign * value.count;
      if (count < 0) return Mismatch(*reader->file->entry);
    }
    std::erase_if(counts.values, [](const auto& value) { return value.second == 0; });
    return arrow::Status::OK();
  }

  const QueryContext& context_;
  ObjectStore& store_;
  const TableColumn& column_;
  std::vector<Uncounted> files_;
};

std::string_view TombstonesOf(const SuperfileEntry& entry) {
  return entry.tombstones ? std::string_view(entry.tombstones->object.name) : std::string_view();
}

}  // namespace

int64_t ColumnValueCounts::size_bytes() const {
  constexpr int64_t kValueBytes = 96;
  constexpr int64_t kSuperfileBytes = 256;
  int64_t total_bytes = 0;
  for (const auto& [id, file] : by_superfile) {
    total_bytes += kSuperfileBytes;
    for (const auto& [value, count] : file.counts->values) {
      total_bytes += kValueBytes + static_cast<int64_t>(value.size());
    }
  }
  return total_bytes * 2;  // The total has at most as many.
}

bool CanCountValues(const Snapshot& snapshot, const TableColumn& column) {
  // A row that is fetched costs about as much as some hundreds that are scanned; to fetch all of a
  // small superfile costs little more than to scan it.
  constexpr int64_t kFetchedMax = 4096;
  constexpr int64_t kDeletedMin = 64;
  constexpr int64_t kScannedPerDeleted = 300;
  constexpr int64_t kScannedPerUncounted = 16;
  constexpr int64_t kUncountedBytesMax = int64_t{16} << 20;
  if (!column.stored() || !AreValuesCounted(*column.field->type())) return false;
  int64_t live = 0;
  int64_t deleted = 0;
  int64_t uncounted = 0;
  int64_t uncounted_bytes = 0;
  for (const Snapshot::File& file : snapshot.files) {
    const SuperfileEntry& entry = *file.entry;
    if (entry.live_row_count() == 0) continue;
    live += entry.live_row_count();
    const Source source = SourceOf(entry, column, snapshot);
    if (source == Source::kRows) {
      uncounted += entry.live_row_count();
      uncounted_bytes += entry.size_bytes;
    }
    if (DependsOnRows(source, entry, column)) deleted += entry.row_count - entry.live_row_count();
  }
  return deleted <= std::clamp(live / kScannedPerDeleted, kDeletedMin, kFetchedMax) &&
         uncounted <= std::min(live / kScannedPerUncounted, kFetchedMax) &&
         uncounted_bytes <= kUncountedBytesMax;
}

arrow::Result<std::shared_ptr<const ColumnValueCounts>> CountValues(
    const QueryContext& context, ObjectStore& store, const TableColumn& column,
    const ColumnValueCounts* known) {
  auto result = std::make_shared<ColumnValueCounts>();
  Counting counting(context, store, column);
  for (const Snapshot::File& file : context.snapshot->files) {
    if (file.entry->live_row_count() == 0) continue;
    if (known != nullptr) {
      const auto found = known->by_superfile.find(file.entry->id);
      if (found != known->by_superfile.end() &&
          found->second.tombstones == TombstonesOf(*file.entry)) {
        result->by_superfile.insert(*found);
        continue;
      }
    }
    counting.Add(file);
  }
  ARROW_RETURN_NOT_OK(counting.Run());
  for (Uncounted& each : counting.files()) {
    const SuperfileEntry& entry = *each.file->entry;
    result->by_superfile.insert_or_assign(
        entry.id, SuperfileValueCounts{
                      .tombstones = std::string(TombstonesOf(entry)),
                      .counts = std::make_shared<const LiveValueCounts>(std::move(each.counts))});
  }
  for (const auto& [id, file] : result->by_superfile) {
    result->total.null_count += file.counts->null_count;
    for (const auto& [value, count] : file.counts->values) result->total.values[value] += count;
  }
  return result;
}

}  // namespace infino
