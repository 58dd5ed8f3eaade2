#include "infino/sql/sql_types.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

#include "duckdb/common/string_util.hpp"
#include "duckdb/common/types.hpp"
#include "infino/superfile/table_schema.h"

namespace infino::sql {
namespace {

using arrow::internal::checked_cast;
using duckdb::LogicalType;
using duckdb::LogicalTypeId;

LogicalType ToTimestamp(const arrow::TimestampType& type) {
  if (!type.timezone().empty()) return LogicalType::TIMESTAMP_TZ;
  switch (type.unit()) {
    case arrow::TimeUnit::SECOND:
      return LogicalType::TIMESTAMP_S;
    case arrow::TimeUnit::MILLI:
      return LogicalType::TIMESTAMP_MS;
    case arrow::TimeUnit::MICRO:
      return LogicalType::TIMESTAMP;
    default:
      return LogicalType::TIMESTAMP_NS;
  }
}

LogicalType ToDecimal(const arrow::DecimalType& type) {
  return LogicalType::DECIMAL(static_cast<uint8_t>(type.precision()),
                              static_cast<uint8_t>(type.scale()));
}

/// DuckDB's decimals have at most 38 digits.
bool IsRead(const arrow::DataType& type) {
  constexpr int32_t kDigitsMax = 38;
  if (arrow::is_decimal(type.id())) {
    return checked_cast<const arrow::DecimalType&>(type).precision() <= kDigitsMax;
  }
  return std::ranges::all_of(type.fields(),
                             [](const auto& field) { return IsRead(*field->type()); });
}

/// The name, or where it is taken, with the first number behind it that makes another; case does
/// not make one. It is taken from then on.
std::string Untaken(const std::string& name, std::set<std::string>& taken) {
  std::string untaken = name;
  for (int number = 1; !taken.insert(duckdb::StringUtil::Lower(untaken)).second; ++number) {
    untaken = name + "_" + std::to_string(number);
  }
  return untaken;
}

LogicalType ToStruct(const arrow::DataType& type) {
  duckdb::child_list_t<LogicalType> fields;
  std::set<std::string> taken;
  for (const auto& field : type.fields()) {
    fields.emplace_back(Untaken(field->name(), taken), ToLogicalType(*field->type()));
  }
  return LogicalType::STRUCT(std::move(fields));
}

std::shared_ptr<arrow::DataType> ToArrowStruct(const LogicalType& type) {
  arrow::FieldVector fields;
  for (const auto& [name, child] : duckdb::StructType::GetChildTypes(type)) {
    auto child_type = ToArrowType(child);
    if (child_type == nullptr) return nullptr;
    fields.push_back(arrow::field(name, std::move(child_type)));
  }
  return arrow::struct_(std::move(fields));
}

std::shared_ptr<arrow::DataType> ToArrowNested(const LogicalType& type) {
  switch (type.id()) {
    case LogicalTypeId::LIST: {
      auto item = ToArrowType(duckdb::ListType::GetChildType(type));
      return item == nullptr ? nullptr : arrow::list(std::move(item));
    }
    case LogicalTypeId::ARRAY: {
      auto item = ToArrowType(duckdb::ArrayType::GetChildType(type));
      return item == nullptr
                 ? nullptr
                 : arrow::fixed_size_list(std::move(item),
                                          static_cast<int32_t>(duckdb::ArrayType::GetSize(type)));
    }
    case LogicalTypeId::MAP: {
      auto key = ToArrowType(duckdb::MapType::KeyType(type));
      auto value = ToArrowType(duckdb::MapType::ValueType(type));
      return key == nullptr || value == nullptr ? nullptr
                                                : arrow::map(std::move(key), std::move(value));
    }
    case LogicalTypeId::STRUCT:
      return ToArrowStruct(type);
    default:
      return nullptr;
  }
}

}  // namespace

LogicalType ToLogicalType(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::BOOL:
      return LogicalType::BOOLEAN;
    case arrow::Type::INT8:
      return LogicalType::TINYINT;
    case arrow::Type::INT16:
      return LogicalType::SMALLINT;
    case arrow::Type::INT32:
    case arrow::Type::NA:
      return LogicalType::INTEGER;
    case arrow::Type::INT64:
    case arrow::Type::DURATION:
      return LogicalType::BIGINT;
    case arrow::Type::UINT8:
      return LogicalType::UTINYINT;
    case arrow::Type::UINT16:
      return LogicalType::USMALLINT;
    case arrow::Type::UINT32:
      return LogicalType::UINTEGER;
    case arrow::Type::UINT64:
      return LogicalType::UBIGINT;
    case arrow::Type::HALF_FLOAT:
    case arrow::Type::FLOAT:
      return LogicalType::FLOAT;
    case arrow::Type::DOUBLE:
      return LogicalType::DOUBLE;
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
      return LogicalType::VARCHAR;
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
      return LogicalType::DATE;
    case arrow::Type::TIME32:
      return LogicalType::TIME;
    case arrow::Type::TIME64:
      return checked_cast<const arrow::Time64Type&>(type).unit() == arrow::TimeUnit::MICRO
                 ? LogicalType::TIME
                 : LogicalType::TIME_NS;
    case arrow::Type::TIMESTAMP:
      return ToTimestamp(checked_cast<const arrow::TimestampType&>(type));
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
      return ToDecimal(checked_cast<const arrow::DecimalType&>(type));
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::LIST_VIEW:
    case arrow::Type::LARGE_LIST_VIEW:
      return LogicalType::LIST(ToLogicalType(*type.field(0)->type()));
    case arrow::Type::FIXED_SIZE_LIST:
      return LogicalType::ARRAY(
          ToLogicalType(*type.field(0)->type()),
          static_cast<uint32_t>(checked_cast<const arrow::FixedSizeListType&>(type).list_size()));
    case arrow::Type::MAP: {
      const auto& map = checked_cast<const arrow::MapType&>(type);
      return LogicalType::MAP(ToLogicalType(*map.key_type()), ToLogicalType(*map.item_type()));
    }
    case arrow::Type::STRUCT:
      return ToStruct(type);
    case arrow::Type::DICTIONARY:
      return ToLogicalType(*checked_cast<const arrow::DictionaryType&>(type).value_type());
    default:
      return LogicalType::BLOB;
  }
}

