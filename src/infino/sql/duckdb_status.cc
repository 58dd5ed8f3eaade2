#include "infino/sql/duckdb_status.h"

#include <cstddef>
#include <exception>
#include <functional>
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

/// Whether DuckDB's Parquet reader met what is no Parquet. Blocks of the body have checksums, so it
/// was led there by the footer.
bool IsOfDamage(const std::string& message) {
  return message.find("TProtocolException") != std::string::npos ||
         message.starts_with("Failed to read file \"infino://");
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
  if (IsOfDamage(error.RawMessage())) {
    return MakeError(ErrorKind::kCorrupt,
                     what + ": a superfile's Parquet footer is damaged: " + MessageOf(error));
  }
  return MakeError(KindOf(error.Type()), what + ": " + MessageOf(error));
}

arrow::Status FromDuckDb(const std::exception& error, const std::string& what) {
  return FromDuckDb(duckdb::ErrorData(error), what);
}

StopCondition StopOf(duckdb::ClientContext& context) {
  const StatementState& statement = StatementState::Of(context);
  StopCondition stop = {.token = statement.stop().token};
  const std::function<bool()>* const poll =
      statement.IsCaller() && statement.stop().poll ? &statement.stop().poll : nullptr;
  stop.poll = [&context, poll] {
    return context.IsInterrupted() || (poll != nullptr && (*poll)());
  };
  return stop;
}

}  // namespace infino::sql
