#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <arrow/builder.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
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
  bool keep = false;
};

const std::map<std::string, std::shared_ptr<arrow::DataType>>& TypeNames() {
  static const std::map<std::string, std::shared_ptr<arrow::DataType>> names{
      {"bool", arrow::boolean()},
      {"int8", arrow::int8()},
      {"int16", arrow::int16()},
      {"int32", arrow::int32()},
      {"int64", arrow::int64()},
      {"uint8", arrow::uint8()},
      {"uint16", arrow::uint16()},
      {"uint32", arrow::uint32()},
      {"uint64", arrow::uint64()},
      {"float", arrow::float32()},
      {"double", arrow::float64()},
      {"text", arrow::large_utf8()},
      {"binary", arrow::large_binary()},
      {"date", arrow::date32()},
      {"time", arrow::time64(arrow::TimeUnit::MICRO)},
      {"timestamp", arrow::timestamp(arrow::TimeUnit::MICRO)},
      {"timestamptz", arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")}};
  return names;
}

arrow::Result<std::shared_ptr<arrow::Field>> ParseColumn(const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string type = colon == std::string::npos ? "" : text.substr(colon + 1);
  const auto found = TypeNames().find(type);
  if (colon == 0 || found == TypeNames().end()) {
    std::string known;
    for (const auto& [name, unused] : TypeNames()) known += (known.empty() ? "" : ", ") + name;
    return arrow::Status::Invalid("--column '", text, "': write NAME:TYPE with one of ", known);
  }
  return arrow::field(text.substr(0, colon), found->second);
}

/// The columns of a file as a table would have them: text that is to be indexed, or was only
/// inferred to be text, becomes large text; no metadata.
arrow::Result<std::shared_ptr<arrow::Schema>> SchemaOfFile(const InputSource& source) {
  ARROW_ASSIGN_OR_RAISE(const OpenedInput input, OpenInput(source, nullptr));
  arrow::FieldVector fields;
  for (const auto& field : input.rows->schema()->fields()) {
    auto type = field->type();
    if (type->id() == arrow::Type::STRING) type = arrow::large_utf8();
    if (type->id() == arrow::Type::NA) type = arrow::large_utf8();
    fields.push_back(arrow::field(field->name(), std::move(type), field->nullable()));
  }
  return arrow::schema(std::move(fields));
}

arrow::Status RunCreate(const TableArguments& arguments, const Command& command) {
  std::shared_ptr<arrow::Schema> schema;
  if (!arguments.from.path.empty()) {
    ARROW_ASSIGN_OR_RAISE(schema, SchemaOfFile(arguments.from));
  } else {
    arrow::FieldVector fields;
    for (const std::string& column : arguments.columns) {
      ARROW_ASSIGN_OR_RAISE(auto field, ParseColumn(column));
      fields.push_back(std::move(field));
    }
    if (fields.empty()) return arrow::Status::Invalid("create: give --column or --from");
    schema = arrow::schema(std::move(fields));
  }
  IndexSpec spec;
  for (const std::string& column : arguments.fts) {
    TextIndexOptions options = arguments.text;
    options.stored = !arguments.unstored;
    spec.Fts(column, std::move(options));
  }
  ARROW_ASSIGN_OR_RAISE(const auto connection, Connect(arguments.uri, command.connect));
  ARROW_ASSIGN_OR_RAISE(const auto table, connection->CreateTable(arguments.table, schema, spec));
  Say("created '" + table->name() + "'");
  return arrow::Status::OK();
}

arrow::Status RunTables(const TableArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(const auto connection, Connect(arguments.uri, command.connect));
  ARROW_ASSIGN_OR_RAISE(const auto names, connection->ListTables());
  arrow::StringBuilder name_builder;
  arrow::UInt64Builder rows;
  arrow::UInt64Builder superfiles;
  arrow::UInt64Builder bytes;
  arrow::UInt64Builder version;
  for (const std::string& name : names) {
    const auto table = connection->OpenTable(name);
    if (!table.ok()) continue;  // Dropped since the catalog was read.
    ARROW_ASSIGN_OR_RAISE(const TableStats stats, (*table)->Stats());
    ARROW_RETURN_NOT_OK(name_builder.Append(name));
    ARROW_RETURN_NOT_OK(rows.Append(stats.rows));
    ARROW_RETURN_NOT_OK(superfiles.Append(stats.superfiles));
    ARROW_RETURN_NOT_OK(bytes.Append(stats.bytes));
    ARROW_RETURN_NOT_OK(version.Append(stats.version));
  }
  arrow::ArrayVector columns(5);
  ARROW_RETURN_NOT_OK(name_builder.Finish(columns.data()));
  ARROW_RETURN_NOT_OK(rows.Finish(&columns[1]));
  ARROW_RETURN_NOT_OK(superfiles.Finish(&columns[2]));
  ARROW_RETURN_NOT_OK(bytes.Finish(&columns[3]));
  ARROW_RETURN_NOT_OK(version.Finish(&columns[4]));
  const auto schema = arrow::schema(
      {arrow::field("table", arrow::utf8()), arrow::field("rows", arrow::uint64()),
       arrow::field("superfiles", arrow::uint64()), arrow::field("bytes", arrow::uint64()),
       arrow::field("version", arrow::uint64())});
  return PrintTable(*arrow::Table::Make(schema, columns), command.format);
}

std::string IndexText(const IndexSpec& spec, const std::string& column) {
  for (const TextIndexSpec& text : spec.text) {
    if (text.column != column) continue;
    std::string described = "fts";
    if (text.options.positions) described += ", positions";
    if (!text.options.stored) described += ", not stored";
    if (text.options.stopwords) described += ", stopwords " + *text.options.stopwords;
    if (text.options.stemmer) described += ", stemmer " + *text.options.stemmer;
    if (text.options.k1 && text.options.b) {
      described +=
          ", k1 " + std::to_string(*text.options.k1) + ", b " + std::to_string(*text.options.b);
    }
    return described;
  }
  return "";
}

arrow::Status RunSchema(const TableArguments& arguments, const Command& command) {
  ARROW_ASSIGN_OR_RAISE(const auto connection, Connect(arguments.uri, command.connect));
  ARROW_ASSIGN_OR_RAISE(const auto table, connection->OpenTable(arguments.table));
  ARROW_ASSIGN_OR_RAISE(const auto schema, table->GetSchema());
  ARROW_ASSIGN_OR_RAISE(const IndexSpec spec, table->GetIndexSpec());
  arrow::StringBuilder name;
  arrow::StringBuilder type;
  arrow::BooleanBuilder nullable;
  arrow::StringBuilder index;
  for (const auto& field : schema->fields()) {
    ARROW_RETURN_NOT_OK(name.Append(field->name()));
    ARROW_RETURN_NOT_OK(type.Append(field->type()->ToString()));
    ARROW_RETURN_NOT_OK(nullable.Append(field->nullable()));
    ARROW_RETURN_NOT_OK(index.Append(IndexText(spec, field->name())));
  }
  arrow::ArrayVector columns(4);
  ARROW_RETURN_NOT_OK(name.Finish(columns.data()));
  ARROW_RETURN_NOT_OK(type.Finish(&columns[1]));
  ARROW_RETURN_NOT_OK(nullable.Finish(&columns[2]));
  ARROW_RETURN_NOT_OK(index.Finish(&columns[3]));
  const auto described = arrow::schema(
      {arrow::field("column", arrow::utf8()), arrow::field("type", arrow::utf8()),
       arrow::field("nullable", arrow::boolean()), arrow::field("index", arrow::utf8())});
  return PrintTable(*arrow::Table::Make(described, columns), command.format);
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
                                           "A column as NAME:TYPE, as in body:text; repeat it");
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

  AddTableCommand(app, command, "tables", "List the tables",
                  {std::make_shared<TableArguments>(), RunTables});

  arguments = std::make_shared<TableArguments>();
  CLI::App* schema = AddTableCommand(app, command, "schema", "Show the columns of a table",
                                     {arguments, RunSchema});
  schema->add_option("table", arguments->table, "Table")->required();

  arguments = std::make_shared<TableArguments>();
  CLI::App* drop = AddTableCommand(app, command, "drop", "Drop a table", {arguments, RunDrop});
  drop->add_option("table", arguments->table, "Table")->required();
  drop->add_flag("--keep-objects", arguments->keep, "Leave the table's objects where they are");
}

}  // namespace infino::cli
