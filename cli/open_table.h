#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>

#include "infino/options.h"
#include "infino/table.h"

namespace infino::cli {

/// The table `name` under `uri`.
[[nodiscard]] arrow::Result<std::shared_ptr<Table>> OpenTable(const std::string& uri,
                                                              const std::string& name,
                                                              const ConnectOptions& options);

}  // namespace infino::cli
