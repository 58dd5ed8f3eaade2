#pragma once

#include <memory>

#include "duckdb.hpp"
#include "duckdb/function/table_function.hpp"
#include "infino/sql/sql_engine.h"

namespace infino::sql {

/// A database that SQL text can do nothing with but read the attached tables.
struct LockedDatabase {
  std::unique_ptr<duckdb::DuckDB> database;

  /// DuckDB's own scan of Parquet files, which the database no longer has.
  duckdb::TableFunction parquet_scan;
};

/// Opens one in memory, with our catalog, file system and functions in it. Then takes away what SQL
/// text could reach beyond the tables: no access to files or the network, but for the paths of
/// SuperfileSystem; no extensions; no function that is not on the list of allowed ones; no change
/// of settings. Throws what DuckDB throws.
[[nodiscard]] LockedDatabase OpenLockedDatabase(const SqlEngineOptions& options);

}  // namespace infino::sql
