#include "infino/sql/plain_value.h"

#include <cstdint>
#include <string>

#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

#include "duckdb/common/types.hpp"
#include "duckdb/common/types/date.hpp"
#include "duckdb/common/types/datetime.hpp"
#include "duckdb/common/types/hugeint.hpp"
#include "duckdb/common/types/timestamp.hpp"
#include "duckdb/common/types/value.hpp"
#include "infino/common/bytes.h"
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

/// Big-endian two's complement.
Value Decimal(const duckdb::LogicalType& type, const std::string& bytes) {
  constexpr int kByteBits = 8;
  constexpr int kHighShift = 56;
  constexpr uint8_t kSignBit = 0x80;
  const ByteSpan digits = AsBytes(bytes);
  const bool is_negative = !digits.empty() && (digits.front() & kSignBit) != 0;
  uint64_t high = is_negative ? ~uint64_t{0} : 0;
  uint64_t low = high;
  for (const uint8_t digit : digits) {
    high = (high << kByteBits) | (low >> kHighShift);
    low = (low << kByteBits) | digit;
  }
  duckdb::hugeint_t number;
  number.upper = static_cast<int64_t>(high);
  number.lower = low;
  return Value::DECIMAL(number, duckdb::DecimalType::GetWidth(type),
                        duckdb::DecimalType::GetScale(type));
}

const arrow::DataType& ValueType(const arrow::DataType& type) {
  if (type.id() != arrow::Type::DICTIONARY) return type;
  return *checked_cast<const arrow::DictionaryType&>(type).value_type();
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
         IsInMicroseconds(ValueType(*column.declared));
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
      return Value::TIME(duckdb::dtime_t(ValueType(*column.declared).id() == arrow::Type::TIME32
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
      return Decimal(type, bytes);
    case LogicalTypeId::VARCHAR:
      return Value(bytes);
    default:
      return Value::BLOB(AsBytes(bytes).data(), bytes.size());
  }
}

}  // namespace infino::sql
