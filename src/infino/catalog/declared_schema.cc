#include "infino/catalog/declared_schema.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/text/analyzer.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index_spec.h"
#include "infino/query/text_plan.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

/// The column that gets an index; it can't have two.
arrow::Result<TableColumn*> ColumnToIndex(TableSchema& table, const std::string& name,
                                          const std::string& context) {
  TableColumn* column = nullptr;
  for (TableColumn& candidate : table.columns) {
    if (candidate.field->name() == name) column = &candidate;
  }
  if (column == nullptr) {
    return MakeError(ErrorKind::kInvalidArgument, context + "the schema has no such column");
  }
  if (column->text || column->vector) {
    return MakeError(ErrorKind::kInvalidArgument,
                     context + "logical name '" + name + "' duplicated in the index spec");
  }
  return column;
}

arrow::Status AddTextIndex(TableSchema& table, const TextIndexSpec& text) {
  const std::string context = "keyword index over column '" + text.column + "': ";
  ARROW_ASSIGN_OR_RAISE(TableColumn * column, ColumnToIndex(table, text.column, context));
  const arrow::Status analyzer = text::Analyzer::Make(text.options).status();
  if (!analyzer.ok()) return FromForeign(analyzer, context);
  const arrow::Status bm25 = ResolveBm25(text.options, text.options.k1, text.options.b).status();
  if (!bm25.ok()) return MakeError(ErrorKind::kInvalidArgument, context + bm25.message());
  column->text = text.options;
  return arrow::Status::OK();
}

arrow::Status AddVectorIndex(TableSchema& table, const VectorIndexSpec& spec, Random& random) {
  const std::string context = "vector index over column '" + spec.column + "': ";
  ARROW_ASSIGN_OR_RAISE(TableColumn * column, ColumnToIndex(table, spec.column, context));
  const std::optional<vector::VectorMetric> metric = vector::MetricOfName(spec.options.metric);
  if (!metric) {
    return MakeError(ErrorKind::kInvalidArgument,
                     context + "unknown metric '" + spec.options.metric +
                         "'; it is one of cosine, l2sq (or l2), negdot (or dot)");
  }
  const std::optional<vector::RerankTier> tier = vector::TierOfName(spec.options.rerank);
  if (!tier) {
    return MakeError(ErrorKind::kInvalidArgument,
                     context + "unknown rerank '" + spec.options.rerank +
                         "'; it is one of fp32, fp16, sq8_residual, sq8, none");
  }
  // Any other type is refused with all other faults of a schema.
  const uint32_t dimension = DimensionOf(*column->field->type()).value_or(spec.dimension);
  if (spec.dimension != 0 && spec.dimension != dimension) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "column '" + spec.column + "' has vectors of " + std::to_string(dimension) +
                         " dimensions, the index says " + std::to_string(spec.dimension));
  }
  column->vector = TableVectorIndex{.column = {.dimension = dimension,
                                               .metric = *metric,
                                               .tier = *tier,
                                               .rotation_seed = random.Next()},
                                    .stored = spec.options.stored};
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<TableSchema> DeclareSchema(const arrow::Schema& schema, const IndexSpec& spec,
                                         Random& random) {
  TableSchema table;
  for (const std::shared_ptr<arrow::Field>& field : schema.fields()) {
    TableColumn column;
    column.field_id = ++table.last_field_id;
    column.field = field->RemoveMetadata();
    table.columns.push_back(std::move(column));
  }
  for (const TextIndexSpec& text : spec.text) ARROW_RETURN_NOT_OK(AddTextIndex(table, text));
  for (const VectorIndexSpec& vectors : spec.vectors) {
    ARROW_RETURN_NOT_OK(AddVectorIndex(table, vectors, random));
  }
  ARROW_RETURN_NOT_OK(ValidateTableSchema(table));
  if (table.last_field_id > kColumnsMax) {
    // Who declares that many means it.
    table.columns_max = table.last_field_id;
  }
  return table;
}

IndexSpec IndexSpecOf(const TableSchema& schema) {
  IndexSpec spec;
  for (const TableColumn& column : schema.columns) {
    if (column.text) spec.Fts(column.field->name(), *column.text);
    if (!column.vector) continue;
    spec.Vector(column.field->name(), column.vector->column.dimension,
                {.metric = std::string(vector::NameOf(column.vector->column.metric)),
                 .rerank = std::string(vector::NameOf(column.vector->column.tier)),
                 .stored = column.vector->stored});
  }
  return spec;
}

}  // namespace infino
