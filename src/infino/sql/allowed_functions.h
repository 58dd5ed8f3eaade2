#pragma once

#include <string_view>

#include "duckdb/common/enums/catalog_type.hpp"

namespace infino::sql {

/// Whether SQL may call a function of DuckDB's. All that compute with their arguments alone may be;
/// none that reads a file, the network, a setting or what other statements do, that changes
/// anything, waits, or runs SQL that is handed to it as text.
[[nodiscard]] bool IsAllowedFunction(duckdb::CatalogType type, std::string_view name);

}  // namespace infino::sql
