#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <arrow/status.h>
#include <arrow/table.h>

#include "cli/command.h"
#include "infino/common/clock.h"
#include "infino/connection.h"

namespace infino::cli {

/// Runs SQL statements and dot commands over one connection, one after the other, and prints what
/// they give: results to standard output, with the number of rows below a table. One thread.
class SqlSession {
 public:
  SqlSession(std::shared_ptr<Connection> connection, OutputFormat format, bool timing);

  /// Runs one statement. kCancelled after Ctrl-C.
  [[nodiscard]] arrow::Status Run(const std::string& sql);

  /// Whether `line`, which begins a statement, is a dot command: .tables, or a bare help, quit or
  /// exit.
  [[nodiscard]] static bool IsDotCommand(std::string_view line);

  /// Runs a dot command. kInvalidArgument if it is unknown or not understood.
  [[nodiscard]] arrow::Status RunDotCommand(std::string_view line);

  /// Whether .quit was given.
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  [[nodiscard]] arrow::Status Print(const arrow::Table& table) const;
  [[nodiscard]] arrow::Status SetMode(const std::string& mode);
  [[nodiscard]] arrow::Status SetTiming(const std::string& timing);

  std::shared_ptr<Connection> connection_;
  OutputFormat format_;
  bool timing_;
  bool ended_ = false;
  std::shared_ptr<Clock> clock_;
};

}  // namespace infino::cli
