#pragma once

#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/database.hpp"
#include "infino/sql/table_source.h"

namespace infino::sql {

/// Scans of tables: the superfiles' Parquet, or where few rows pass the filters, these rows alone.

/// Adds the scan to the database, so that plans with scans in them can be copied.
void RegisterTableScan(duckdb::DatabaseInstance& database,
                       const duckdb::TableFunction& parquet_scan);

/// Whether a table function is the scan of a table.
[[nodiscard]] bool IsTableScan(const duckdb::TableFunction& function);

/// The scan of `table`, bound. `entry` is its catalog entry.
[[nodiscard]] duckdb::TableFunction BindTableScan(duckdb::ClientContext& context,
                                                  duckdb::TableCatalogEntry& entry,
                                                  const PinnedTable& table,
                                                  duckdb::unique_ptr<duckdb::FunctionData>& bound);

}  // namespace infino::sql
