#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <arrow/status.h>

#include "cli/command.h"
#include "cli/display_text.h"
#include "cli/interrupt.h"
#include "infino/log.h"
#include "infino/options.h"

namespace infino::cli {

namespace {

constexpr int kExitFailed = 1;
constexpr int kExitInterrupted = 130;

void PrintWarning(LogLevel level, std::string_view message) {
  if (level < LogLevel::kWarning) return;
  static_cast<void>(std::fprintf(stderr, "infino: warning: %.*s\n",
                                 static_cast<int>(message.size()), message.data()));
}

void AddStorageOption(const std::string& option, ConnectOptions& connect) {
  const size_t equals = option.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw CLI::ValidationError("--storage-option", "wanted KEY=VALUE, got " + option);
  }
  connect.storage_options[option.substr(0, equals)] = option.substr(equals + 1);
}

int RunMain(int argc, char** argv) {
  UseUtf8();
  SetLogSink(PrintWarning);
  CLI::App app{"Keyword and vector search over Parquet files that lie in a folder or a bucket."};
  app.require_subcommand(1);
  app.set_version_flag("--version", kVersion);
  app.option_defaults()->always_capture_default(false);

  Command command;
  const std::map<std::string, OutputFormat> formats{
      {"table", OutputFormat::kTable}, {"json", OutputFormat::kJson}, {"csv", OutputFormat::kCsv}};
  app.add_option("--format", command.format,
                 "table, json (one object a line) or csv; default: table on a terminal, else json")
      ->transform(CLI::CheckedTransformer(formats, CLI::ignore_case))
      ->option_text("FORMAT");
  app.add_option("--threads", command.connect.thread_count, "Worker threads; 0: one a core");
  app.add_option_function<std::vector<std::string>>(
         "--storage-option",
         [&command](const std::vector<std::string>& options) {
           for (const std::string& option : options) AddStorageOption(option, command.connect);
         },
         "How a bucket is reached, once an option: region, endpoint, credentials ...")
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  app.fallthrough();

  AddTableCommands(app, command);
  AddAppendCommand(app, command);
  AddChangeCommands(app, command);
  AddSearchCommands(app, command);
  AddVectorCommands(app, command);
  AddSqlCommand(app, command);
  AddInspectCommand(app, command);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  NoticeInterrupts(InterruptMode::kStopThenEnd);
  const arrow::Status status = command.run();
  if (status.ok()) return 0;
  static_cast<void>(std::fprintf(stderr, "infino: %s\n", status.message().c_str()));
  return Interrupted() ? kExitInterrupted : kExitFailed;
}

}  // namespace

}  // namespace infino::cli

int main(int argc, char** argv) {
  return infino::cli::RunMain(argc, argv);
}
