#include "infino/sql/plain_value.h"

#include <cstdint>
#include <string>

#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

#include "duckdb/common/types.hpp"
#include "duckdb/common/types/date.hpp"
#include "duckdb/common/types/datetime.hpp"
#include "duckdb/common/types/timestamp.hpp"
#include "duckdb/common/types/value.hpp"
#include "infino/common/bytes.h"
#include "infino/common/type_families.h"
#include "infino/sql/hugeint.h"
#include "infino/sql/sql_types.h"
#include "infino/superfile/value_counts.h"

namespace infino::sql {
namespace {

using arrow::internal::checked_cast;
using duckdb::LogicalTypeId;
using duckdb::Value;

constexpr int64_t kThousand = 1000;

int32_t Number32(const std::string& bytes) {
  return static_cast<int32_t>(LoadU32(AsBytes(bytes).data()));
}

int64_t Number64(const std::string& bytes) {
  return static_cast<int64_t>(LoadU64(AsBytes(bytes).data()));
}

bool IsInMicroseconds(const arrow::DataType& type) {
  return type.id() == arrow::Type::TIMESTAMP &&
         checked_cast<const arrow::TimestampType&>(type).unit() == arrow::TimeUnit::MICRO;
}

}  // namespace

bool HasPlainValues(const SqlColumn& column) {
  if (!AreValuesCounted(*column.declared)) return false;
  // What has another unit in SQL is converted, and may then be the same.
  return column.type.id() != LogicalTypeId::TIMESTAMP_TZ ||
         IsInMicroseconds(WithoutDictionary(*column.declared));
}

Value PlainValue(const SqlColumn& column, const std::string& bytes) {
  const duckdb::LogicalType& type = column.type;
  switch (type.id()) {
    case LogicalTypeId::BOOLEAN:
      return Value::BOOLEAN(bytes.front() != 0);
    case LogicalTypeId::TINYINT:
    case LogicalTypeId::SMALLINT:
    case LogicalTypeId::INTEGER:
      return Value::Numeric(type, int64_t{Number32(bytes)});
    case LogicalTypeId::UTINYINT:
    case LogicalTypeId::USMALLINT:
    case LogicalTypeId::UINTEGER:
      return Value::Numeric(type, int64_t{static_cast<uint32_t>(Number32(bytes))});
    case LogicalTypeId::BIGINT:
      return Value::BIGINT(Number64(bytes));
    case LogicalTypeId::UBIGINT:
      return Value::UBIGINT(static_cast<uint64_t>(Number64(bytes)));
    case LogicalTypeId::DATE:
      return Value::DATE(duckdb::date_t(Number32(bytes)));
    case LogicalTypeId::TIME:
      // Parquet has those of 32 bits in milliseconds.
      return Value::TIME(
          duckdb::dtime_t(WithoutDictionary(*column.declared).id() == arrow::Type::TIME32
                              ? int64_t{Number32(bytes)} * kThousand
                              : Number64(bytes)));
    case LogicalTypeId::TIME_NS:
      return Value::TIME_NS(duckdb::dtime_ns_t(Number64(bytes)));
    case LogicalTypeId::TIMESTAMP_SEC:
      // Parquet has no seconds.
      return Value::TIMESTAMPSEC(duckdb::timestamp_sec_t(Number64(bytes) / kThousand));
    case LogicalTypeId::TIMESTAMP_MS:
      return Value::TIMESTAMPMS(duckdb::timestamp_ms_t(Number64(bytes)));
    case LogicalTypeId::TIMESTAMP:
      return Value::TIMESTAMP(duckdb::timestamp_t(Number64(bytes)));
    case LogicalTypeId::TIMESTAMP_NS:
      return Value::TIMESTAMPNS(duckdb::timestamp_ns_t(Number64(bytes)));
    case LogicalTypeId::TIMESTAMP_TZ:
      return Value::TIMESTAMPTZ(duckdb::timestamp_tz_t(Number64(bytes)));
    case LogicalTypeId::DECIMAL:
      return Value::DECIMAL(HugeintOf(AsBytes(bytes)), duckdb::DecimalType::GetWidth(type),
                            duckdb::DecimalType::GetScale(type));
    case LogicalTypeId::VARCHAR:
      return Value(bytes);
    default:
      return Value::BLOB(AsBytes(bytes).data(), bytes.size());
  }
}

}  // namespace infino::sql
