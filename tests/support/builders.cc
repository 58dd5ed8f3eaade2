#include "support/builders.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/chunked_array.h>
#include <arrow/record_batch.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include "infino/common/ids.h"
#include "infino/index_spec.h"

namespace infino {
namespace {

/// Calls `visit(array, i)` for every value of a column, chunk by chunk.
template <typename Array, typename Visit>
void VisitColumn(const arrow::Table& table, std::string_view name, const Visit& visit) {
  const std::shared_ptr<arrow::ChunkedArray> column = table.GetColumnByName(std::string(name));
  for (const std::shared_ptr<arrow::Array>& chunk : column->chunks()) {
    const auto& array = static_cast<const Array&>(*chunk);
    for (int64_t i = 0; i < array.length(); ++i) visit(array, i);
  }
}

}  // namespace

void MustSucceed(const arrow::Status& status) {
  if (!status.ok()) status.Abort();
}

std::shared_ptr<arrow::Schema> RowTextSchema() {
  return arrow::schema({arrow::field("row", arrow::int64(), /*nullable=*/false),
                        arrow::field("text", arrow::large_utf8())});
}

IndexSpec TextIndex(const TextIndexOptions& options) {
  IndexSpec spec;
  spec.Fts("text", options);
  return spec;
}

std::shared_ptr<arrow::RecordBatch> RowsOf(std::span<const NullableText> texts, int64_t first_row) {
  arrow::Int64Builder rows;
  arrow::LargeStringBuilder values;
  for (const NullableText& text : texts) {
    MustSucceed(rows.Append(first_row++));
    MustSucceed(text ? values.Append(*text) : values.AppendNull());
  }
  return arrow::RecordBatch::Make(RowTextSchema(), static_cast<int64_t>(texts.size()),
                                  {rows.Finish().ValueOrDie(), values.Finish().ValueOrDie()});
}

std::shared_ptr<arrow::RecordBatchReader> ReaderOf(std::shared_ptr<arrow::RecordBatch> batch) {
  std::shared_ptr<arrow::Schema> schema = batch->schema();
  return arrow::RecordBatchReader::Make({std::move(batch)}, std::move(schema)).ValueOrDie();
}

std::shared_ptr<arrow::RecordBatchReader> ReaderOf(std::span<const NullableText> texts,
                                                   int64_t first_row) {
  return ReaderOf(RowsOf(texts, first_row));
}

std::vector<size_t> CutEvenly(size_t count, size_t parts) {
  std::vector<size_t> bounds;
  for (size_t i = 0; i <= parts; ++i) bounds.push_back(count * i / parts);
  return bounds;
}

std::vector<int64_t> Int64Column(const arrow::Table& table, std::string_view name) {
  std::vector<int64_t> values;
  VisitColumn<arrow::Int64Array>(
      table, name, [&](const auto& array, int64_t i) { values.push_back(array.Value(i)); });
  return values;
}

std::vector<float> FloatColumn(const arrow::Table& table, std::string_view name) {
  std::vector<float> values;
  VisitColumn<arrow::FloatArray>(
      table, name, [&](const auto& array, int64_t i) { values.push_back(array.Value(i)); });
  return values;
}

std::vector<NullableText> TextColumn(const arrow::Table& table, std::string_view name) {
  std::vector<NullableText> values;
  VisitColumn<arrow::LargeStringArray>(table, name, [&](const auto& array, int64_t i) {
    values.push_back(array.IsNull(i) ? NullableText() : NullableText(array.GetString(i)));
  });
  return values;
}

std::vector<RowId> IdColumn(const arrow::Table& table) {
  std::vector<RowId> values;
  VisitColumn<arrow::Decimal128Array>(table, "_id", [&](const auto& array, int64_t i) {
    const arrow::Decimal128 value(array.Value(i));
    values.push_back({.high = static_cast<uint64_t>(value.high_bits()), .low = value.low_bits()});
  });
  return values;
}

}  // namespace infino
