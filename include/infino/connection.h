#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type_fwd.h>

#include "infino/index_spec.h"
#include "infino/options.h"
#include "infino/table.h"

namespace infino {

/// An SQL statement and the values of its parameters.
struct SqlRequest {
  std::string sql;

  /// One row, whose columns are named as the parameters: "1", "2", … for ? and $1, `name` for
  /// $name. Null: none.
  std::shared_ptr<arrow::RecordBatch> parameters = nullptr;

  StopCondition stop = {};
};

/// The tables under one URI. All functions block and are thread-safe. A handle that is used in a
/// forked child starts new threads and forgets the parent's.
class Connection {
 public:
  virtual ~Connection() = default;

  /// Table names are 1 to 200 of A-Z a-z 0-9 _ -, not starting with an underscore; case counts.
  /// kAlreadyExists if the name is taken; kInvalidArgument names what is wrong with the schema or
  /// the spec.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<Table>> CreateTable(
      std::string_view name, const std::shared_ptr<arrow::Schema>& schema,
      const IndexSpec& spec) = 0;

  /// kNotFound if there is no such table.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<Table>> OpenTable(std::string_view name) = 0;

  /// Takes the table out of the catalog, and deletes its objects with `purge`. A name that is not
  /// there is no error. Handles to the table get kNotFound from then on.
  [[nodiscard]] virtual arrow::Status DropTable(std::string_view name, bool purge = true) = 0;

  /// The table's schema as a JSON document (docs/schema.md): its columns with their field ids,
  /// types and indexes, `schema_id`, and what was dropped. kNotFound if there is no such table.
  [[nodiscard]] virtual arrow::Result<std::string> GetSchemaDocument(std::string_view name) = 0;

  /// Changes the schema as `patch` says, a JSON document of the same shape with the fields to be
  /// changed: adds, renames, drops and widens columns, as one commit, in which no row is rewritten.
  /// A table that does not exist is created. Returns the document from then on; a patch that
  /// changes nothing commits nothing. When another change comes first, the patch is applied on top
  /// of it.
  ///
  /// kInvalidArgument names the field and what may be done instead; kConflict if the table's
  /// schema_id is not `expected_schema_id`, or if other commits win for too long.
  [[nodiscard]] virtual arrow::Result<std::string> EvolveSchema(
      std::string_view name, std::string_view patch,
      std::optional<int64_t> expected_schema_id = std::nullopt) = 0;

  /// All names in byte order, read from the store each time.
  [[nodiscard]] virtual arrow::Result<std::vector<std::string>> ListTables() = 0;

  /// Runs one reading SQL statement over the tables, all of one moment, to its end: DuckDB's
  /// dialect, with the searches as table functions (docs/sql.md). Columns of the result are
  /// nullable. kInvalidArgument for anything wrong in the statement, and for one that would write,
  /// or reach a file, the network or a setting.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::Table>> QuerySql(
      const SqlRequest& request) = 0;

  [[nodiscard]] virtual const std::string& uri() const = 0;
};

/// Connects to `uri`: a folder path or file://PATH (created if absent), or memory://, which starts
/// empty each time and dies with the connection. Reads nothing unless ConnectOptions::validate.
[[nodiscard]] arrow::Result<std::shared_ptr<Connection>> Connect(
    std::string_view uri, const ConnectOptions& options = {});

}  // namespace infino
