#include "infino/catalog/declared_schema.h"

#include <memory>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/error.h"
#include "infino/index/text/analyzer.h"
#include "infino/index_spec.h"
#include "infino/query/text_plan.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

arrow::Status AddTextIndex(TableSchema& table, const TextIndexSpec& text) {
  const std::string context = "keyword index over column '" + text.column + "': ";
  TableColumn* column = nullptr;
  for (TableColumn& candidate : table.columns) {
    if (candidate.field->name() == text.column) column = &candidate;
  }
  if (column == nullptr) {
    return MakeError(ErrorKind::kInvalidArgument, context + "the schema has no such column");
  }
  if (column->text) {
    return MakeError(ErrorKind::kInvalidArgument,
                     context + "logical name '" + text.column + "' duplicated in the index spec");
  }
  const arrow::Status analyzer = text::Analyzer::Make(text.options).status();
  if (!analyzer.ok()) return FromForeign(analyzer, context);
  const arrow::Status bm25 = ResolveBm25(text.options, text.options.k1, text.options.b).status();
  if (!bm25.ok()) return MakeError(ErrorKind::kInvalidArgument, context + bm25.message());
  column->text = text.options;
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<TableSchema> DeclareSchema(const arrow::Schema& schema, const IndexSpec& spec) {
  TableSchema table;
  for (const std::shared_ptr<arrow::Field>& field : schema.fields()) {
    TableColumn column;
    column.field_id = ++table.last_field_id;
    column.field = field->RemoveMetadata();
    table.columns.push_back(std::move(column));
  }
  for (const TextIndexSpec& text : spec.text) ARROW_RETURN_NOT_OK(AddTextIndex(table, text));
  ARROW_RETURN_NOT_OK(ValidateTableSchema(table));
  return table;
}

IndexSpec IndexSpecOf(const TableSchema& schema) {
  IndexSpec spec;
  for (const TableColumn& column : schema.columns) {
    if (column.text) spec.Fts(column.field->name(), *column.text);
  }
  return spec;
}

}  // namespace infino
