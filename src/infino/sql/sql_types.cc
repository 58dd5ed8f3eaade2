#include "infino/sql/sql_types.h"

#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

#include "duckdb/common/extra_type_info.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/common/types.hpp"
#include "infino/superfile/table_schema.h"

namespace infino::sql {
namespace {

using arrow::internal::checked_cast;
using duckdb::LogicalType;
using duckdb::LogicalTypeId;

/// Names of carried types. Those with a parameter have it behind a colon.
constexpr std::string_view kHalf = "half_float";
constexpr std::string_view kFixedBinary = "fixed_binary";
constexpr std::string_view kDateMillis = "date_ms";
constexpr std::string_view kTimeSeconds = "time_s";
constexpr std::string_view kTimeMillis = "time_ms";
constexpr std::string_view kDuration = "duration";
constexpr std::string_view kZone = "timestamp_tz";

LogicalType Named(LogicalType type, std::string_view name, const std::string& parameter = {}) {
  type.SetAlias(std::string(name) + (parameter.empty() ? "" : ":" + parameter));
  return type;
}

/// The parameter of a carried type of that name, empty if it has none; nothing for other types.
std::optional<std::string> ParameterOf(const LogicalType& type, std::string_view name) {
  if (!type.HasAlias()) return std::nullopt;
  const std::string alias = type.GetAlias();
  if (alias == name) return "";
  const std::string prefix = std::string(name) + ":";
  if (!alias.starts_with(prefix)) return std::nullopt;
  return alias.substr(prefix.size());
}

std::string UnitName(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return "s";
    case arrow::TimeUnit::MILLI:
      return "ms";
    case arrow::TimeUnit::MICRO:
      return "us";
    default:
      return "ns";
  }
}

arrow::TimeUnit::type UnitOf(std::string_view name) {
  if (name == "s") return arrow::TimeUnit::SECOND;
  if (name == "ms") return arrow::TimeUnit::MILLI;
  return name == "us" ? arrow::TimeUnit::MICRO : arrow::TimeUnit::NANO;
}

LogicalType ToTimestamp(const arrow::TimestampType& type) {
  if (!type.timezone().empty()) {
    return Named(LogicalType::TIMESTAMP_TZ, kZone, UnitName(type.unit()) + ":" + type.timezone());
  }
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
  constexpr int32_t kDigitsMax = 38;
  if (type.precision() > kDigitsMax) return LogicalType::DOUBLE;
  return LogicalType::DECIMAL(static_cast<uint8_t>(type.precision()),
                              static_cast<uint8_t>(type.scale()));
}

LogicalType ToStruct(const arrow::DataType& type) {
  duckdb::child_list_t<LogicalType> fields;
  std::set<std::string> taken;
  for (const auto& field : type.fields()) {
    std::string name = field->name();
    for (int number = 1; !taken.insert(duckdb::StringUtil::Lower(name)).second; ++number) {
      name = field->name() + "_" + std::to_string(number);
    }
    fields.emplace_back(std::move(name), ToLogicalType(*field->type()));
  }
  return LogicalType::STRUCT(std::move(fields));
}

std::shared_ptr<arrow::DataType> ToArrowTimestamp(const LogicalType& type) {
  const std::optional<std::string> zone = ParameterOf(type, kZone);
  if (!zone) return arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
  const size_t colon = zone->find(':');
  return arrow::timestamp(UnitOf(std::string_view(*zone).substr(0, colon)),
                          zone->substr(colon + 1));
}

std::shared_ptr<arrow::DataType> ToArrowBlob(const LogicalType& type) {
  const std::optional<std::string> width = ParameterOf(type, kFixedBinary);
  if (!width) return arrow::large_binary();
  int32_t bytes = 0;
  std::from_chars(width->data(), width->data() + width->size(), bytes);
  return arrow::fixed_size_binary(bytes);
}

std::shared_ptr<arrow::DataType> ToArrowTime(const LogicalType& type) {
  if (ParameterOf(type, kTimeSeconds)) return arrow::time32(arrow::TimeUnit::SECOND);
  if (ParameterOf(type, kTimeMillis)) return arrow::time32(arrow::TimeUnit::MILLI);
  return arrow::time64(arrow::TimeUnit::MICRO);
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
      return Named(LogicalType::FLOAT, kHalf);
    case arrow::Type::FLOAT:
      return LogicalType::FLOAT;
    case arrow::Type::DOUBLE:
      return LogicalType::DOUBLE;
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
      return LogicalType::VARCHAR;
    case arrow::Type::FIXED_SIZE_BINARY:
      return Named(
          LogicalType::BLOB, kFixedBinary,
          std::to_string(checked_cast<const arrow::FixedSizeBinaryType&>(type).byte_width()));
    case arrow::Type::DATE32:
      return LogicalType::DATE;
    case arrow::Type::DATE64:
      return Named(LogicalType::DATE, kDateMillis);
    case arrow::Type::TIME32:
      return Named(LogicalType::TIME,
                   checked_cast<const arrow::Time32Type&>(type).unit() == arrow::TimeUnit::SECOND
                       ? kTimeSeconds
                       : kTimeMillis);
    case arrow::Type::TIME64:
      return checked_cast<const arrow::Time64Type&>(type).unit() == arrow::TimeUnit::MICRO
                 ? LogicalType::TIME
                 : LogicalType::TIME_NS;
    case arrow::Type::TIMESTAMP:
      return ToTimestamp(checked_cast<const arrow::TimestampType&>(type));
    case arrow::Type::DURATION:
      return Named(LogicalType::BIGINT, kDuration,
                   UnitName(checked_cast<const arrow::DurationType&>(type).unit()));
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
    case LogicalTypeId::BIGINT: {
      const std::optional<std::string> unit = ParameterOf(type, kDuration);
      return unit ? arrow::duration(UnitOf(*unit)) : arrow::int64();
    }
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
      return ParameterOf(type, kHalf) ? arrow::float16() : arrow::float32();
    case LogicalTypeId::DOUBLE:
      return arrow::float64();
    case LogicalTypeId::VARCHAR:
    case LogicalTypeId::CHAR:
      return arrow::large_utf8();
    case LogicalTypeId::BLOB:
      return ToArrowBlob(type);
    case LogicalTypeId::DATE:
      return ParameterOf(type, kDateMillis) ? arrow::date64() : arrow::date32();
    case LogicalTypeId::TIME:
      return ToArrowTime(type);
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
      return ToArrowTimestamp(type);
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

std::vector<SqlColumn> SqlColumnsOf(const TableSchema& schema, std::string_view reserved) {
  std::vector<SqlColumn> columns;
  std::set<std::string> taken = {kFileColumn, kRowColumn};
  if (!reserved.empty()) taken.insert(duckdb::StringUtil::Lower(std::string(reserved)));
  const auto add = [&](const std::string& declared, const arrow::DataType& type, int32_t field_id) {
    std::string name = declared;
    for (int number = 1; !taken.insert(duckdb::StringUtil::Lower(name)).second; ++number) {
      name = declared + "_" + std::to_string(number);
    }
    columns.push_back({.name = std::move(name), .type = ToLogicalType(type), .field_id = field_id});
  };
  add(std::string(kIdColumn), *IdField()->type(), kIdFieldId);
  for (const TableColumn& column : schema.columns) {
    if (column.stored()) add(column.field->name(), *column.field->type(), column.field_id);
  }
  return columns;
}

}  // namespace infino::sql
