#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "infino/index/vector/vector_column.h"
#include "infino/superfile/table_schema.h"
#include "unit/commit/table_harness.h"
#include "unit/index/vector/vector_fixture.h"

namespace infino {

inline constexpr int32_t kVectorFieldId = 3;

/// The table of RowTextTableSchema with a vector column `v`, field id 3.
[[nodiscard]] inline TableSchema RowVectorTableSchema(const vector::VectorColumn& vectors,
                                                      bool stored = false) {
  TableSchema schema = RowTextTableSchema();
  TableColumn column{
      .field_id = kVectorFieldId,
      .field = arrow::field(
          "v", arrow::fixed_size_list(arrow::float32(), static_cast<int32_t>(vectors.dimension))),
      .text = {}};
  column.vector = TableVectorIndex{.column = vectors, .stored = stored};
  schema.columns.push_back(std::move(column));
  schema.last_field_id = kVectorFieldId;
  return schema;
}

/// Rows `first_row`, … with those vectors.
[[nodiscard]] inline std::shared_ptr<arrow::RecordBatch> VectorRows(
    int64_t first_row, std::span<const std::vector<float>> vectors) {
  arrow::Int64Builder numbers;
  for (size_t i = 0; i < vectors.size(); ++i) {
    if (!numbers.Append(first_row + static_cast<int64_t>(i)).ok()) return nullptr;
  }
  const auto column = vector::ArrayOf(vectors);
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("row", arrow::int64()), arrow::field("v", column->type())}),
      column->length(), arrow::ArrayVector{numbers.Finish().ValueOrDie(), column});
}

}  // namespace infino
