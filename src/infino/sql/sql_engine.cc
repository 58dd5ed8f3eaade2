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
#include "duckdb/catalog/catalog_search_path.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/client_data.hpp"
#include "duckdb/main/pending_query_result.hpp"
#include "duckdb/parser/statement/explain_statement.hpp"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/sql/arrow_result.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/lock_down.h"
#include "infino/sql/parameters.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/table_catalog.h"
#include "infino/sql/table_source.h"

namespace infino::sql {
namespace {

constexpr const char* kWhat = "SQL";

/// One statement on a DuckDB connection of its own.
class Execution {
 public:
  Execution(duckdb::DuckDB& database, const StopCondition& stop,
            duckdb::shared_ptr<StatementState> state)
      : state_(std::move(state)), connection_(database), stop_(stop) {
    duckdb::ClientContext& context = *connection_.context;
    context.registered_state->Insert(StatementState::kKey, state_);
    connection_.BeginTransaction();
    duckdb::ClientData::Get(context).catalog_search_path->Set(
        duckdb::CatalogSearchEntry(kDatabase, kSchema), duckdb::CatalogSetPathType::SET_SCHEMA);
  }

  ~Execution() {
    // The plan refers to what the state has pinned.
    result_.reset();
    pending_.reset();
    connection_.context->registered_state->Remove(StatementState::kKey);
  }

  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  Execution(Execution&&) = delete;
  Execution& operator=(Execution&&) = delete;

  arrow::Result<std::shared_ptr<arrow::Table>> Run(const SqlStatement& statement) {
    auto statements = connection_.ExtractStatements(statement.text);
    ARROW_RETURN_NOT_OK(CheckIsOneReading(statements));
    ARROW_ASSIGN_OR_RAISE(auto parameters, ToParameters(statement.parameters));
    while (true) {
      auto values = parameters;
      pending_ = connection_.PendingQuery(statements.front()->Copy(), values,
                                          duckdb::QueryResultOutputType::FORCE_MATERIALIZED);
      if (pending_->HasError()) return FailureOf(pending_->GetErrorObject());
      ARROW_ASSIGN_OR_RAISE(const bool is_consistent, state_->AreOfOneMoment());
      if (is_consistent) break;
      connection_.Interrupt();
      pending_.reset();
      connection_.context->ClearInterrupt();
      state_->Unbind();
    }
    ARROW_RETURN_NOT_OK(Work());
    result_ = pending_->Execute();
    if (result_->HasError()) return FailureOf(result_->GetErrorObject());
    return ToArrowTable(*result_, *connection_.context, stop_);
  }

 private:
  static arrow::Status CheckIsOneReading(
      const duckdb::vector<duckdb::unique_ptr<duckdb::SQLStatement>>& statements) {
    if (statements.size() != 1) {
      return MakeError(ErrorKind::kInvalidArgument,
                       std::string(kWhat) + ": a call runs exactly one SQL statement, not " +
                           std::to_string(statements.size()));
    }
    const duckdb::SQLStatement* statement = statements.front().get();
    if (statement->type == duckdb::StatementType::EXPLAIN_STATEMENT) {
      statement = statement->Cast<duckdb::ExplainStatement>().stmt.get();
    }
    if (statement->type == duckdb::StatementType::SELECT_STATEMENT) return arrow::Status::OK();
    return MakeError(ErrorKind::kInvalidArgument,
                     std::string(kWhat) +
                         " is read-only: SELECT, VALUES, DESCRIBE, SHOW and EXPLAIN; tables are "
                         "changed by append, update, delete and schema; statement=" +
                         duckdb::StatementTypeToString(statement->type));
  }

  /// Works on the statement until its result is there.
  arrow::Status Work() {
    while (true) {
      const duckdb::PendingExecutionResult state = pending_->ExecuteTask();
      if (duckdb::PendingQueryResult::IsResultReady(state)) return arrow::Status::OK();
      if (state == duckdb::PendingExecutionResult::EXECUTION_ERROR) {
        return FailureOf(pending_->GetErrorObject());
      }
      const arrow::Status stopped = CheckStop(stop_);
      if (!stopped.ok()) {
        connection_.Interrupt();
        return stopped;
      }
      if (state == duckdb::PendingExecutionResult::BLOCKED ||
          state == duckdb::PendingExecutionResult::NO_TASKS_AVAILABLE) {
        pending_->WaitForTask();
      }
    }
  }

  /// Our own failure, if it was one, else what DuckDB says. What a statement names and is not there
  /// is the statement's fault.
  [[nodiscard]] arrow::Status FailureOf(const duckdb::ErrorData& error) const {
    const arrow::Status own = state_->failure();
    if (own.ok()) return FromDuckDb(error, kWhat);
    const ErrorKind kind = KindOf(own).value_or(ErrorKind::kInternal);
    return MakeError(kind == ErrorKind::kNotFound ? ErrorKind::kInvalidArgument : kind,
                     std::string(kWhat) + ": " + own.message());
  }

  duckdb::shared_ptr<StatementState> state_;
  duckdb::Connection connection_;
  const StopCondition& stop_;
  duckdb::unique_ptr<duckdb::PendingQueryResult> pending_;
  duckdb::unique_ptr<duckdb::QueryResult> result_;
};

class DuckDbEngine final : public SqlEngine {
 public:
  DuckDbEngine(LockedDatabase database, const QueryEnvironment& environment, TableSource& source)
      : database_(std::move(database)), environment_(environment), source_(source) {}

  arrow::Result<std::shared_ptr<arrow::Table>> Query(const SqlStatement& statement) override {
    arrow::Result<std::shared_ptr<arrow::Table>> result = TryQuery(statement);
    if (IsError(result.status(), ErrorKind::kInternal)) {
      broken_ = broken_ || duckdb::ValidChecker::IsInvalidated(*database_.database->instance);
    }
    return result;
  }

  [[nodiscard]] bool broken() const override { return broken_; }

 private:
  arrow::Result<std::shared_ptr<arrow::Table>> TryQuery(const SqlStatement& statement) {
    const auto state = duckdb::make_shared_ptr<StatementState>(
        environment_, source_, database_.parquet_scan, statement.stop);
    try {
      return Execution(*database_.database, statement.stop, state).Run(statement);
    } catch (const std::exception& error) {
      ARROW_RETURN_NOT_OK(state->failure());
      return FromDuckDb(error, kWhat);
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
