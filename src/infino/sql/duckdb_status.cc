#include "infino/sql/duckdb_status.h"

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

}  // namespace

void ThrowIfFailed(duckdb::ClientContext& context, const arrow::Status& status) {
  if (status.ok()) return;
  StatementState::Of(context).NoteFailure(status);
  throw duckdb::InvalidInputException(status.message());
}

arrow::Status FromDuckDb(const duckdb::ErrorData& error, const std::string& what) {
  return MakeError(KindOf(error.Type()), what + ": " + error.RawMessage());
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
