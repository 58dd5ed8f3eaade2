#include "infino/sql/arrow_columns.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/array_decimal.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/c/bridge.h>
#include <arrow/chunked_array.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/decimal.h>
#include <arrow/util/float16.h>

#include "duckdb/common/arrow/arrow_wrapper.hpp"
#include "duckdb/common/types/data_chunk.hpp"
#include "duckdb/common/vector_operations/vector_operations.hpp"
#include "duckdb/function/table/arrow.hpp"
#include "duckdb/main/client_context.hpp"

namespace infino::sql {
namespace {

using arrow::internal::checked_cast;

template <typename Builder, typename Convert>
arrow::Result<std::shared_ptr<arrow::Array>> Rebuild(const arrow::Array& array,
                                                     const Convert& convert) {
  Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(array.length()));
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(convert(i));
    }
  }
  return builder.Finish();
}

/// The values of a type that DuckDB takes no Arrow arrays of, as it holds them.
arrow::Result<std::shared_ptr<arrow::Array>> Carried(const std::shared_ptr<arrow::Array>& array) {
  switch (array->type_id()) {
    case arrow::Type::DURATION: {
      auto data = std::make_shared<arrow::ArrayData>(*array->data());
      data->type = arrow::int64();
      return arrow::MakeArray(data);
    }
    case arrow::Type::HALF_FLOAT: {
      const auto& halves = checked_cast<const arrow::HalfFloatArray&>(*array);
      return Rebuild<arrow::FloatBuilder>(*array, [&](int64_t i) {
        return arrow::util::Float16::FromBits(halves.Value(i)).ToFloat();
      });
    }
    case arrow::Type::DECIMAL256: {
      const auto& decimals = checked_cast<const arrow::Decimal256Array&>(*array);
      const int32_t scale = checked_cast<const arrow::DecimalType&>(*array->type()).scale();
      return Rebuild<arrow::DoubleBuilder>(*array, [&](int64_t i) {
        return arrow::Decimal256(decimals.GetValue(i)).ToDouble(scale);
      });
    }
    default:
      return array;
  }
}

}  // namespace

struct ArrowColumns::Column {
  ~Column() {
    if (schema.release != nullptr) schema.release(&schema);
  }

  ArrowSchema schema = {};
  duckdb::shared_ptr<duckdb::ArrowArrayWrapper> array;
  duckdb::shared_ptr<duckdb::ArrowType> type;
  duckdb::unique_ptr<duckdb::ArrowArrayScanState> state;
};

ArrowColumns::ArrowColumns() = default;
ArrowColumns::~ArrowColumns() = default;

arrow::Status ArrowColumns::Set(duckdb::ClientContext& context, const arrow::Table& table) {
  row_count_ = table.num_rows();
  next_row_ = 0;
  columns_.clear();
  if (row_count_ == 0) return arrow::Status::OK();
  for (const std::shared_ptr<arrow::ChunkedArray>& chunks : table.columns()) {
    ARROW_ASSIGN_OR_RAISE(const auto whole, arrow::Concatenate(chunks->chunks()));
    ARROW_ASSIGN_OR_RAISE(const auto carried, Carried(whole));
    auto column = std::make_unique<Column>();
    ARROW_RETURN_NOT_OK(arrow::ExportType(*carried->type(), &column->schema));
    column->array = duckdb::make_shared_ptr<duckdb::ArrowArrayWrapper>();
    ARROW_RETURN_NOT_OK(arrow::ExportArray(*carried, &column->array->arrow_array));
    column->type = duckdb::ArrowType::GetArrowLogicalType(context, column->schema);
    column->state = duckdb::make_uniq<duckdb::ArrowArrayScanState>(context);
    column->state->owned_data = column->array;
    columns_.push_back(std::move(column));
  }
  return arrow::Status::OK();
}

void ArrowColumns::Next(duckdb::ClientContext& context, duckdb::DataChunk& chunk) {
  const int64_t count = std::min<int64_t>(row_count_ - next_row_, STANDARD_VECTOR_SIZE);
  const auto rows = static_cast<duckdb::idx_t>(count);
  for (size_t i = 0; count > 0 && i < columns_.size(); ++i) {
    Column& column = *columns_[i];
    duckdb::Vector& target = chunk.data[i];
    const duckdb::LogicalType given = column.type->GetDuckType();
    ArrowArray& array = column.array->arrow_array;
    const auto read = [&](duckdb::Vector& vector) {
      duckdb::ArrowToDuckDBConversion::SetValidityMask(
          vector, array, static_cast<duckdb::idx_t>(next_row_), rows, 0, -1);
      if (column.type->HasDictionary()) {
        duckdb::ArrowToDuckDBConversion::ColumnArrowToDuckDBDictionary(
            vector, array, static_cast<duckdb::idx_t>(next_row_), *column.state, rows,
            *column.type);
      } else {
        duckdb::ArrowToDuckDBConversion::ColumnArrowToDuckDB(vector, array,
                                                             static_cast<duckdb::idx_t>(next_row_),
                                                             *column.state, rows, *column.type);
      }
    };
    if (given == target.GetType()) {
      read(target);
    } else {
      duckdb::Vector imported(given);
      read(imported);
      if (given.id() == target.GetType().id() && !given.IsNested()) {
        target.Reinterpret(imported);
      } else {
        duckdb::VectorOperations::Cast(context, imported, target, rows);
      }
    }
  }
  next_row_ += count;
  chunk.SetCardinality(rows);
}

}  // namespace infino::sql