std::shared_ptr<arrow::DataType> ToArrowType(const LogicalType& type) {
  switch (type.id()) {
    case LogicalTypeId::BOOLEAN:
      return arrow::boolean();
    case LogicalTypeId::TINYINT:
      return arrow::int8();
    case LogicalTypeId::SMALLINT:
      return arrow::int16();
    case LogicalTypeId::INTEGER:
      return arrow::int32();
    case LogicalTypeId::BIGINT:
    case LogicalTypeId::HUGEINT:
    case LogicalTypeId::UHUGEINT:
      return arrow::int64();
    case LogicalTypeId::UTINYINT:
      return arrow::uint8();
    case LogicalTypeId::USMALLINT:
      return arrow::uint16();
    case LogicalTypeId::UINTEGER:
      return arrow::uint32();
    case LogicalTypeId::UBIGINT:
      return arrow::uint64();
    case LogicalTypeId::FLOAT:
      return arrow::float32();
    case LogicalTypeId::DOUBLE:
      return arrow::float64();
    case LogicalTypeId::VARCHAR:
    case LogicalTypeId::CHAR:
      return arrow::large_utf8();
    case LogicalTypeId::BLOB:
      return arrow::large_binary();
    case LogicalTypeId::DATE:
      return arrow::date32();
    case LogicalTypeId::TIME:
      return arrow::time64(arrow::TimeUnit::MICRO);
    case LogicalTypeId::TIME_NS:
      return arrow::time64(arrow::TimeUnit::NANO);
    case LogicalTypeId::TIMESTAMP_SEC:
      return arrow::timestamp(arrow::TimeUnit::SECOND);
    case LogicalTypeId::TIMESTAMP_MS:
      return arrow::timestamp(arrow::TimeUnit::MILLI);
    case LogicalTypeId::TIMESTAMP:
      return arrow::timestamp(arrow::TimeUnit::MICRO);
    case LogicalTypeId::TIMESTAMP_NS:
      return arrow::timestamp(arrow::TimeUnit::NANO);
    case LogicalTypeId::TIMESTAMP_TZ:
      return arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
    case LogicalTypeId::DECIMAL:
      return arrow::decimal128(duckdb::DecimalType::GetWidth(type),
                               duckdb::DecimalType::GetScale(type));
    case LogicalTypeId::LIST:
    case LogicalTypeId::ARRAY:
    case LogicalTypeId::MAP:
    case LogicalTypeId::STRUCT:
      return ToArrowNested(type);
    default:
      return nullptr;
  }
}

std::shared_ptr<arrow::DataType> ToResultType(const arrow::DataType& declared) {
  switch (declared.id()) {
    case arrow::Type::DICTIONARY:
      return ToResultType(*checked_cast<const arrow::DictionaryType&>(declared).value_type());
    case arrow::Type::HALF_FLOAT:
    case arrow::Type::DATE64:
    case arrow::Type::TIME32:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
    case arrow::Type::FIXED_SIZE_BINARY:
      return declared.GetSharedPtr();
    default:
      return ToArrowType(ToLogicalType(declared));
  }
}

std::vector<SqlColumn> SqlColumnsOf(const TableSchema& schema, std::string_view reserved) {
  std::vector<SqlColumn> columns;
  std::set<std::string> taken = {kFileColumn, kRowColumn};
  if (!reserved.empty()) taken.insert(duckdb::StringUtil::Lower(std::string(reserved)));
  const auto add = [&](const std::string& declared, const std::shared_ptr<arrow::DataType>& type,
                       int32_t field_id) {
    columns.push_back({.name = Untaken(declared, taken),
                       .type = ToLogicalType(*type),
                       .field_id = field_id,
                       .declared = type});
  };
  add(std::string(kIdColumn), IdField()->type(), kIdFieldId);
  for (const TableColumn& column : schema.columns) {
    if (column.stored() && IsRead(*column.field->type())) {
      add(column.field->name(), column.field->type(), column.field_id);
    }
  }
  return columns;
}

}  // namespace infino::sql
