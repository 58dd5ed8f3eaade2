#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <arrow/result.h>
#include <arrow/status.h>

#include "cli/command.h"
#include "cli/open_table.h"
#include "cli/output.h"
#include "cli/vector_text.h"
#include "infino/search.h"
#include "infino/table.h"

namespace infino::cli {

namespace {

/// What `vector` and `hybrid` share, and what only `hybrid` has.
struct VectorArguments {
  std::string uri;
  std::string table;
  std::string vector_column;
  std::string vector;
  uint64_t k = 10;
  TextFilter filter;
  VectorEffort effort;
  std::vector<std::string> columns;
  std::string where;

  std::string text_column;
  std::string text;
  MatchMode mode = MatchMode::kOr;
  std::optional<uint64_t> depth;
  std::vector<double> weights;
};

std::optional<TextFilter> FilterOf(const VectorArguments& arguments) {
  if (arguments.filter.column.empty()) return std::nullopt;
  return arguments.filter;
}

std::optional<std::vector<std::string>> ProjectionOf(const VectorArguments& arguments) {
  if (arguments.columns.empty()) return std::nullopt;
  return arguments.columns;
}

arrow::Result<std::vector<std::vector<float>>> VectorsOf(const VectorArguments& arguments) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, ReadArgument(arguments.vector));
  auto vectors = ParseVectors(text);
  if (vectors.ok()) return vectors;
  return arrow::Status::Invalid("the query vector: ", vectors.status().message());
}

arrow::Status RunVector(const VectorArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(std::vector<std::vector<float>> vectors, VectorsOf(arguments));
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        OpenTable(arguments.uri, arguments.table, command.connect));
  const bool is_batch = vectors.size() > 1;
  const VectorSearchRequest request{.column = arguments.vector_column,
                                    .queries = std::move(vectors),
                                    .k = arguments.k,
                                    .filter = FilterOf(arguments),
                                    .effort = arguments.effort,
                                    .projection = ProjectionOf(arguments),
                                    .number_queries = is_batch,
                                    .where = arguments.where,
                                    .stop = StopOnInterrupt()};
  ARROW_ASSIGN_OR_RAISE(const auto rows, table->VectorSearch(request));
  return PrintTable(*rows, command.format);
}

arrow::Status RunHybrid(const VectorArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(std::vector<std::vector<float>> vectors, VectorsOf(arguments));
  if (vectors.size() != 1) {
    return arrow::Status::Invalid("hybrid takes one query vector; there are ", vectors.size());
  }
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        OpenTable(arguments.uri, arguments.table, command.connect));
  HybridSearchRequest request{.text_column = arguments.text_column,
                              .text = arguments.text,
                              .mode = arguments.mode,
                              .vector_column = arguments.vector_column,
                              .vector = std::move(vectors.front()),
                              .k = arguments.k,
                              .depth = arguments.depth,
                              .filter = FilterOf(arguments),
                              .effort = arguments.effort,
                              .projection = ProjectionOf(arguments),
                              .where = arguments.where,
                              .stop = StopOnInterrupt()};
  if (!arguments.weights.empty()) {
    request.text_weight = arguments.weights[0];
    request.vector_weight = arguments.weights[1];
  }
  ARROW_ASSIGN_OR_RAISE(const auto rows, table->HybridSearch(request));
  return PrintTable(*rows, command.format);
}

CLI::Option* AddMode(CLI::App& subcommand, const std::string& name, MatchMode& mode,
                     const std::string& help) {
  const std::map<std::string, MatchMode> modes{{"or", MatchMode::kOr}, {"and", MatchMode::kAnd}};
  return subcommand.add_option(name, mode, help)
      ->transform(CLI::CheckedTransformer(modes, CLI::ignore_case))
      ->option_text("MODE");
}

void AddTableArguments(CLI::App& subcommand, VectorArguments& arguments) {
  subcommand.add_option("uri", arguments.uri, "Folder or URI of the tables")->required();
  subcommand.add_option("table", arguments.table, "Table")->required();
}

void AddVectorArguments(CLI::App& subcommand, VectorArguments& arguments) {
  subcommand.add_option("vector_column", arguments.vector_column, "Column with a vector index")
      ->required();
  subcommand
      .add_option("vector", arguments.vector,
                  "Numbers with commas or blanks between them; @FILE, or - for stdin")
      ->required();
}

void AddOptions(CLI::App& subcommand, VectorArguments& arguments) {
  subcommand.add_option("-k", arguments.k, "How many rows (default 10)");
  CLI::Option* column = subcommand.add_option("--filter-column", arguments.filter.column,
                                              "Search only rows whose text in this column");
  CLI::Option* query = subcommand.add_option("--filter", arguments.filter.query,
                                             "matches these words; -word excludes");
  CLI::Option* mode = AddMode(subcommand, "--filter-mode", arguments.filter.mode,
                              "or (any word, default) or and (all words)");
  column->needs(query);
  query->needs(column);
  mode->needs(query);
  subcommand.add_option("--recall", arguments.effort.target_recall,
                        "Share of the nearest rows to find (default 0.99); 1 compares all");
  subcommand.add_option("--nprobe", arguments.effort.nprobe,
                        "Instead: how many reference points' rows to look at");
  subcommand.add_option("--columns", arguments.columns, "Columns of the result")->delimiter(',');
  subcommand.add_option("--where", arguments.where, "Only rows that a condition in SQL selects");
}

}  // namespace

void AddVectorCommands(CLI::App& app, Command& command) {
  auto vector_arguments = std::make_shared<VectorArguments>();
  CLI::App* vector = app.add_subcommand(
      "vector", "The rows nearest to a vector, or to several: one a line, in @FILE or stdin");
  AddTableArguments(*vector, *vector_arguments);
  AddVectorArguments(*vector, *vector_arguments);
  AddOptions(*vector, *vector_arguments);
  vector->callback([vector_arguments, &command] {
    command.run = [vector_arguments, &command] { return RunVector(*vector_arguments, command); };
  });

  auto hybrid_arguments = std::make_shared<VectorArguments>();
  CLI::App* hybrid =
      app.add_subcommand("hybrid", "The best rows for some words and a vector together");
  AddTableArguments(*hybrid, *hybrid_arguments);
  hybrid->add_option("text_column", hybrid_arguments->text_column, "Column with a keyword index")
      ->required();
  hybrid->add_option("text", hybrid_arguments->text, "Words; -word excludes, +word requires")
      ->required();
  AddVectorArguments(*hybrid, *hybrid_arguments);
  AddOptions(*hybrid, *hybrid_arguments);
  AddMode(*hybrid, "--mode", hybrid_arguments->mode, "or (any word, default) or and (all words)");
  hybrid->add_option("--depth", hybrid_arguments->depth,
                     "How many rows each search contributes (default: -k)");
  hybrid
      ->add_option("--weights", hybrid_arguments->weights,
                   "What words and vector count, as in 1,0.5 (default 1,1)")
      ->delimiter(',')
      ->expected(2);
  hybrid->callback([hybrid_arguments, &command] {
    command.run = [hybrid_arguments, &command] { return RunHybrid(*hybrid_arguments, command); };
  });
}

}  // namespace infino::cli
