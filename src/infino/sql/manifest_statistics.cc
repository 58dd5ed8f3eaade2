#include "infino/sql/manifest_statistics.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "duckdb/common/types/string_type.hpp"
#include "duckdb/common/types/value.hpp"
#include "duckdb/function/partition_stats.hpp"
#include "duckdb/planner/table_filter.hpp"
#include "duckdb/storage/statistics/base_statistics.hpp"
#include "duckdb/storage/statistics/numeric_stats.hpp"
#include "duckdb/storage/statistics/string_stats.hpp"
#include "infino/manifest/manifest.h"
#include "infino/sql/hugeint.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/superfile_list.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"

namespace infino::sql {
namespace {

using duckdb::BaseStatistics;
using duckdb::LogicalType;
using duckdb::LogicalTypeId;
using duckdb::Value;

template <typename T>
std::optional<T> Plain(const std::string& bytes) {
  if (bytes.size() != sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

/// A bound as the manifest has it, of the types whose order and encoding are those of SQL.
std::optional<Value> ToValue(const LogicalType& type, const std::string& bytes) {
  switch (type.id()) {
    case LogicalTypeId::TINYINT:
    case LogicalTypeId::SMALLINT:
    case LogicalTypeId::INTEGER:
      if (const auto value = Plain<int32_t>(bytes)) {
        return Value::Numeric(type, int64_t{*value});
      }
      return std::nullopt;
    case LogicalTypeId::UTINYINT:
    case LogicalTypeId::USMALLINT:
    case LogicalTypeId::UINTEGER:
      if (const auto value = Plain<uint32_t>(bytes)) {
        return Value::Numeric(type, int64_t{*value});
      }
      return std::nullopt;
    case LogicalTypeId::BIGINT:
      if (const auto value = Plain<int64_t>(bytes)) return Value::BIGINT(*value);
      return std::nullopt;
    case LogicalTypeId::UBIGINT:
      if (const auto value = Plain<uint64_t>(bytes)) return Value::UBIGINT(*value);
      return std::nullopt;
    case LogicalTypeId::FLOAT:
      if (const auto value = Plain<float>(bytes)) return Value::FLOAT(*value);
      return std::nullopt;
    case LogicalTypeId::DOUBLE:
      if (const auto value = Plain<double>(bytes)) return Value::DOUBLE(*value);
      return std::nullopt;
    case LogicalTypeId::DATE:
      if (const auto value = Plain<int32_t>(bytes)) return Value::DATE(duckdb::date_t(*value));
      return std::nullopt;
    case LogicalTypeId::TIMESTAMP:
      if (const auto value = Plain<int64_t>(bytes)) {
        return Value::TIMESTAMP(duckdb::timestamp_t(*value));
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

const ColumnStats* Find(const SuperfileEntry& entry, int32_t field_id) {
  const auto found = std::ranges::find(entry.columns, field_id, &ColumnStats::field_id);
  return found == entry.columns.end() ? nullptr : &*found;
}

void SetBounds(BaseStatistics& statistics, const ColumnStats& stats) {
  const LogicalType& type = statistics.GetType();
  if (type.id() == LogicalTypeId::VARCHAR) {
    if (!stats.has_bounds) return;
    auto bounds = duckdb::StringStats::CreateEmpty(type);
    duckdb::StringStats::Update(bounds, duckdb::string_t(stats.min));
    duckdb::StringStats::Update(bounds, duckdb::string_t(stats.max));
    duckdb::StringStats::ResetMaxStringLength(bounds);
    duckdb::StringStats::SetContainsUnicode(bounds);
    statistics.Copy(bounds);
    return;
  }
  // A NaN is greater than all numbers.
  if (!stats.has_bounds || stats.has_nan) return;
  const std::optional<Value> min = ToValue(type, stats.min);
  const std::optional<Value> max = ToValue(type, stats.max);
  if (!min || !max) return;
  duckdb::NumericStats::SetMin(statistics, *min);
  duckdb::NumericStats::SetMax(statistics, *max);
}

/// A superfile as one partition of a table.
class SuperfilePartition final : public duckdb::PartitionRowGroup {
 public:
  SuperfilePartition(const SuperfileList& list, size_t item, const std::vector<SqlColumn>& columns)
      : list_(list), item_(item), columns_(columns) {}

  duckdb::unique_ptr<BaseStatistics> GetColumnStatistics(
      const duckdb::StorageIndex& index) override {
    const SqlColumn* const column = At(index);
    if (column == nullptr) return nullptr;
    return StatisticsOfOne(list_, item_, *column).ToUnique();
  }

  bool MinMaxIsExact(const BaseStatistics& /*statistics*/,
                     const duckdb::StorageIndex& index) override {
    const SqlColumn* const column = At(index);
    const SuperfileEntry& entry = list_.entry(item_);
    if (column == nullptr || entry.tombstones) return false;
    if (column->field_id == kIdFieldId) return true;
    const ColumnStats* const stats = Find(entry, column->field_id);
    return stats != nullptr && stats->has_bounds && stats->min_exact && stats->max_exact &&
           !stats->has_nan;
  }

 private:
  [[nodiscard]] const SqlColumn* At(const duckdb::StorageIndex& index) const {
    if (index.HasChildren() || index.GetPrimaryIndex() >= columns_.size()) return nullptr;
    return &columns_[index.GetPrimaryIndex()];
  }

  const SuperfileList& list_;
  const size_t item_;
  const std::vector<SqlColumn>& columns_;
};

}  // namespace

BaseStatistics StatisticsOfOne(const SuperfileList& list, size_t item, const SqlColumn& column) {
  BaseStatistics statistics = BaseStatistics::CreateUnknown(column.type);
  const SuperfileEntry& entry = list.entry(item);
  if (column.field_id == kIdFieldId) {
    duckdb::NumericStats::SetMin(statistics, IdValue(entry.min_id));
    duckdb::NumericStats::SetMax(statistics, IdValue(entry.max_id));
    statistics.Set(duckdb::StatsInfo::CANNOT_HAVE_NULL_VALUES);
    return statistics;
  }
  const ColumnStats* const stats = Find(entry, column.field_id);
  if (stats == nullptr || entry.schema_id != list.table().snapshot->root.schema.schema_id) {
    return statistics;
  }
  SetBounds(statistics, *stats);
  if (stats->null_count == 0) {
    statistics.Set(duckdb::StatsInfo::CANNOT_HAVE_NULL_VALUES);
  } else {
    statistics.Set(duckdb::StatsInfo::CAN_HAVE_NULL_VALUES);
  }
  if (stats->null_count == entry.row_count) {
    statistics.Set(duckdb::StatsInfo::CANNOT_HAVE_VALID_VALUES);
  } else {
    statistics.Set(duckdb::StatsInfo::CAN_HAVE_VALID_VALUES);
  }
  return statistics;
}

duckdb::unique_ptr<BaseStatistics> StatisticsOfAll(const SuperfileList& list,
                                                   const std::vector<SqlColumn>& columns,
                                                   size_t column) {
  if (column >= columns.size() || list.items().empty()) return nullptr;
  BaseStatistics all = StatisticsOfOne(list, 0, columns[column]);
  for (size_t item = 1; item < list.items().size(); ++item) {
    all.Merge(StatisticsOfOne(list, item, columns[column]));
  }
  return all.ToUnique();
}

duckdb::vector<duckdb::PartitionStatistics> PartitionStatisticsOf(
    const SuperfileList& list, const std::vector<SqlColumn>& columns) {
  duckdb::vector<duckdb::PartitionStatistics> partitions;
  uint64_t first = 0;
  for (size_t item = 0; item < list.items().size(); ++item) {
    duckdb::PartitionStatistics partition;
    partition.row_start = first;
    partition.count = static_cast<uint64_t>(list.entry(item).live_row_count());
    partition.count_type = duckdb::CountType::COUNT_EXACT;
    partition.partition_row_group =
        duckdb::make_shared_ptr<SuperfilePartition>(list, item, columns);
    first += partition.count;
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

duckdb::unique_ptr<SuperfileList> Prune(const SuperfileList& list,
                                        const std::vector<SqlColumn>& columns,
                                        const duckdb::TableFilterSet& filters) {
  std::vector<size_t> kept;
  for (size_t item = 0; item < list.items().size(); ++item) {
    const bool may_pass = std::ranges::all_of(filters.filters, [&](const auto& filter) {
      if (filter.first >= columns.size()) return true;
      BaseStatistics statistics = StatisticsOfOne(list, item, columns[filter.first]);
      return filter.second->CheckStatistics(statistics) !=
             duckdb::FilterPropagateResult::FILTER_ALWAYS_FALSE;
    });
    if (may_pass) kept.push_back(list.items()[item]);
  }
  if (kept.size() == list.items().size()) return nullptr;
  return duckdb::make_uniq<SuperfileList>(list.table(), std::move(kept));
}

}  // namespace infino::sql
