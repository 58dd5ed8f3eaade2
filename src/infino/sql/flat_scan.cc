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
#include "duckdb/common/types/value.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/parallel/task_scheduler.hpp"
#include "duckdb/planner/filter/conjunction_filter.hpp"
#include "duckdb/planner/filter/in_filter.hpp"
#include "duckdb/planner/filter/optional_filter.hpp"
#include "duckdb/planner/table_filter.hpp"
#include "duckdb/storage/statistics/base_statistics.hpp"
#include "duckdb/storage/statistics/numeric_stats.hpp"
#include "duckdb/storage/statistics/string_stats.hpp"
#include "infino/common/byte_range.h"
#include "infino/common/wait.h"
#include "infino/query/opened_files.h"
#include "infino/query/query_environment.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/flat_conversion.h"
#include "infino/sql/hugeint.h"
#include "infino/sql/manifest_statistics.h"
#include "infino/sql/row_marks.h"
#include "infino/sql/scan_filter.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/superfile_list.h"
#include "infino/sql/superfile_scan.h"
#include "infino/superfile/column_mapping.h"
#include "infino/superfile/leaf_columns.h"
#include "infino/superfile/page_bounds.h"
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

/// Statistics of values that are not null and between two.
duckdb::BaseStatistics Between(const duckdb::Value& least, const duckdb::Value& greatest) {
  auto statistics = duckdb::BaseStatistics::CreateUnknown(least.type());
  duckdb::NumericStats::SetMin(statistics, least);
  duckdb::NumericStats::SetMax(statistics, greatest);
  statistics.Set(duckdb::StatsInfo::CANNOT_HAVE_NULL_VALUES);
  return statistics;
}

void SetTextBounds(duckdb::BaseStatistics& statistics, const PageBound& bound) {
  const auto least = PrefixOfNumber(bound.least);
  const auto greatest = PrefixOfNumber(bound.greatest);
  duckdb::StringStats::SetMin(statistics, duckdb::string_t(least.data(), kPrefixBytes));
  duckdb::StringStats::SetMax(statistics, duckdb::string_t(greatest.data(), kPrefixBytes));
}

/// Statistics of a page of integers or texts; unknown ones of types that aren't compared like their
/// integers.
duckdb::BaseStatistics StatisticsOf(const FlatConversion& conversion, const PageBound& bound) {
  const duckdb::LogicalType& type = conversion.type;
  const auto value_of = [&](int64_t number) {
    switch (type.id()) {
      case duckdb::LogicalTypeId::DATE:
        return duckdb::Value::DATE(duckdb::date_t(static_cast<int32_t>(number)));
      case duckdb::LogicalTypeId::TIMESTAMP:
        return duckdb::Value::TIMESTAMP(duckdb::timestamp_t(number));
      case duckdb::LogicalTypeId::TIMESTAMP_TZ:
        return duckdb::Value::TIMESTAMPTZ(duckdb::timestamp_tz_t(number));
      default:
        return type.IsIntegral() ? duckdb::Value::Numeric(type, number) : duckdb::Value(type);
    }
  };
  auto statistics = duckdb::BaseStatistics::CreateUnknown(type);
  const bool is_plain = conversion.kind == FlatConversion::Kind::kInteger &&
                        conversion.factor == 1 && conversion.divisor == 1;
  if (is_plain && bound.has_value && !value_of(0).IsNull()) {
    duckdb::NumericStats::SetMin(statistics, value_of(bound.least));
    duckdb::NumericStats::SetMax(statistics, value_of(bound.greatest));
  }
  if (conversion.kind == FlatConversion::Kind::kBytes && bound.has_value &&
      type.id() == duckdb::LogicalTypeId::VARCHAR) {
    SetTextBounds(statistics, bound);
  }
  if (!bound.has_null) statistics.Set(duckdb::StatsInfo::CANNOT_HAVE_NULL_VALUES);
  if (!bound.has_value) statistics.Set(duckdb::StatsInfo::CANNOT_HAVE_VALID_VALUES);
  return statistics;
}

