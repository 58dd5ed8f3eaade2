#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>
#include <arrow/table.h>

#include "infino/connection.h"

namespace infino::cli {

/// All tables by name: columns `table`, `rows`, `superfiles`, `bytes`, `version`.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> DescribeTables(Connection& connection);

/// The columns of a table: `column`, `type`, `nullable`, `index`. kNotFound without such a table.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> DescribeColumns(Connection& connection,
                                                                           const std::string& name);

}  // namespace infino::cli
