#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/table.h>

#include "infino/options.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selector.h"
#include "infino/sql/table_source.h"

namespace infino::sql {

struct SqlEngineOptions {
  int thread_count = 0;  ///< 0: one a core.

  /// What statements may hold in memory together, in bytes, before they spill; 0: most of the
  /// machine's.
  int64_t memory_bytes = 0;

  /// An existing folder to spill to.
  std::string temp_folder;
};

/// An SQL statement.
struct SqlStatement {
  std::string text;
  std::shared_ptr<arrow::RecordBatch> parameters = nullptr;  ///< As ToParameters.
  StopCondition stop = {};
};

/// DuckDB over the tables of a connection: it reads them and nothing else. Thread-safe; statements
/// run side by side. Not to be used in a forked child.
class SqlEngine : public RowSelector {
 public:
  /// `environment` and `source` outlive the engine.
  [[nodiscard]] static arrow::Result<std::unique_ptr<SqlEngine>> Make(
      const SqlEngineOptions& options, const QueryEnvironment& environment, TableSource& source);

  /// Runs one reading statement to its end. kInvalidArgument for anything else or anything wrong
  /// in it. Blocks.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::Table>> Query(
      const SqlStatement& statement) = 0;

  /// Whether a fault of DuckDB's own has shut it down; every statement fails from then on, and a
  /// new engine is needed.
  [[nodiscard]] virtual bool broken() const = 0;
};

}  // namespace infino::sql
