#include "infino/sql/execution.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>

#include "duckdb.hpp"
#include "duckdb/catalog/catalog_search_path.hpp"
#include "duckdb/common/error_data.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/client_data.hpp"
#include "duckdb/main/pending_query_result.hpp"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/reserved_by.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/table_catalog.h"

namespace infino::sql {

Execution::Execution(duckdb::DatabaseInstance& database, duckdb::shared_ptr<StatementState> state,
                     const StopCondition& stop, StatementThread thread)
    : state_(std::move(state)), connection_(database), stop_(stop), thread_(thread) {
  context().registered_state->Insert(StatementState::kKey, state_);
  connection_.BeginTransaction();
  duckdb::ClientData::Get(context()).catalog_search_path->Set(
      duckdb::CatalogSearchEntry(kDatabase, kSchema), duckdb::CatalogSetPathType::SET_SCHEMA);
}

/// Ends what DuckDB's threads still do before the state that they use goes.
Execution::~Execution() {
  result_.reset();
  pending_.reset();
}

duckdb::vector<duckdb::unique_ptr<duckdb::SQLStatement>> Execution::Parse(const std::string& text) {
  try {
    return connection_.ExtractStatements(text);
  } catch (const std::exception& error) {
    const duckdb::ExceptionType type = duckdb::ErrorData(error).Type();
    const bool is_syntax =
        type == duckdb::ExceptionType::PARSER || type == duckdb::ExceptionType::SYNTAX;
    if (!is_syntax) throw;
    const std::string quoted = QuoteBy(text);
    if (quoted == text) throw;
    return connection_.ExtractStatements(quoted);
  }
}

arrow::Status Execution::Run(
    const duckdb::SQLStatement& statement,
    const duckdb::case_insensitive_map_t<duckdb::BoundParameterData>& parameters) {
  while (true) {
    auto values = parameters;
    pending_ = connection_.PendingQuery(statement.Copy(), values,
                                        duckdb::QueryResultOutputType::FORCE_MATERIALIZED);
    if (pending_->HasError()) return FailureOf(pending_->GetErrorObject());
    ARROW_ASSIGN_OR_RAISE(const bool is_consistent, state_->AreOfOneMoment());
    if (is_consistent) break;
    connection_.Interrupt();
    pending_.reset();
    context().ClearInterrupt();
    state_->Unbind();
  }
  ARROW_RETURN_NOT_OK(Work());
  result_ = pending_->Execute();
  return result_->HasError() ? FailureOf(result_->GetErrorObject()) : arrow::Status::OK();
}

/// A thread of DuckDB's own works on what it waits for: if all waited, nobody would. Any other one
/// helps where that leaves it free, time and again, for whoever wants the statement stopped.
arrow::Status Execution::Work() {
  const bool works = thread_ == StatementThread::kDuckDb || state_->has_short_steps();
  constexpr std::chrono::microseconds kFirstPause{20};
  constexpr std::chrono::microseconds kLongestPause{1000};
  constexpr int kYields = 200;
  std::chrono::microseconds pause = kFirstPause;
  int yields = 0;
  while (true) {
    const duckdb::PendingExecutionResult state =
        works ? pending_->ExecuteTask() : pending_->CheckPulse();
    if (pending_->HasError()) return FailureOf(pending_->GetErrorObject());
    if (duckdb::PendingQueryResult::IsResultReady(state)) return arrow::Status::OK();
    const arrow::Status stopped = CheckStop(stop_);
    if (!stopped.ok()) {
      connection_.Interrupt();
      return stopped;
    }
    if (works && state == duckdb::PendingExecutionResult::RESULT_NOT_READY) {
      pause = kFirstPause;
      continue;
    }
    // DuckDB has nothing to wait on, and what is short is over before a sleep would be.
    if (yields < kYields) {
      ++yields;
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause + pause / 2, kLongestPause);
  }
}

arrow::Status Execution::FailureOf(const duckdb::ErrorData& error) const {
  const arrow::Status own = state_->failure();
  if (!own.ok()) return own;
  const arrow::Status missing = state_->MissingIn(error.RawMessage());
  return missing.ok() ? FromDuckDb(error, kSql) : missing;
}

}  // namespace infino::sql
