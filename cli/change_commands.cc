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
#include "infino/table.h"

namespace infino::cli {

namespace {

struct ChangeArguments {
  std::string uri;
  std::string table;
  std::string predicate;
  std::string key;
  InputSource source;
  bool quiet = false;
};

arrow::Result<OpenedInput> OpenRows(const ChangeArguments& arguments, Table& table) {
  ARROW_ASSIGN_OR_RAISE(const auto schema, table.GetSchema());
  return OpenInput(arguments.source, schema);
}

void SayWhere(const ChangeArguments& arguments, const std::string& what,
              const ChangeResult& result) {
  if (arguments.quiet) return;
  Say(what + "; '" + arguments.table + "' is at version " + std::to_string(result.version));
}

arrow::Status RunDelete(const ChangeArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        OpenTable(arguments.uri, arguments.table, command.connect));
  ARROW_ASSIGN_OR_RAISE(const ChangeResult result,
                        table->Delete(arguments.predicate, {.stop = StopOnInterrupt()}));
  SayWhere(arguments, "deleted " + std::to_string(result.tombstoned) + " rows", result);
  return arrow::Status::OK();
}

arrow::Status RunUpdate(const ChangeArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        OpenTable(arguments.uri, arguments.table, command.connect));
  ARROW_ASSIGN_OR_RAISE(OpenedInput input, OpenRows(arguments, *table));
  ARROW_ASSIGN_OR_RAISE(
      const ChangeResult result,
      table->Update(arguments.predicate, std::move(input.rows), {.stop = StopOnInterrupt()}));
  SayWhere(arguments, "replaced " + std::to_string(result.tombstoned) + " rows", result);
  return arrow::Status::OK();
}

arrow::Status RunUpsert(const ChangeArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        OpenTable(arguments.uri, arguments.table, command.connect));
  ARROW_ASSIGN_OR_RAISE(OpenedInput input, OpenRows(arguments, *table));
  ARROW_ASSIGN_OR_RAISE(
      const ChangeResult result,
      table->Upsert(std::move(input.rows), arguments.key, {.stop = StopOnInterrupt()}));
  SayWhere(arguments,
           "replaced " + std::to_string(result.tombstoned) + " rows and added " +
               std::to_string(result.not_found),
           result);
  return arrow::Status::OK();
}

void AddTable(CLI::App& subcommand, ChangeArguments& arguments) {
  subcommand.add_option("uri", arguments.uri, "Folder or URI of the tables")->required();
  subcommand.add_option("table", arguments.table, "Table")->required();
  subcommand.add_flag("--quiet", arguments.quiet, "No summary");
}

void AddPredicate(CLI::App& subcommand, ChangeArguments& arguments) {
  subcommand.add_option("predicate", arguments.predicate, "Which rows: a condition in SQL")
      ->required();
}

using Work = arrow::Status (*)(const ChangeArguments& arguments, const Command& command);

/// Has the subcommand run `work` with its arguments.
void Finish(CLI::App& subcommand, const std::shared_ptr<ChangeArguments>& arguments,
            Command& command, Work work) {
  subcommand.callback([arguments, &command, work] {
    command.run = [arguments, &command, work] { return work(*arguments, command); };
  });
}

}  // namespace

void AddChangeCommands(CLI::App& app, Command& command) {
  auto deletion = std::make_shared<ChangeArguments>();
  CLI::App* subcommand = app.add_subcommand("delete", "Delete the rows that a condition selects");
  AddTable(*subcommand, *deletion);
  AddPredicate(*subcommand, *deletion);
  Finish(*subcommand, deletion, command, RunDelete);

  auto update = std::make_shared<ChangeArguments>();
  subcommand =
      app.add_subcommand("update", "Replace the rows that a condition selects by those of a file");
  AddTable(*subcommand, *update);
  AddPredicate(*subcommand, *update);
  AddInputOptions(*subcommand, update->source);
  Finish(*subcommand, update, command, RunUpdate);

  auto upsert = std::make_shared<ChangeArguments>();
  subcommand = app.add_subcommand(
      "upsert", "Replace the rows with the same key by those of a file, and add the others");
  AddTable(*subcommand, *upsert);
  subcommand->add_option("key", upsert->key, "Column that tells rows apart")->required();
  AddInputOptions(*subcommand, upsert->source);
  Finish(*subcommand, upsert, command, RunUpsert);
}

}  // namespace infino::cli
