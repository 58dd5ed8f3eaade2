#include "infino/sql/parameters.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/array_base.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/scalar.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/float16.h>

#include "duckdb/common/types/value.hpp"
#include "duckdb/planner/bound_parameter_map.hpp"
#include "infino/error.h"
#include "infino/sql/sql_types.h"

namespace infino::sql {
namespace {

using arrow::internal::checked_cast;
using duckdb::Value;

template <typename ScalarType>
auto ValueOf(const arrow::Scalar& scalar) {
  return checked_cast<const ScalarType&>(scalar).value;
}

arrow::Result<Value> ToValue(const arrow::Scalar& scalar);

/// A value of a type that DuckDB makes from text without loss.
arrow::Result<Value> FromText(const arrow::Scalar& scalar) {
  return Value(scalar.ToString()).DefaultCastAs(ToLogicalType(*scalar.type));
}

arrow::Result<Value> ToList(const arrow::Scalar& scalar) {
  const auto& items = *checked_cast<const arrow::BaseListScalar&>(scalar).value;
  duckdb::vector<Value> values;
  for (int64_t i = 0; i < items.length(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const auto item, items.GetScalar(i));
    ARROW_ASSIGN_OR_RAISE(Value value, ToValue(*item));
    values.push_back(std::move(value));
  }
  return Value::LIST(ToLogicalType(*items.type()), std::move(values));
}

arrow::Result<Value> ToStruct(const arrow::Scalar& scalar) {
  const auto& fields = checked_cast<const arrow::StructScalar&>(scalar);
  duckdb::child_list_t<Value> values;
  for (int i = 0; i < scalar.type->num_fields(); ++i) {
    ARROW_ASSIGN_OR_RAISE(Value value, ToValue(*fields.value[static_cast<size_t>(i)]));
    values.emplace_back(scalar.type->field(i)->name(), std::move(value));
  }
  return Value::STRUCT(std::move(values));
}

arrow::Result<Value> ToValue(const arrow::Scalar& scalar) {
  if (!scalar.is_valid) {
    return scalar.type->id() == arrow::Type::NA ? Value() : Value(ToLogicalType(*scalar.type));
  }
  switch (scalar.type->id()) {
    case arrow::Type::BOOL:
      return Value::BOOLEAN(ValueOf<arrow::BooleanScalar>(scalar));
    case arrow::Type::INT8:
      return Value::TINYINT(ValueOf<arrow::Int8Scalar>(scalar));
    case arrow::Type::INT16:
      return Value::SMALLINT(ValueOf<arrow::Int16Scalar>(scalar));
    case arrow::Type::INT32:
      return Value::INTEGER(ValueOf<arrow::Int32Scalar>(scalar));
    case arrow::Type::INT64:
      return Value::BIGINT(ValueOf<arrow::Int64Scalar>(scalar));
    case arrow::Type::UINT8:
      return Value::UTINYINT(ValueOf<arrow::UInt8Scalar>(scalar));
    case arrow::Type::UINT16:
      return Value::USMALLINT(ValueOf<arrow::UInt16Scalar>(scalar));
    case arrow::Type::UINT32:
      return Value::UINTEGER(ValueOf<arrow::UInt32Scalar>(scalar));
    case arrow::Type::UINT64:
      return Value::UBIGINT(ValueOf<arrow::UInt64Scalar>(scalar));
    case arrow::Type::HALF_FLOAT:
      return Value::FLOAT(
          arrow::util::Float16::FromBits(ValueOf<arrow::HalfFloatScalar>(scalar)).ToFloat());
    case arrow::Type::FLOAT:
      return Value::FLOAT(ValueOf<arrow::FloatScalar>(scalar));
    case arrow::Type::DOUBLE:
      return Value::DOUBLE(ValueOf<arrow::DoubleScalar>(scalar));
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
      return Value(std::string(checked_cast<const arrow::BaseBinaryScalar&>(scalar).view()));
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
    case arrow::Type::FIXED_SIZE_BINARY: {
      const auto bytes = checked_cast<const arrow::BaseBinaryScalar&>(scalar).view();
      return Value::BLOB(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    }
    case arrow::Type::DATE64: {
      constexpr int64_t kMillisADay = 86'400'000;
      return Value::DATE(
          duckdb::date_t(static_cast<int32_t>(ValueOf<arrow::Date64Scalar>(scalar) / kMillisADay)));
    }
    case arrow::Type::DICTIONARY: {
      ARROW_ASSIGN_OR_RAISE(const auto value,
                            checked_cast<const arrow::DictionaryScalar&>(scalar).GetEncodedValue());
      return ToValue(*value);
    }
    case arrow::Type::DATE32:
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
      return FromText(scalar);
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST:
      return ToList(scalar);
    case arrow::Type::STRUCT:
      return ToStruct(scalar);
    default:
      return MakeError(ErrorKind::kInvalidArgument,
                       "SQL has no parameters of type " + scalar.type->ToString() +
                           "; durations are numbers there, decimals have up to 38 digits");
  }
}

}  // namespace

arrow::Result<duckdb::case_insensitive_map_t<duckdb::BoundParameterData>> ToParameters(
    const std::shared_ptr<arrow::RecordBatch>& row) {
  duckdb::case_insensitive_map_t<duckdb::BoundParameterData> parameters;
  if (row == nullptr) return parameters;
  if (row->num_rows() != 1) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "SQL: parameters are one row, not " + std::to_string(row->num_rows()));
  }
  for (int i = 0; i < row->num_columns(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const auto scalar, row->column(i)->GetScalar(0));
    ARROW_ASSIGN_OR_RAISE(Value value, ToValue(*scalar));
    parameters.emplace(row->column_name(i), duckdb::BoundParameterData(std::move(value)));
  }
  return parameters;
}

}  // namespace infino::sql
