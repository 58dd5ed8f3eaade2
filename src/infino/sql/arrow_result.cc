#include "infino/sql/arrow_result.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/c/bridge.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "duckdb/common/arrow/arrow_appender.hpp"
#include "duckdb/common/arrow/arrow_converter.hpp"
#include "duckdb/common/types/data_chunk.hpp"
#include "duckdb/common/vector_operations/vector_operations.hpp"
#include "duckdb/function/table/arrow/arrow_duck_schema.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/query_result.hpp"
#include "infino/common/wait.h"
#include "infino/options.h"
#include "infino/sql/conform_array.h"
#include "infino/sql/sql_types.h"

namespace infino::sql {
namespace {

using duckdb::LogicalType;
using duckdb::LogicalTypeId;

/// Rows of a batch of the result.
constexpr duckdb::idx_t kBatchRows = 60 * STANDARD_VECTOR_SIZE;

/// The type with 64-bit integers in place of 128-bit ones.
LogicalType WithoutHuge(const LogicalType& type) {
  switch (type.id()) {
    case LogicalTypeId::HUGEINT:
    case LogicalTypeId::UHUGEINT:
      return LogicalType::BIGINT;
    case LogicalTypeId::LIST:
      return LogicalType::LIST(WithoutHuge(duckdb::ListType::GetChildType(type)));
    case LogicalTypeId::ARRAY:
      return LogicalType::ARRAY(WithoutHuge(duckdb::ArrayType::GetChildType(type)),
                                static_cast<uint32_t>(duckdb::ArrayType::GetSize(type)));
    case LogicalTypeId::MAP:
      return LogicalType::MAP(WithoutHuge(duckdb::MapType::KeyType(type)),
                              WithoutHuge(duckdb::MapType::ValueType(type)));
    case LogicalTypeId::STRUCT: {
      duckdb::child_list_t<LogicalType> fields;
      for (const auto& [name, child] : duckdb::StructType::GetChildTypes(type)) {
        fields.emplace_back(name, WithoutHuge(child));
      }
      return LogicalType::STRUCT(std::move(fields));
    }
    default:
      return type;
  }
}

/// Turns chunks into record batches.
class ResultWriter {
 public:
  ResultWriter(const duckdb::QueryResult& result, duckdb::ClientContext& context)
      : context_(context), properties_(context.GetClientProperties()), given_(result.types) {
    // Texts of a batch may be longer than 2 GiB together.
    properties_.arrow_offset_size = duckdb::ArrowOffsetSize::LARGE;
    properties_.time_zone = "UTC";
    for (const LogicalType& type : given_) {
      types_.push_back(WithoutHuge(type));
      casts_ = casts_ || types_.back() != type;
    }
    if (casts_) narrowed_.Initialize(duckdb::Allocator::DefaultAllocator(), types_);
  }

  arrow::Status Start(duckdb::vector<duckdb::string> names,
                      const std::vector<std::shared_ptr<arrow::DataType>>& origins) {
    for (duckdb::string& name : names) {
      if (name == "count_star()") name = "count(*)";
    }
    duckdb::QueryResult::DeduplicateColumns(names);
    ArrowSchema exported;
    duckdb::ArrowConverter::ToArrowSchema(&exported, types_, names, properties_);
    ARROW_ASSIGN_OR_RAISE(given_schema_, arrow::ImportSchema(&exported));
    arrow::FieldVector fields;
    for (size_t i = 0; i < types_.size(); ++i) {
      auto type = ToArrowType(types_[i]);
      // A plan whose result is another's, as EXPLAIN's, has its origins in vain.
      if (origins.size() == types_.size() && origins[i] != nullptr &&
          ToLogicalType(*origins[i]) == given_[i]) {
        type = ToResultType(*origins[i]);
      }
      if (type == nullptr) type = given_schema_->field(static_cast<int>(i))->type();
      fields.push_back(arrow::field(names[i], std::move(type)));
    }
    schema_ = arrow::schema(std::move(fields));
    return arrow::Status::OK();
  }

  arrow::Status Add(duckdb::DataChunk& chunk) {
    if (chunk.size() == 0) return arrow::Status::OK();
    if (appender_ == nullptr) {
      appender_ = duckdb::make_uniq<duckdb::ArrowAppender>(
          types_, kBatchRows, properties_,
          duckdb::ArrowTypeExtensionData::GetExtensionTypes(context_, types_));
    }
    duckdb::DataChunk& narrowed = casts_ ? Narrowed(chunk) : chunk;
    appender_->Append(narrowed, 0, narrowed.size(), narrowed.size());
    return appender_->RowCount() >= kBatchRows ? Flush() : arrow::Status::OK();
  }

  arrow::Result<std::shared_ptr<arrow::Table>> Finish() {
    ARROW_RETURN_NOT_OK(Flush());
    return arrow::Table::FromRecordBatches(schema_, batches_);
  }

 private:
  duckdb::DataChunk& Narrowed(duckdb::DataChunk& chunk) {
    narrowed_.Reset();
    for (duckdb::idx_t i = 0; i < types_.size(); ++i) {
      if (types_[i] == given_[i]) {
        narrowed_.data[i].Reference(chunk.data[i]);
      } else {
        duckdb::VectorOperations::Cast(context_, chunk.data[i], narrowed_.data[i], chunk.size());
      }
    }
    narrowed_.SetCardinality(chunk.size());
    return narrowed_;
  }

  arrow::Status Flush() {
    if (appender_ == nullptr) return arrow::Status::OK();
    ArrowArray exported = appender_->Finalize();
    appender_ = nullptr;
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::RecordBatch> batch,
                          arrow::ImportRecordBatch(&exported, given_schema_));
    arrow::ArrayVector columns;
    for (int i = 0; i < batch->num_columns(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto conformed,
                            ConformArray(batch->column_data(i), schema_->field(i)->type()));
      columns.push_back(arrow::MakeArray(conformed));
    }
    batches_.push_back(arrow::RecordBatch::Make(schema_, batch->num_rows(), std::move(columns)));
    return arrow::Status::OK();
  }

  duckdb::ClientContext& context_;
  duckdb::ClientProperties properties_;
  const duckdb::vector<LogicalType> given_;
  duckdb::vector<LogicalType> types_;  // given_ without hugeint
  bool casts_ = false;
  duckdb::DataChunk narrowed_;
  std::shared_ptr<arrow::Schema> given_schema_;  // as DuckDB exports types_
  std::shared_ptr<arrow::Schema> schema_;
  duckdb::unique_ptr<duckdb::ArrowAppender> appender_;
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches_;
};

}  // namespace

arrow::Result<std::shared_ptr<arrow::Table>> ToArrowTable(
    duckdb::QueryResult& result, duckdb::ClientContext& context,
    const std::vector<std::shared_ptr<arrow::DataType>>& origins, const StopCondition& stop) {
  ResultWriter writer(result, context);
  ARROW_RETURN_NOT_OK(writer.Start(result.names, origins));
  while (auto chunk = result.Fetch()) {
    ARROW_RETURN_NOT_OK(writer.Add(*chunk));
    ARROW_RETURN_NOT_OK(CheckStop(stop));
  }
  return writer.Finish();
}

}  // namespace infino::sql
