#pragma once

#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/common/table_column.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/storage/statistics/base_statistics.hpp"
#include "infino/sql/table_source.h"

namespace infino::sql {

/// Scans of tables: DuckDB's own Parquet scan over the superfiles of the pinned version, less those
/// that the manifest rules out, and less deleted rows. Columns are matched by field id, so that
/// files of older schemas are read through the current one.

/// The scan of `table`, bound. `entry` is its catalog entry.
[[nodiscard]] duckdb::TableFunction BindScan(duckdb::ClientContext& context,
                                             duckdb::TableCatalogEntry& entry,
                                             const PinnedTable& table,
                                             duckdb::unique_ptr<duckdb::FunctionData>& bound);

/// The hidden columns of a scan: the superfile's place in Snapshot::files and the row's place in
/// it.
[[nodiscard]] duckdb::virtual_column_map_t ScanVirtualColumns();

/// What the manifest knows of a column of all superfiles, or null.
[[nodiscard]] duckdb::unique_ptr<duckdb::BaseStatistics> ScanStatistics(
    duckdb::ClientContext& context, const PinnedTable& table, duckdb::column_t column);

}  // namespace infino::sql
