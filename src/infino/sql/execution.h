#pragma once

#include <string>

#include <arrow/result.h>
#include <arrow/status.h>

#include "duckdb.hpp"
#include "duckdb/main/pending_query_result.hpp"
#include "duckdb/parser/sql_statement.hpp"
#include "duckdb/planner/bound_parameter_map.hpp"
#include "infino/options.h"
#include "infino/sql/statement_state.h"

namespace infino::sql {

/// One statement on a DuckDB connection of its own, in a transaction that is never committed: there
/// is nothing to. What DuckDB throws goes to the caller. Used by one thread.
class Execution {
 public:
  /// All outlive it.
  Execution(duckdb::DatabaseInstance& database, duckdb::shared_ptr<StatementState> state,
            const StopCondition& stop);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  Execution(Execution&&) = delete;
  Execution& operator=(Execution&&) = delete;

  /// The statements of a text.
  [[nodiscard]] duckdb::vector<duckdb::unique_ptr<duckdb::SQLStatement>> Parse(
      const std::string& text);

  /// Runs a statement until its result is there: on this thread and DuckDB's own. All tables are of
  /// one moment.
  [[nodiscard]] arrow::Status Run(
      const duckdb::SQLStatement& statement,
      const duckdb::case_insensitive_map_t<duckdb::BoundParameterData>& parameters = {});

  /// REQUIRES: Run succeeded.
  [[nodiscard]] duckdb::QueryResult& result() { return *result_; }

  [[nodiscard]] duckdb::ClientContext& context() { return *connection_.context; }

 private:
  [[nodiscard]] arrow::Status Work();
  [[nodiscard]] arrow::Status FailureOf(const duckdb::ErrorData& error) const;

  duckdb::shared_ptr<StatementState> state_;
  duckdb::Connection connection_;
  const StopCondition& stop_;
  duckdb::unique_ptr<duckdb::PendingQueryResult> pending_;
  duckdb::unique_ptr<duckdb::QueryResult> result_;
};

}  // namespace infino::sql
