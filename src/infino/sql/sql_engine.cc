#include "infino/sql/sql_engine.h"

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>

#include "duckdb.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/parser/statement/explain_statement.hpp"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/sql/arrow_result.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/execution.h"
#include "infino/sql/lock_down.h"
#include "infino/sql/parameters.h"
#include "infino/sql/row_scan.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/table_source.h"

namespace infino::sql {
namespace {

/// OK if the text was one statement that only reads.
arrow::Status CheckIsOneReading(
    const duckdb::vector<duckdb::unique_ptr<duckdb::SQLStatement>>& statements) {
  if (statements.size() != 1) {
    return MakeError(ErrorKind::kInvalidArgument,
                     std::string(kSql) + ": a call runs exactly one SQL statement, not " +
                         std::to_string(statements.size()) +
                         (statements.empty() ? "" : "; a PIVOT needs its values: IN (…)"));
  }
  const duckdb::SQLStatement* statement = statements.front().get();
  if (statement->type == duckdb::StatementType::EXPLAIN_STATEMENT) {
    statement = statement->Cast<duckdb::ExplainStatement>().stmt.get();
  }
  if (statement->type == duckdb::StatementType::SELECT_STATEMENT) return arrow::Status::OK();
  return MakeError(ErrorKind::kInvalidArgument,
                   std::string(kSql) +
                       " is read-only: SELECT, VALUES, DESCRIBE, SHOW and EXPLAIN; tables are "
                       "changed by append, update, delete and schema; statement=" +
                       duckdb::StatementTypeToString(statement->type));
}

class DuckDbEngine final : public SqlEngine {
 public:
  DuckDbEngine(LockedDatabase database, const QueryEnvironment& environment, TableSource& source)
      : database_(std::move(database)), environment_(environment), source_(source) {}

  arrow::Result<std::shared_ptr<arrow::Table>> Query(const SqlStatement& statement) override {
    arrow::Result<std::shared_ptr<arrow::Table>> result = TryQuery(statement);
    // What a statement names and is not there is the statement's fault.
    if (IsError(result.status(), ErrorKind::kNotFound)) {
      return MakeError(ErrorKind::kInvalidArgument, result.status().message());
    }
    NoteFaults(result.status());
    return result;
  }

  arrow::Result<RowSelection> SelectRows(const QueryContext& context, const std::string& predicate,
                                         std::span<const SuperfileEntry* const> entries) override {
    arrow::Result<RowSelection> rows = TrySelect(context, predicate, entries);
    NoteFaults(rows.status());
    if (!IsError(rows.status(), ErrorKind::kInvalidArgument)) return rows;
    return MakeError(ErrorKind::kInvalidArgument,
                     "invalid predicate \"" + predicate + "\": " + rows.status().message());
  }

  [[nodiscard]] bool broken() const override { return broken_; }

 private:
  arrow::Result<std::shared_ptr<arrow::Table>> TryQuery(const SqlStatement& statement) {
    const auto state = duckdb::make_shared_ptr<StatementState>(
        environment_, source_, database_.parquet_scan, statement.stop);
    try {
      Execution execution(*database_.database->instance, state, statement.stop,
                          StatementThread::kCaller);
      const auto statements = execution.Parse(statement.text);
      ARROW_RETURN_NOT_OK(CheckIsOneReading(statements));
      ARROW_ASSIGN_OR_RAISE(const auto parameters, ToParameters(statement.parameters));
      ARROW_RETURN_NOT_OK(execution.Run(*statements.front(), parameters));
      return ToArrowTable(execution.result(), execution.context(), state->origins(),
                          statement.stop);
    } catch (const std::exception& error) {
      ARROW_RETURN_NOT_OK(state->failure());
      return FromDuckDb(error, kSql);
    }
  }

  arrow::Result<RowSelection> TrySelect(const QueryContext& context, const std::string& predicate,
                                        std::span<const SuperfileEntry* const> entries) {
    try {
      return RowScan(*database_.database->instance, database_.parquet_scan, context, entries,
                     StatementThread::kCaller)
          .Select(predicate);
    } catch (const std::exception& error) {
      return FromDuckDb(error, kSql);
    }
  }

  void NoteFaults(const arrow::Status& status) {
    if (IsError(status, ErrorKind::kInternal)) {
      broken_ = broken_ || duckdb::ValidChecker::IsInvalidated(*database_.database->instance);
    }
  }

  LockedDatabase database_;
  const QueryEnvironment& environment_;
  TableSource& source_;
  std::atomic<bool> broken_ = false;
};

}  // namespace

arrow::Result<std::unique_ptr<SqlEngine>> SqlEngine::Make(const SqlEngineOptions& options,
                                                          const QueryEnvironment& environment,
                                                          TableSource& source) {
  try {
    return std::make_unique<DuckDbEngine>(OpenLockedDatabase(options), environment, source);
  } catch (const std::exception& error) {
    return FromDuckDb(error, "start DuckDB");
  }
}

}  // namespace infino::sql
