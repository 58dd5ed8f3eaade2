#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <arrow/result.h>
#include <arrow/status.h>

#include "cli/command.h"
#include "cli/open_table.h"
#include "cli/output.h"
#include "infino/search.h"
#include "infino/table.h"

namespace infino::cli {

namespace {

struct SearchArguments {
  std::string uri;
  std::string table;
  std::string column;
  std::string query;
  uint64_t k = 10;
  MatchMode mode = MatchMode::kOr;
  std::vector<std::string> columns;
  std::string where;
  std::optional<double> k1;
  std::optional<double> b;
};

arrow::Status RunSearch(const SearchArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        OpenTable(arguments.uri, arguments.table, command.connect));
  TextSearchRequest request{.column = arguments.column,
                            .query = arguments.query,
                            .k = arguments.k,
                            .mode = arguments.mode,
                            .projection = std::nullopt,
                            .k1 = arguments.k1,
                            .b = arguments.b,
                            .where = arguments.where,
                            .stop = StopOnInterrupt()};
  if (!arguments.columns.empty()) request.projection = arguments.columns;
  ARROW_ASSIGN_OR_RAISE(const auto hits, table->Search(request));
  return PrintTable(*hits, command.format);
}

arrow::Status RunCount(const SearchArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        OpenTable(arguments.uri, arguments.table, command.connect));
  ARROW_ASSIGN_OR_RAISE(const uint64_t count, table->Count({.column = arguments.column,
                                                            .query = arguments.query,
                                                            .mode = arguments.mode,
                                                            .where = arguments.where,
                                                            .stop = StopOnInterrupt()}));
  return PrintValue("count", count, command.format);
}

void AddQueryOptions(CLI::App& subcommand, SearchArguments& arguments) {
  const std::map<std::string, MatchMode> modes{{"or", MatchMode::kOr}, {"and", MatchMode::kAnd}};
  subcommand.add_option("uri", arguments.uri, "Folder or URI of the tables")->required();
  subcommand.add_option("table", arguments.table, "Table")->required();
  subcommand.add_option("column", arguments.column, "Column with a keyword index")->required();
  subcommand.add_option("query", arguments.query, "Words; -word excludes, +word requires")
      ->required();
  subcommand.add_option("--mode", arguments.mode, "or (any word, default) or and (all words)")
      ->transform(CLI::CheckedTransformer(modes, CLI::ignore_case))
      ->option_text("MODE");
  subcommand.add_option("--where", arguments.where, "Only rows that a condition in SQL selects");
}

}  // namespace

void AddSearchCommands(CLI::App& app, Command& command) {
  auto search_arguments = std::make_shared<SearchArguments>();
  CLI::App* search = app.add_subcommand("search", "The best rows for some words, by BM25");
  AddQueryOptions(*search, *search_arguments);
  search->add_option("-k", search_arguments->k, "How many rows (default 10)");
  search->add_option("--columns", search_arguments->columns, "Columns of the result")
      ->delimiter(',');
  CLI::Option* k1 = search->add_option("--k1", search_arguments->k1, "BM25 parameter");
  CLI::Option* b = search->add_option("--b", search_arguments->b, "BM25 parameter");
  k1->needs(b);
  b->needs(k1);
  search->callback([search_arguments, &command] {
    command.run = [search_arguments, &command] { return RunSearch(*search_arguments, command); };
  });

  auto count_arguments = std::make_shared<SearchArguments>();
  CLI::App* count = app.add_subcommand("count", "How many rows match");
  AddQueryOptions(*count, *count_arguments);
  count->callback([count_arguments, &command] {
    command.run = [count_arguments, &command] { return RunCount(*count_arguments, command); };
  });
}

}  // namespace infino::cli
