#pragma once

#include <memory>

#include "infino/sql/table_source.h"

namespace infino {

class Runtime;

/// The tables of a connection for SQL. `runtime` outlives it.
[[nodiscard]] std::unique_ptr<sql::TableSource> MakeTableSource(Runtime& runtime);

}  // namespace infino
