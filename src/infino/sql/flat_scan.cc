#include "infino/sql/flat_scan.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "duckdb/common/types/decimal.hpp"
#include "duckdb/common/types/value.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/parallel/task_scheduler.hpp"
#include "duckdb/storage/statistics/base_statistics.hpp"
#include "duckdb/storage/statistics/numeric_stats.hpp"
#include "infino/common/byte_range.h"
#include "infino/common/wait.h"
#include "infino/query/opened_files.h"
#include "infino/query/query_environment.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/flat_conversion.h"
#include "infino/sql/manifest_statistics.h"
#include "infino/sql/scan_filter.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/superfile_list.h"
#include "infino/sql/superfile_scan.h"
#include "infino/superfile/column_mapping.h"
#include "infino/superfile/leaf_columns.h"
#include "infino/superfile/superfile_format.h"
#include "infino/superfile/table_schema.h"

namespace infino::sql {
namespace {

using duckdb::ClientContext;
using Kind = ScanColumn::Kind;

/// Each thread should have several units, and a unit some vectors.
constexpr int64_t kUnitsPerThread = 4;
constexpr int64_t kUnitRowsMin = 8192;

/// The hidden column of that number, if there is one.
std::optional<Kind> HiddenKind(duckdb::column_t id) {
  if (id == duckdb::COLUMN_IDENTIFIER_EMPTY) return Kind::kEmpty;
  if (id == duckdb::MultiFileReader::COLUMN_IDENTIFIER_FILE_INDEX) return Kind::kFile;
  if (id == duckdb::MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER) return Kind::kRow;
  return std::nullopt;
}

duckdb::LogicalType HiddenType(Kind kind) {
  if (kind == Kind::kEmpty) return duckdb::LogicalType::BOOLEAN;
  return kind == Kind::kFile ? duckdb::LogicalType::UBIGINT : duckdb::LogicalType::BIGINT;
}

duckdb::Value IdValue(const RowId& id) {
  duckdb::hugeint_t number;
  number.upper = static_cast<int64_t>(id.high);
  number.lower = id.low;
  return duckdb::Value::DECIMAL(number, duckdb::Decimal::MAX_WIDTH_DECIMAL, 0);
}

/// Statistics of values that are not null and between two.
duckdb::BaseStatistics Between(const duckdb::Value& least, const duckdb::Value& greatest) {
  auto statistics = duckdb::BaseStatistics::CreateUnknown(least.type());
  duckdb::NumericStats::SetMin(statistics, least);
  duckdb::NumericStats::SetMax(statistics, greatest);
  statistics.Set(duckdb::StatsInfo::CANNOT_HAVE_NULL_VALUES);
  return statistics;
}

/// Whether any of the documents from the first to before the second is left.
bool AnyLeft(const DocFilter& live, DocId first, DocId end) {
  constexpr uint32_t kWordBits = 64;
  while (first < end) {
    const uint32_t bit = first % kWordBits;
    const uint32_t count = std::min<uint32_t>(kWordBits - bit, end - first);
    const uint64_t mask = count == kWordBits ? ~uint64_t{0} : ((uint64_t{1} << count) - 1) << bit;
    if ((live.Word(first / kWordBits) & mask) != 0) return true;
    first += count;
  }
  return false;
}

}  // namespace

arrow::Result<std::unique_ptr<FlatScan>> FlatScan::Make(
    ClientContext& context, const duckdb::TableFunctionInitInput& input) {
  auto scan = std::make_unique<FlatScan>();
  scan->list_ = &ScannedFiles(*input.bind_data);
  for (const duckdb::ColumnIndex& column : input.column_indexes) {
    if (column.HasChildren()) return nullptr;
  }
  if (!scan->MapColumns(input.column_ids, *input.bind_data)) return nullptr;
  if (input.filters != nullptr) {
    for (const auto& [place, filter] : input.filters->filters) {
      scan->columns_[place].filter = filter.get();
      scan->has_filters_ = true;
    }
  }
  scan->output_.assign(input.projection_ids.begin(), input.projection_ids.end());
  if (input.projection_ids.empty()) {
    scan->output_.resize(scan->columns_.size());
    std::iota(scan->output_.begin(), scan->output_.end(), size_t{0});
  }
  ARROW_RETURN_NOT_OK(scan->Open(context));
  for (ScanFile& file : scan->files_) {
    ARROW_ASSIGN_OR_RAISE(const bool is_flat, scan->MapFile(file));
    if (!is_flat) return nullptr;
  }
  return scan;
}

/// False if there is a column that no scan of ours can have.
bool FlatScan::MapColumns(const std::vector<duckdb::column_t>& ids,
                          const duckdb::FunctionData& bound) {
  const std::vector<SqlColumn>& known = ScannedColumns(bound);
  for (const duckdb::column_t id : ids) {
    if (const auto hidden = HiddenKind(id)) {
      columns_.push_back({.kind = *hidden, .type = HiddenType(*hidden)});
      continue;
    }
    if (id >= known.size()) return false;
    const SqlColumn& column = known[id];
    const bool is_id = column.field_id == kIdFieldId;
    if (column.type.IsNested()) return false;
    columns_.push_back({.kind = is_id ? Kind::kId : Kind::kStored,
                        .type = column.type,
                        .name = column.name,
                        .field_id = column.field_id});
    if (is_id) continue;
    field_ids_.push_back(column.field_id);
    declared_.push_back(arrow::field(column.name, column.declared));
  }
  return true;
}

arrow::Status FlatScan::Open(ClientContext& context) {
  StatementState& statement = StatementState::Of(context);
  const std::vector<const SuperfileEntry*> entries = list_->entries();
  const StopCondition stop = StopOf(context);
  const QueryContext query = {.environment = &statement.environment(),
                              .snapshot = list_->table().snapshot.get(),
                              .folder = &list_->table().folder,
                              .stop = &stop};
  ARROW_ASSIGN_OR_RAISE(const OpenedFiles opened, OpenFiles(query, entries));
  files_.resize(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    files_[i].reader = opened.files[i];
    files_[i].deleted = opened.tombstones.Find(entries[i]->id);
    files_[i].place = list_->items()[i];
    row_count_ += entries[i]->row_count;
  }
  maps_.resize(files_.size());
  const auto threads = duckdb::TaskScheduler::GetScheduler(context).NumberOfThreads();
  const auto share = static_cast<uint64_t>(
      std::max<int64_t>(1, row_count_ / (int64_t{threads} * kUnitsPerThread)));
  unit_rows_ = static_cast<uint32_t>(
      std::clamp<uint64_t>(std::bit_ceil(share), kUnitRowsMin, kRowGroupRowsMax));
  thread_count_ = static_cast<size_t>(threads);
  return arrow::Status::OK();
}

/// False if one of the columns has values that only DuckDB's reader knows how to give.
arrow::Result<bool> FlatScan::MapFile(ScanFile& file) const {
  ARROW_ASSIGN_OR_RAISE(const auto mapped, infino::MapColumns(*file.reader, field_ids_, declared_));
  const arrow::FieldVector& fields = file.reader->file_schema()->fields();
  std::vector<int> first_leaves = {-1};
  for (const auto& field : fields) {
    first_leaves.push_back(first_leaves.back() + LeafCount(*field->type()));
  }
  size_t next = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    ScanFile::Column& column = file.columns.emplace_back();
    if (columns_[i].kind != Kind::kStored) continue;
    const MappedColumn& place = mapped[next++];
    if (!place.is_in_file()) continue;
    const auto ordinal = static_cast<size_t>(place.file_ordinal);
    column.conversion = ConversionOf(*fields[ordinal], *place.declared->type(), columns_[i].type);
    if (!column.conversion) return false;
    column.leaf = first_leaves[ordinal];
  }
  return true;
}

