#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <arrow/result.h>
#include <arrow/status.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/sql_session.h"
#include "cli/sql_shell.h"
#include "infino/connection.h"

namespace infino::cli {

namespace {

struct SqlArguments {
  std::string uri;
  std::optional<std::string> statement;
  std::optional<std::string> history;
  bool timing = false;
};

/// Where the shell keeps its history if the user doesn't say. Empty: nowhere.
std::string DefaultHistory() {
  // NOLINTBEGIN(concurrency-mt-unsafe): nothing here changes the environment
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/infino/history";
  const char* home = std::getenv("HOME");
  // NOLINTEND(concurrency-mt-unsafe)
  if (home != nullptr && *home == '/') return std::string(home) + "/.local/state/infino/history";
  return "";
}

arrow::Status RunSql(const SqlArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(auto connection, Connect(arguments.uri, command.connect));
  const bool is_seen = isatty(STDOUT_FILENO) != 0;
  SqlSession session(std::move(connection), command.format, arguments.timing || is_seen);
  if (arguments.statement && *arguments.statement != "-") {
    return RunText(session, *arguments.statement);
  }
  const bool is_typed =
      isatty(STDIN_FILENO) != 0 && (is_seen || isatty(STDERR_FILENO) != 0) && !arguments.statement;
  if (!is_typed) return RunStandardInput(session);
  Say(std::string(kVersion) + "; .help has help, .quit ends");
  RunShell(session, arguments.history.value_or(DefaultHistory()));
  return arrow::Status::OK();
}

}  // namespace

void AddSqlCommand(CLI::App& app, Command& command) {
  auto arguments = std::make_shared<SqlArguments>();
  CLI::App* sql = app.add_subcommand("sql", "Run SQL over the tables, or a shell for it");
  sql->add_option("uri", arguments->uri, "Folder or URI of the tables")->required();
  sql->add_option("statement", arguments->statement,
                  "SQL, or - for standard input; without it, a shell on a terminal");
  sql->add_flag("--timing", arguments->timing,
                "Say how long each statement takes, as is done on a terminal");
  sql->add_option("--history", arguments->history,
                  "File that keeps the shell's history; /dev/null: none")
      ->envname("INFINO_HISTORY")
      ->option_text("FILE");
  sql->callback([arguments, &command] {
    command.run = [arguments, &command] { return RunSql(*arguments, command); };
  });
}

}  // namespace infino::cli
