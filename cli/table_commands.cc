#include <cstdint>
#include <fstream>
#include <iostream>
#include <istream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "cli/command.h"
#include "cli/declared_columns.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/table_views.h"
#include "infino/connection.h"
#include "infino/index_spec.h"
#include "infino/table.h"

namespace infino::cli {

namespace {

struct TableArguments {
  std::string uri;
  std::string table;
  std::vector<std::string> columns;  ///< name:type
  InputSource from;
  std::vector<std::string> fts;
  TextIndexOptions text;
  bool unstored = false;
  std::vector<std::string> vectors;  ///< COLUMN[:DIMENSION][:METRIC]
  VectorIndexOptions vector;
  bool keep = false;
  std::string patch;  ///< Path of a schema patch; "-": standard input.
  std::optional<int64_t> expected_schema_id;
  bool document = false;
};

arrow::Status RunCreate(const TableArguments& arguments, const Command& command) {
  Declaration declaration;
  if (!arguments.from.path.empty()) {
    ARROW_ASSIGN_OR_RAISE(declaration.schema, SchemaOfFile(arguments.from));
  } else {
    arrow::FieldVector fields;
    for (const std::string& column : arguments.columns) {
      ARROW_ASSIGN_OR_RAISE(auto field, ParseColumn(column));
      fields.push_back(std::move(field));
    }
    if (fields.empty()) return arrow::Status::Invalid("create: give --column or --from");
    declaration.schema = arrow::schema(std::move(fields));
  }
  for (const std::string& column : arguments.fts) {
    TextIndexOptions options = arguments.text;
    options.stored = !arguments.unstored;
    declaration.indexes.Fts(column, std::move(options));
  }
  for (const std::string& vector : arguments.vectors) {
    ARROW_RETURN_NOT_OK(AddVectorIndex(vector, arguments.vector, declaration));
  }
  ARROW_ASSIGN_OR_RAISE(const auto connection, Connect(arguments.uri, command.connect));
  ARROW_ASSIGN_OR_RAISE(
      const auto table,
      connection->CreateTable(arguments.table, declaration.schema, declaration.indexes));
  Say("created '" + table->name() + "'");
  return arrow::Status::OK();
}

arrow::Status RunTables(const TableArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(const auto connection, Connect(arguments.uri, command.connect));
  ARROW_ASSIGN_OR_RAISE(const auto tables, DescribeTables(*connection));
  return PrintTable(*tables, command.format);
}

arrow::Result<std::string> ReadText(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad() || (path != "-" && !file.is_open())) {
    return arrow::Status::IOError("schema: can't read ", path);
  }
  return text;
}

arrow::Status RunSchema(const TableArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(const auto connection, Connect(arguments.uri, command.connect));
  std::string document;
  if (!arguments.patch.empty()) {
    ARROW_ASSIGN_OR_RAISE(const std::string patch, ReadText(arguments.patch));
    ARROW_ASSIGN_OR_RAISE(
        document, connection->EvolveSchema(arguments.table, patch, arguments.expected_schema_id));
  } else if (arguments.document) {
    ARROW_ASSIGN_OR_RAISE(document, connection->GetSchemaDocument(arguments.table));
  }
  if (arguments.document) {
    std::cout << document << '\n';
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const auto columns, DescribeColumns(*connection, arguments.table));
  return PrintTable(*columns, command.format);
}

arrow::Status RunDrop(const TableArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(const auto connection, Connect(arguments.uri, command.connect));
  // Dropping what is not there is no error of the library's; at a prompt it is a typing error.
  ARROW_RETURN_NOT_OK(connection->OpenTable(arguments.table).status());
  ARROW_RETURN_NOT_OK(connection->DropTable(arguments.table, !arguments.keep));
  Say("dropped '" + arguments.table + "'");
  return arrow::Status::OK();
}

using Run = arrow::Status (*)(const TableArguments&, const Command&);

CLI::App* AddTableCommand(CLI::App& app, Command& command, const std::string& name,
                          const std::string& help,
                          std::pair<std::shared_ptr<TableArguments>, Run> work) {
  CLI::App* subcommand = app.add_subcommand(name, help);
  subcommand->add_option("uri", work.first->uri, "Folder or URI of the tables")->required();
  subcommand->callback([work, &command] {
    command.run = [work, &command] { return work.second(*work.first, command); };
  });
  return subcommand;
}

}  // namespace

void AddTableCommands(CLI::App& app, Command& command) {
  auto arguments = std::make_shared<TableArguments>();
  CLI::App* create =
      AddTableCommand(app, command, "create", "Create an empty table", {arguments, RunCreate});
  create->add_option("table", arguments->table, "Name: A-Z a-z 0-9 _ -")->required();
  CLI::Option* column = create->add_option("--column", arguments->columns,
                                           "A column as NAME:TYPE, as in body:text or "
                                           "embedding:vector(384); repeat it");
  CLI::Option* from =
      create->add_option("--from", arguments->from.path, "Take the columns of this file");
  from->excludes(column);
  create->add_option("--from-columns", arguments->from.columns, "Only these columns of the file")
      ->delimiter(',')
      ->needs(from);
  create->add_option("--fts", arguments->fts, "Index this text column for keyword search")
      ->delimiter(',');
  create->add_flag("--positions", arguments->text.positions, "Keep token positions, for phrases");
  create->add_flag("--not-stored", arguments->unstored, "Keep only the index of indexed columns");
  create->add_option("--stopwords", arguments->text.stopwords, "english");
  create->add_option("--stemmer", arguments->text.stemmer, "english");
  create
      ->add_option("--vector", arguments->vectors,
                   "Index this column for nearest neighbours; METRIC: cosine (default), l2sq or "
                   "negdot; repeat it")
      ->option_text("COLUMN[:DIMENSION][:METRIC] ...");
  create->add_option("--rerank", arguments->vector.rerank,
                     "How vectors are kept: sq8_residual (default), fp32, fp16, sq8 or none");
  create->add_flag("--keep-vectors", arguments->vector.stored,
                   "Keep vectors as they came, too, as a column of the data files");

  AddTableCommand(app, command, "tables", "List the tables",
                  {std::make_shared<TableArguments>(), RunTables});

  arguments = std::make_shared<TableArguments>();
  CLI::App* schema = AddTableCommand(
      app, command, "schema", "Show or change the columns of a table", {arguments, RunSchema});
  schema->add_option("table", arguments->table, "Table")->required();
  CLI::Option* patch =
      schema->add_option("--patch", arguments->patch,
                         "Change the schema as this JSON file says; - reads standard input");
  schema
      ->add_option("--expected-schema-id", arguments->expected_schema_id,
                   "Change it only if it still has this id")
      ->needs(patch);
  schema->add_flag("--document", arguments->document, "Print the schema as a JSON document");

  arguments = std::make_shared<TableArguments>();
  CLI::App* drop = AddTableCommand(app, command, "drop", "Drop a table", {arguments, RunDrop});
  drop->add_option("table", arguments->table, "Table")->required();
  drop->add_flag("--keep-objects", arguments->keep, "Leave the table's objects where they are");
}

}  // namespace infino::cli
