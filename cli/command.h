#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>
#include <arrow/status.h>

#include "infino/options.h"

namespace infino::cli {

inline constexpr const char* kVersion = "infino 0.11.0";

/// How results are printed.
enum class OutputFormat { kAuto, kTable, kJson, kCsv };

/// What every subcommand shares: the global options, and the work that the chosen one leaves here
/// to be run once the whole command line has been understood.
struct Command {
  OutputFormat format = OutputFormat::kAuto;
  ConnectOptions connect;
  std::function<arrow::Status()> run;
};

// One function a group of subcommands. Each keeps its options alive in what it puts into `run`.
void AddTableCommands(CLI::App& app, Command& command);
void AddAppendCommand(CLI::App& app, Command& command);
void AddChangeCommands(CLI::App& app, Command& command);
void AddSearchCommands(CLI::App& app, Command& command);
void AddVectorCommands(CLI::App& app, Command& command);
void AddSqlCommand(CLI::App& app, Command& command);
void AddInspectCommand(CLI::App& app, Command& command);

/// A condition that ends a call after Ctrl-C.
[[nodiscard]] StopCondition StopOnInterrupt();

}  // namespace infino::cli