duckdb::idx_t FlatScan::unit_count() const {
  return static_cast<duckdb::idx_t>(row_count_ / unit_rows_) + files_.size();
}

double FlatScan::progress() const {
  const std::lock_guard lock(mutex_);
  constexpr double kAll = 100;
  return row_count_ == 0
             ? kAll
             : kAll * static_cast<double>(rows_taken_) / static_cast<double>(row_count_);
}

bool FlatScan::IsFirst(size_t column) const {
  return !has_filters_ || columns_[column].filter != nullptr;
}

void FlatScan::Ask(const ScanFile& file, ScanReads& reads) {
  const std::vector<ByteRange>& ranges = reads.reads.ranges();
  reads.resident = file.reader->file().TryRead(ranges);
  if (!reads.resident) reads.under_way = file.reader->file().Read(ranges);
}

arrow::Result<std::unique_ptr<ScanUnit>> FlatScan::Next(ClientContext& context) {
  const std::lock_guard lock(mutex_);
  // What the other threads will want next is read meanwhile.
  while (ready_.size() <= thread_count_) {
    ARROW_ASSIGN_OR_RAISE(const bool is_added, AddUnit(context));
    if (!is_added) break;
    // What is resident need not be asked for ahead.
    if (ready_.back()->first.resident) break;
  }
  if (ready_.empty()) return nullptr;
  std::unique_ptr<ScanUnit> unit = std::move(ready_.front());
  ready_.pop_front();
  rows_taken_ += unit->row_count;
  return unit;
}

void FlatScan::StartMaps() {
  for (; next_map_ < std::min(files_.size(), next_file_ + kMapsAhead); ++next_map_) {
    const SuperfileReader& reader = *files_[next_map_].reader;
    if (reader.row_map() == nullptr) {
      maps_[next_map_] = reader.file().Read({reader.row_map_place()});
    }
  }
}

