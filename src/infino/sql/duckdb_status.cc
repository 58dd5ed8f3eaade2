#include "infino/sql/duckdb_status.h"

#include <cstddef>
#include <exception>
#include <string>

#include <arrow/status.h>

#include "duckdb/common/error_data.hpp"
#include "duckdb/common/exception.hpp"
#include "duckdb/main/client_context.hpp"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/sql/statement_state.h"

namespace infino::sql {
namespace {

ErrorKind KindOf(duckdb::ExceptionType type) {
  switch (type) {
    case duckdb::ExceptionType::INTERRUPT:
      return ErrorKind::kCancelled;
    case duckdb::ExceptionType::OUT_OF_MEMORY:
      return ErrorKind::kResourceExhausted;
    case duckdb::ExceptionType::IO:
    case duckdb::ExceptionType::NETWORK:
    case duckdb::ExceptionType::HTTP:
      return ErrorKind::kUnavailable;
    case duckdb::ExceptionType::FATAL:
    case duckdb::ExceptionType::INTERNAL:
    case duckdb::ExceptionType::UNKNOWN_TYPE:
      return ErrorKind::kInternal;
    default:
      return ErrorKind::kInvalidArgument;
  }
}

/// What DuckDB says, without advice that can't be followed here: what it lacks has been taken out.
std::string MessageOf(const duckdb::ErrorData& error) {
  std::string message = error.RawMessage();
  message = message.substr(0, message.find("\n\nStack Trace:"));
  if (error.Type() == duckdb::ExceptionType::OUT_OF_MEMORY) {
    return message.substr(0, message.find("\n\nPossible solutions")) +
           "; ask for less, or connect with a larger memory budget";
  }
  const size_t extension = message.find(" is not in the catalog, but it exists in the ");
  if (extension != std::string::npos) {
    return message.substr(0, extension) +
           " is not there: SQL reads the connection's tables, no files, network or settings";
  }
  const size_t hint = message.find("\nDid you mean \"main.");
  if (hint != std::string::npos) {
    const size_t end = message.find('\n', hint + 1);
    message.erase(hint, end == std::string::npos ? std::string::npos : end - hint);
  }
  return message;
}

}  // namespace

void ThrowIfFailed(duckdb::ClientContext& context, const arrow::Status& status) {
  if (status.ok()) return;
  StatementState::Of(context).NoteFailure(status);
  throw duckdb::InvalidInputException(status.message());
}

arrow::Status FromDuckDb(const duckdb::ErrorData& error, const std::string& what) {
  return MakeError(KindOf(error.Type()), what + ": " + MessageOf(error));
}

arrow::Status FromDuckDb(const std::exception& error, const std::string& what) {
  return FromDuckDb(duckdb::ErrorData(error), what);
}

StopCondition StopOf(duckdb::ClientContext& context) {
  StopCondition stop;
  stop.poll = [&context] { return context.IsInterrupted(); };
  return stop;
}

}  // namespace infino::sql
