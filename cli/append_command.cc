#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <arrow/result.h>
#include <arrow/status.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/open_table.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "infino/table.h"

namespace infino::cli {

namespace {

struct AppendArguments {
  std::string uri;
  std::string table;
  InputSource source;
  bool quiet = false;
  bool strict_schema = false;
};

arrow::Status RunAppend(const AppendArguments& arguments, const Command& command) {
  ConnectOptions connect = command.connect;
  connect.strict_schema = arguments.strict_schema;
  ARROW_ASSIGN_OR_RAISE(const auto table, OpenTable(arguments.uri, arguments.table, connect));
  ARROW_ASSIGN_OR_RAISE(const auto schema, table->GetSchema());
  ARROW_ASSIGN_OR_RAISE(OpenedInput input, OpenInput(arguments.source, schema));
  ProgressBar bar("append", input.row_count, !arguments.quiet);
  AppendOptions options{.progress = [&bar](const AppendProgress& now) { bar.Update(now); },
                        .stop = StopOnInterrupt()};
  const arrow::Result<AppendResult> result = table->Append(std::move(input.rows), options);
  bar.Finish();
  ARROW_RETURN_NOT_OK(result.status());
  if (!arguments.quiet) {
    Say("appended " + std::to_string(result->rows) + " rows in " +
        std::to_string(result->superfiles) + " superfiles (" + std::to_string(result->bytes) +
        " bytes); '" + arguments.table + "' is at version " + std::to_string(result->version));
  }
  return arrow::Status::OK();
}

}  // namespace

void AddAppendCommand(CLI::App& app, Command& command) {
  auto arguments = std::make_shared<AppendArguments>();
  CLI::App* append = app.add_subcommand("append", "Add the rows of a file as one commit");
  append->add_option("uri", arguments->uri, "Folder or URI of the tables")->required();
  append->add_option("table", arguments->table, "Table")->required();
  AddInputOptions(*append, arguments->source);
  append->add_option("--columns", arguments->source.columns, "Only these columns of the file")
      ->delimiter(',');
  append->add_flag("--strict-schema", arguments->strict_schema,
                   "Refuse columns that the table does not have, instead of adding them");
  append->add_flag("--quiet", arguments->quiet, "No progress bar and no summary");
  append->callback([arguments, &command] {
    command.run = [arguments, &command] { return RunAppend(*arguments, command); };
  });
}

}  // namespace infino::cli
