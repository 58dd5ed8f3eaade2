#pragma once

#include <vector>

#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/common/table_column.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "infino/sql/sql_types.h"
#include "infino/sql/superfile_list.h"
#include "infino/sql/table_source.h"

namespace infino::sql {

/// DuckDB's own Parquet scan over the superfiles of a pinned version, less those that the manifest
/// rules out, and less deleted rows. Columns are matched by field id, so that files of older
/// schemas are read through the current one.

/// What the Parquet scan is bound to. `entry` is the table's catalog entry.
[[nodiscard]] duckdb::unique_ptr<duckdb::FunctionData> BindSuperfiles(
    duckdb::ClientContext& context, duckdb::TableCatalogEntry& entry, const PinnedTable& table);

/// The hidden columns of a scan: kFileColumn and kRowColumn.
[[nodiscard]] duckdb::virtual_column_map_t ScanVirtualColumns();

/// Of what BindSuperfiles bound: the superfiles that are left, the table's columns, its entry.
[[nodiscard]] const SuperfileList& ScannedFiles(const duckdb::FunctionData& bound);
[[nodiscard]] const std::vector<SqlColumn>& ScannedColumns(const duckdb::FunctionData& bound);
[[nodiscard]] duckdb::TableCatalogEntry& ScannedTable(const duckdb::FunctionData& bound);

}  // namespace infino::sql
