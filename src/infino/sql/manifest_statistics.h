#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "duckdb/common/types/value.hpp"
#include "duckdb/function/partition_stats.hpp"
#include "duckdb/planner/table_filter.hpp"
#include "duckdb/storage/statistics/base_statistics.hpp"
#include "infino/sql/sql_types.h"
#include "infino/sql/superfile_list.h"

namespace infino::sql {

/// What the manifest knows of columns, in DuckDB's words. Bounds hold for deleted rows, too.

/// Of a column, by its place among `columns`, in one superfile of the list. Unknown where the
/// manifest has nothing, or the superfile was written under another schema.
[[nodiscard]] duckdb::BaseStatistics StatisticsOfOne(const SuperfileList& list, size_t item,
                                                     const SqlColumn& column);

/// Of all superfiles of the list together; null for a column that is none of the table's.
[[nodiscard]] duckdb::unique_ptr<duckdb::BaseStatistics> StatisticsOfAll(
    const SuperfileList& list, const std::vector<SqlColumn>& columns, size_t column);

/// The superfiles of the list as partitions: live rows, and least and greatest values where they
/// are certain.
[[nodiscard]] duckdb::vector<duckdb::PartitionStatistics> PartitionStatisticsOf(
    const SuperfileList& list, const std::vector<SqlColumn>& columns);

/// The superfiles that may have rows that pass `filters`, which are by place among `columns`; null
/// if all may.
[[nodiscard]] duckdb::unique_ptr<SuperfileList> Prune(const SuperfileList& list,
                                                      const std::vector<SqlColumn>& columns,
                                                      const duckdb::TableFilterSet& filters);

}  // namespace infino::sql