/// The numbers that a filter lets pass, if it lists them.
std::optional<std::vector<int64_t>> ListedBy(const duckdb::TableFilter& filter) {
  switch (filter.filter_type) {
    case duckdb::TableFilterType::OPTIONAL_FILTER: {
      const auto& child = filter.Cast<duckdb::OptionalFilter>().child_filter;
      return child == nullptr ? std::nullopt : ListedBy(*child);
    }
    case duckdb::TableFilterType::CONJUNCTION_AND:
      for (const auto& child : filter.Cast<duckdb::ConjunctionAndFilter>().child_filters) {
        if (auto listed = ListedBy(*child)) return listed;
      }
      return std::nullopt;
    case duckdb::TableFilterType::IN_FILTER: {
      std::vector<int64_t> listed;
      for (const duckdb::Value& value : filter.Cast<duckdb::InFilter>().values) {
        if (!value.IsNull()) listed.push_back(value.GetValue<int64_t>());
      }
      std::ranges::sort(listed);
      return listed;
    }
    default:
      return std::nullopt;
  }
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
      ScanColumn& column = scan->columns_[place];
      column.filter = filter.get();
      scan->has_filters_ = true;
      if (column.kind == Kind::kRow) scan->rows_ = ListedBy(*filter);
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
  while (ready_.empty() || (ready_.size() <= thread_count_ && ready_bytes_ < kAheadBytesMax)) {
    ARROW_ASSIGN_OR_RAISE(const bool is_added, AddUnit(context));
    if (!is_added) break;
    // What is resident need not be asked for ahead.
    if (ready_.back()->first.resident) break;
  }
  if (ready_.empty()) return nullptr;
  std::unique_ptr<ScanUnit> unit = std::move(ready_.front());
  ready_.pop_front();
  ready_bytes_ -= unit->first.length();
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
    std::unique_ptr<ScanUnit> unit;
    if (MayPass(file, first_doc, rows.row_count)) unit = MakeUnit(file, first_doc, rows);
    next_row_ += rows.row_count;
    if (starts[group] + next_row_ == starts[group + 1]) {
      next_row_ = 0;
      ++row_group_;
      if (row_group_ == map_->row_group_count()) map_ = nullptr;
    }
    if (unit != nullptr) {
      unit->ordinal = units_taken_++;
      ready_bytes_ += unit->first.length();
      ready_.push_back(std::move(unit));
      return true;
    }
    rows_taken_ += rows.row_count;
  }
}

std::unique_ptr<ScanUnit> FlatScan::MakeUnit(const ScanFile& file, DocId first_doc,
                                             const ChunkRows& rows) const {
  auto unit = std::make_unique<ScanUnit>();
  unit->file = &file;
  unit->first_doc = first_doc;
  unit->first_row = rows.first_row;
  unit->row_count = rows.row_count;
  unit->pages.resize(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    const ScanFile::Column& column = file.columns[i];
    if (!column.conversion) continue;
    ChunkRows part = rows;
    part.leaf = column.leaf;
    unit->pages[i] = std::make_unique<ColumnPages>(file.reader, map_, columns_[i].name,
                                                   column.conversion->layout, part);
  }
  MarkCandidates(*unit);
  if (!unit->candidates.Any(0, unit->row_count)) return nullptr;
  ColumnPages::AnyWanted any_wanted;
  if (!unit->candidates.all()) {
    any_wanted = [&unit](uint32_t first, uint32_t end) {
      return unit->candidates.Any(first - unit->first_row, end - unit->first_row);
    };
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (unit->pages[i] != nullptr && IsFirst(i)) {
      unit->pages[i]->Plan(unit->first.reads, any_wanted);
    }
  }
  Ask(file, unit->first);
  return unit;
}

void FlatScan::MarkCandidates(ScanUnit& unit) const {
  unit.candidates = RowMarks(unit.row_count);
  if (unit.file->deleted != nullptr) {
    unit.candidates.Retain(unit.file->deleted->live, unit.first_doc);
  }
  if (rows_) {
    uint32_t next = 0;
    for (auto row = std::ranges::lower_bound(*rows_, int64_t{unit.first_doc});
         row != rows_->end() && *row < int64_t{unit.first_doc} + unit.row_count; ++row) {
      const auto at = static_cast<uint32_t>(*row - unit.first_doc);
      unit.candidates.Clear(next, at);
      next = at + 1;
    }
    unit.candidates.Clear(next, unit.row_count);
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].filter == nullptr || unit.pages[i] == nullptr) continue;
    const FlatConversion& conversion = *unit.file->columns[i].conversion;
    unit.pages[i]->VisitBounds([&](uint32_t first, uint32_t end, const PageBound& bound) {
      auto statistics = StatisticsOf(conversion, bound);
      if (sql::MayPass(*columns_[i].filter, statistics)) return;
      unit.candidates.Clear(first - unit.first_row, end - unit.first_row);
    });
  }
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
