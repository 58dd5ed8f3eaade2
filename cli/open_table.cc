#include "cli/open_table.h"

#include <memory>
#include <string>

#include <arrow/result.h>

#include "infino/connection.h"
#include "infino/options.h"
#include "infino/table.h"

namespace infino::cli {

arrow::Result<std::shared_ptr<Table>> OpenTable(const std::string& uri, const std::string& name,
                                                const ConnectOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto connection, Connect(uri, options));
  return connection->OpenTable(name);
}

}  // namespace infino::cli
