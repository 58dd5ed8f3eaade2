#pragma once

#include <exception>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/options.h"

namespace duckdb {
class ClientContext;
class ErrorData;
}  // namespace duckdb

namespace infino::sql {

/// What errors of statements begin with.
inline constexpr const char* kSql = "SQL";

/// DuckDB reports failures by exceptions, we by Status: these are the two ways over the border.

/// Throws a failure, in a callback that DuckDB has called; the statement keeps it, so that its kind
/// is not lost on the way.
void ThrowIfFailed(duckdb::ClientContext& context, const arrow::Status& status);

/// The value of a result, or the same as ThrowIfFailed.
template <typename T>
[[nodiscard]] T ValueOrThrow(duckdb::ClientContext& context, arrow::Result<T> result) {
  ThrowIfFailed(context, result.status());
  return *std::move(result);
}

/// What an error of DuckDB's is for us: kCancelled if it was interrupted, kResourceExhausted if it
/// ran out of memory, kIo for a failed read or write, kInternal for its own faults, else the
/// statement's fault, kInvalidArgument. `what` comes before its message.
[[nodiscard]] arrow::Status FromDuckDb(const duckdb::ErrorData& error, const std::string& what);
[[nodiscard]] arrow::Status FromDuckDb(const std::exception& error, const std::string& what);

/// Ends once DuckDB has been told to interrupt the statement.
[[nodiscard]] StopCondition StopOf(duckdb::ClientContext& context);

}  // namespace infino::sql
