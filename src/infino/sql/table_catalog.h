#pragma once

#include "duckdb/storage/storage_extension.hpp"

namespace infino::sql {

/// The storage extension under which the tables of a connection are attached to DuckDB: a read-only
/// catalog of one schema, whose tables are those that the statement's StatementState pins.
[[nodiscard]] duckdb::shared_ptr<duckdb::StorageExtension> MakeTableStorage();

/// The type and the name of the attached database, and its one schema.
inline constexpr const char* kDatabase = "infino";
inline constexpr const char* kSchema = "public";

}  // namespace infino::sql