/// Moves on to the next superfile that may have rows; false if there is none.
arrow::Result<bool> FlatScan::StartFile(ClientContext& context) {
  while (next_file_ < files_.size() && !MayPass(files_[next_file_], next_file_)) {
    rows_taken_ += files_[next_file_].reader->row_count();
    ++next_file_;
    next_map_ = std::max(next_map_, next_file_);
  }
  if (next_file_ == files_.size()) return false;
  StartMaps();
  const SuperfileReader& reader = *files_[next_file_].reader;
  if (reader.row_map() == nullptr) {
    ARROW_ASSIGN_OR_RAISE(Buffers bytes, Wait(maps_[next_file_], StopOf(context)));
    ARROW_RETURN_NOT_OK(reader.SetRowMap(std::move(bytes.front())));
  }
  map_ = reader.row_map();
  row_group_ = 0;
  next_row_ = 0;
  ++next_file_;
  return true;
}

/// Adds the next unit that may have rows; false if there is none.
arrow::Result<bool> FlatScan::AddUnit(ClientContext& context) {
  while (true) {
    if (map_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(const bool is_started, StartFile(context));
      if (!is_started) return false;
    }
    const ScanFile& file = files_[next_file_ - 1];
    const auto& starts = map_->row_group_starts();
    const auto group = static_cast<size_t>(row_group_);
    const ChunkRows rows{
        .row_group = row_group_,
        .first_row = next_row_,
        .row_count = std::min(
            unit_rows_, static_cast<uint32_t>(starts[group + 1] - starts[group]) - next_row_)};
    const auto first_doc = static_cast<DocId>(starts[group] + next_row_);
    const bool may_pass = MayPass(file, first_doc, rows.row_count);
    if (may_pass) {
      ready_.push_back(MakeUnit(file, first_doc, rows));
    } else {
      rows_taken_ += rows.row_count;
    }
    next_row_ += rows.row_count;
    if (starts[group] + next_row_ == starts[group + 1]) {
      next_row_ = 0;
      ++row_group_;
      if (row_group_ == map_->row_group_count()) map_ = nullptr;
    }
    if (may_pass) return true;
  }
}

std::unique_ptr<ScanUnit> FlatScan::MakeUnit(const ScanFile& file, DocId first_doc,
                                             const ChunkRows& rows) {
  auto unit = std::make_unique<ScanUnit>();
  unit->file = &file;
  unit->first_doc = first_doc;
  unit->first_row = rows.first_row;
  unit->row_count = rows.row_count;
  unit->ordinal = units_taken_++;
  unit->pages.resize(columns_.size());
  ColumnPages::AnyWanted any_left;
  if (file.deleted != nullptr) {
    any_left = [&file, group_start = first_doc - rows.first_row](uint32_t first, uint32_t end) {
      return AnyLeft(file.deleted->live, group_start + first, group_start + end);
    };
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    const ScanFile::Column& column = file.columns[i];
    if (!column.conversion) continue;
    ChunkRows part = rows;
    part.leaf = column.leaf;
    unit->pages[i] = std::make_unique<ColumnPages>(file.reader, map_, columns_[i].name,
                                                   column.conversion->layout, part);
    if (IsFirst(i)) unit->pages[i]->Plan(unit->first.reads, any_left);
  }
  Ask(file, unit->first);
  return unit;
}

/// Whether the manifest's statistics leave it open that rows of a superfile pass.
bool FlatScan::MayPass(const ScanFile& file, size_t item) const {
  return std::ranges::all_of(columns_, [&](const ScanColumn& column) {
    if (column.filter == nullptr) return true;
    if (column.kind == Kind::kFile) {
      const auto place = duckdb::Value::UBIGINT(file.place);
      auto statistics = Between(place, place);
      return sql::MayPass(*column.filter, statistics);
    }
    if (column.kind != Kind::kStored) return true;
    auto statistics = StatisticsOfOne(
        *list_, item,
        {.name = {}, .type = column.type, .field_id = column.field_id, .declared = nullptr});
    return sql::MayPass(*column.filter, statistics);
  });
}

/// Whether rows of some documents may pass, by what is known of them without their pages.
bool FlatScan::MayPass(const ScanFile& file, DocId first, uint32_t count) const {
  const DocId last = first + count - 1;
  if (file.deleted != nullptr && !AnyLeft(file.deleted->live, first, last + 1)) return false;
  return std::ranges::all_of(columns_, [&](const ScanColumn& column) {
    if (column.filter == nullptr) return true;
    if (column.kind == Kind::kRow) {
      auto statistics = Between(duckdb::Value::BIGINT(first), duckdb::Value::BIGINT(last));
      return sql::MayPass(*column.filter, statistics);
    }
    if (column.kind == Kind::kId) {
      auto statistics =
          Between(IdValue(file.reader->IdOf(first)), IdValue(file.reader->IdOf(last)));
      return sql::MayPass(*column.filter, statistics);
    }
    return true;
  });
}

}  // namespace infino::sql
