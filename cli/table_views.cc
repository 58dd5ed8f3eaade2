#include "cli/table_views.h"

#include <memory>
#include <string>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "infino/connection.h"
#include "infino/index_spec.h"
#include "infino/table.h"

namespace infino::cli {

namespace {

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
  for (const VectorIndexSpec& vector : spec.vectors) {
    if (vector.column != column) continue;
    return "vector, " + std::to_string(vector.dimension) + " dimensions, " + vector.options.metric +
           ", rerank " + vector.options.rerank + (vector.options.stored ? ", stored" : "");
  }
  return "";
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Table>> DescribeTables(Connection& connection) {
  ARROW_ASSIGN_OR_RAISE(const auto names, connection.ListTables());
  arrow::StringBuilder name_builder;
  arrow::UInt64Builder rows;
  arrow::UInt64Builder superfiles;
  arrow::UInt64Builder bytes;
  arrow::UInt64Builder version;
  for (const std::string& name : names) {
    const auto table = connection.OpenTable(name);
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
  return arrow::Table::Make(schema, columns);
}

arrow::Result<std::shared_ptr<arrow::Table>> DescribeColumns(Connection& connection,
                                                             const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(const auto table, connection.OpenTable(name));
  ARROW_ASSIGN_OR_RAISE(const auto schema, table->GetSchema());
  ARROW_ASSIGN_OR_RAISE(const IndexSpec spec, table->GetIndexSpec());
  arrow::StringBuilder column;
  arrow::StringBuilder type;
  arrow::BooleanBuilder nullable;
  arrow::StringBuilder index;
  for (const auto& field : schema->fields()) {
    ARROW_RETURN_NOT_OK(column.Append(field->name()));
    ARROW_RETURN_NOT_OK(type.Append(field->type()->ToString()));
    ARROW_RETURN_NOT_OK(nullable.Append(field->nullable()));
    ARROW_RETURN_NOT_OK(index.Append(IndexText(spec, field->name())));
  }
  arrow::ArrayVector columns(4);
  ARROW_RETURN_NOT_OK(column.Finish(columns.data()));
  ARROW_RETURN_NOT_OK(type.Finish(&columns[1]));
  ARROW_RETURN_NOT_OK(nullable.Finish(&columns[2]));
  ARROW_RETURN_NOT_OK(index.Finish(&columns[3]));
  const auto described = arrow::schema(
      {arrow::field("column", arrow::utf8()), arrow::field("type", arrow::utf8()),
       arrow::field("nullable", arrow::boolean()), arrow::field("index", arrow::utf8())});
  return arrow::Table::Make(described, columns);
}

}  // namespace infino::cli
