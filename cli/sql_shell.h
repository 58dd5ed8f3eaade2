#pragma once

#include <string>

#include <arrow/status.h>

#include "cli/sql_session.h"

namespace infino::cli {

/// Runs what a person types at the terminal until they end it. Errors are said and end nothing.
/// `history` is the file that keeps what was typed; empty: none.
void RunShell(SqlSession& session, const std::string& history);

/// Runs the statements and dot commands that standard input has, each as soon as it is there. The
/// first failure ends it, and says at which line.
[[nodiscard]] arrow::Status RunStandardInput(SqlSession& session);

/// Runs the statements of `text`. The first failure ends it.
[[nodiscard]] arrow::Status RunText(SqlSession& session, const std::string& text);

}  // namespace infino::cli
