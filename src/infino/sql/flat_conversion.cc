#include "infino/sql/flat_conversion.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/float16.h>

#include "duckdb/common/types.hpp"
#include "duckdb/common/types/hugeint.hpp"
#include "duckdb/common/types/string_type.hpp"
#include "duckdb/common/types/vector.hpp"
#include "infino/common/bytes.h"
#include "infino/common/type_families.h"
#include "infino/sql/hugeint.h"
#include "infino/superfile/flat_layout.h"
#include "infino/superfile/page_values.h"

namespace infino::sql {
namespace {

using arrow::internal::checked_cast;
using duckdb::FlatVector;
using duckdb::LogicalType;
using duckdb::LogicalTypeId;
using duckdb::PhysicalType;
using duckdb::string_t;
using Kind = FlatConversion::Kind;

constexpr int64_t kThousand = 1000;

bool IsSignedInteger(const LogicalType& type) {
  switch (type.id()) {
    case LogicalTypeId::TINYINT:
    case LogicalTypeId::SMALLINT:
    case LogicalTypeId::INTEGER:
    case LogicalTypeId::BIGINT:
      return true;
    default:
      return false;
  }
}

bool IsInteger(const LogicalType& type) {
  switch (type.id()) {
    case LogicalTypeId::UTINYINT:
    case LogicalTypeId::USMALLINT:
    case LogicalTypeId::UINTEGER:
    case LogicalTypeId::UBIGINT:
      return true;
    default:
      return IsSignedInteger(type);
  }
}

/// Integers of a file, also of a narrower type than the table's by now.
bool ConvertInteger(const arrow::DataType& stored, FlatConversion& conversion) {
  conversion.is_signed = arrow::is_signed_integer(stored.id());
  if (IsInteger(conversion.type)) {
    conversion.kind = Kind::kInteger;
    return true;
  }
  conversion.kind = Kind::kIntegerToDouble;
  return conversion.type.id() == LogicalTypeId::DOUBLE;
}

/// What counts time: in the unit of the file, which is the table's.
bool ConvertTime(const arrow::DataType& stored, FlatConversion& conversion) {
  conversion.kind = Kind::kInteger;
  const LogicalTypeId id = conversion.type.id();
  switch (stored.id()) {
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
      return id == LogicalTypeId::DATE;
    case arrow::Type::TIME32:  // Stored in milliseconds.
      conversion.factor = kThousand;
      return id == LogicalTypeId::TIME;
    case arrow::Type::TIME64:
      return id == (checked_cast<const arrow::Time64Type&>(stored).unit() == arrow::TimeUnit::MICRO
                        ? LogicalTypeId::TIME
                        : LogicalTypeId::TIME_NS);
    case arrow::Type::DURATION:
      return id == LogicalTypeId::BIGINT;
    case arrow::Type::TIMESTAMP:
      break;
    default:
      return false;
  }
  const auto& timestamp = checked_cast<const arrow::TimestampType&>(stored);
  if (!timestamp.timezone().empty()) {
    return timestamp.unit() == arrow::TimeUnit::MICRO && id == LogicalTypeId::TIMESTAMP_TZ;
  }
  switch (timestamp.unit()) {
    case arrow::TimeUnit::SECOND:  // Stored in milliseconds.
      conversion.divisor = kThousand;
      return id == LogicalTypeId::TIMESTAMP_SEC;
    case arrow::TimeUnit::MILLI:
      return id == LogicalTypeId::TIMESTAMP_MS;
    case arrow::TimeUnit::MICRO:
      return id == LogicalTypeId::TIMESTAMP;
    case arrow::TimeUnit::NANO:
      return id == LogicalTypeId::TIMESTAMP_NS;
  }
  return false;
}

bool ConvertDecimal(const arrow::DataType& stored, FlatConversion& conversion) {
  conversion.kind = Kind::kDecimal;
  return conversion.type.id() == LogicalTypeId::DECIMAL &&
         duckdb::DecimalType::GetScale(conversion.type) ==
             checked_cast<const arrow::DecimalType&>(stored).scale();
}

/// The kind of a conversion whose layout and type are set. False if there is none.
bool SetKind(const arrow::DataType& stored, FlatConversion& conversion) {
  const LogicalTypeId id = conversion.type.id();
  switch (stored.id()) {
    case arrow::Type::BOOL:
      conversion.kind = Kind::kBool;
      return id == LogicalTypeId::BOOLEAN;
    case arrow::Type::HALF_FLOAT:
      conversion.kind = Kind::kHalf;
      return id == LogicalTypeId::FLOAT;
    case arrow::Type::FLOAT:
      conversion.kind = id == LogicalTypeId::FLOAT ? Kind::kFloat : Kind::kFloatToDouble;
      return id == LogicalTypeId::FLOAT || id == LogicalTypeId::DOUBLE;
    case arrow::Type::DOUBLE:
      conversion.kind = Kind::kDouble;
      return id == LogicalTypeId::DOUBLE;
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
      conversion.kind = Kind::kBytes;
      return id == LogicalTypeId::VARCHAR;
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
      conversion.kind = Kind::kBytes;
      return id == LogicalTypeId::BLOB;
    case arrow::Type::FIXED_SIZE_BINARY:
      conversion.kind = Kind::kFixedBytes;
      return id == LogicalTypeId::BLOB;
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
      return ConvertDecimal(stored, conversion);
    default:
      return arrow::is_integer(stored.id()) ? ConvertInteger(stored, conversion)
                                            : ConvertTime(stored, conversion);
  }
}

template <typename T, typename Get>
void Write(const PageValues& values, const RowMove& move, duckdb::Vector& out, const Get& get) {
  T* const data = FlatVector::GetDataUnsafe<T>(out);
  if (move.from == nullptr && move.to == nullptr) {
    for (size_t i = 0; i < move.count; ++i) data[move.first_to + i] = get(move.first_from + i);
  } else if (move.to == nullptr) {
    for (size_t i = 0; i < move.count; ++i) data[move.first_to + i] = get(move.from[i]);
  } else {
    for (size_t i = 0; i < move.count; ++i) data[move.to[i]] = get(move.from[i]);
  }
  if (values.valid.empty()) return;
  duckdb::ValidityMask& mask = FlatVector::Validity(out);
  for (size_t i = 0; i < move.count; ++i) {
    const size_t from = move.from == nullptr ? move.first_from + i : move.from[i];
    if (values.valid[from] != 0) continue;
    mask.SetInvalid(move.to == nullptr ? move.first_to + i : move.to[i]);
  }
}

template <typename T>
void WriteIntegers(const FlatConversion& conversion, const PageValues& values, const RowMove& move,
                   duckdb::Vector& out) {
  const uint64_t* const numbers = values.numbers.data();
  if (conversion.divisor != 1) {
    Write<T>(values, move, out, [&](size_t row) {
      return static_cast<T>(static_cast<int64_t>(numbers[row]) / conversion.divisor);
    });
  } else if (conversion.factor != 1) {
    Write<T>(values, move, out, [&](size_t row) {
      return static_cast<T>(static_cast<int32_t>(numbers[row]) * conversion.factor);
    });
  } else if (conversion.layout.stored_width == sizeof(uint64_t)) {
    Write<T>(values, move, out, [&](size_t row) { return static_cast<T>(numbers[row]); });
  } else if (conversion.is_signed) {
    Write<T>(values, move, out,
             [&](size_t row) { return static_cast<T>(static_cast<int32_t>(numbers[row])); });
  } else {
    Write<T>(values, move, out,
             [&](size_t row) { return static_cast<T>(static_cast<uint32_t>(numbers[row])); });
  }
}

void WriteDoubles(const FlatConversion& conversion, const PageValues& values, const RowMove& move,
                  duckdb::Vector& out) {
  const uint64_t* const numbers = values.numbers.data();
  if (conversion.is_signed) {
    Write<double>(values, move, out, [&](size_t row) {
      return static_cast<double>(static_cast<int32_t>(numbers[row]));
    });
  } else {
    Write<double>(values, move, out, [&](size_t row) {
      return static_cast<double>(static_cast<uint32_t>(numbers[row]));
    });
  }
}

template <typename T>
void WriteDecimals(const FlatConversion& conversion, const PageValues& values, const RowMove& move,
                   duckdb::Vector& out) {
  const size_t width = conversion.layout.stored_width;
  const uint8_t* const bytes = values.fixed.data();
  Write<T>(values, move, out, [&](size_t row) {
    const duckdb::hugeint_t number = HugeintOf(ByteSpan(bytes + (row * width), width));
    if constexpr (std::is_same_v<T, duckdb::hugeint_t>) {
      return number;
    } else {
      return static_cast<T>(number.lower);
    }
  });
}

string_t ToString(ByteSpan bytes) {
  return {AsText(bytes).data(), static_cast<uint32_t>(bytes.size())};
}

/// Calls `write` with a value of the type in which vectors hold integers and decimals.
template <typename Visit>
void VisitNumber(PhysicalType type, const Visit& visit) {
  switch (type) {
    case PhysicalType::INT8:
      return visit(int8_t{});
    case PhysicalType::INT16:
      return visit(int16_t{});
    case PhysicalType::INT32:
      return visit(int32_t{});
    case PhysicalType::INT64:
      return visit(int64_t{});
    case PhysicalType::UINT8:
      return visit(uint8_t{});
    case PhysicalType::UINT16:
      return visit(uint16_t{});
    case PhysicalType::UINT32:
      return visit(uint32_t{});
    default:
      return visit(uint64_t{});
  }
}

}  // namespace

std::optional<FlatConversion> ConversionOf(const arrow::Field& stored,
                                           const arrow::DataType& declared,
                                           const LogicalType& type) {
  const std::optional<FlatLayout> layout = FlatLayoutOf(stored);
  if (!layout) return std::nullopt;
  const arrow::DataType& from = WithoutDictionary(*stored.type());
  const arrow::DataType& to = WithoutDictionary(declared);
  FlatConversion conversion{.layout = *layout, .type = type};
  if (!SetKind(from, conversion)) return std::nullopt;
  // Units of time and lengths of binaries don't change; what is else of another type was widened.
  const bool is_number =
      arrow::is_integer(from.id()) || arrow::is_floating(from.id()) || arrow::is_decimal(from.id());
  const bool is_bytes = conversion.kind == Kind::kBytes;
  if (!is_number && !is_bytes && !from.Equals(to)) return std::nullopt;
  return conversion;
}

void WriteValues(const FlatConversion& conversion, const PageValues& values, const RowMove& move,
                 duckdb::Vector& out) {
  const uint8_t* const fixed = values.fixed.data();
  const size_t width = conversion.layout.stored_width;
  const PhysicalType physical = conversion.type.InternalType();
  switch (conversion.kind) {
    case Kind::kBool:
      return Write<bool>(values, move, out, [&](size_t row) { return values.numbers[row] != 0; });
    case Kind::kInteger:
      return VisitNumber(physical, [&](auto number) {
        WriteIntegers<decltype(number)>(conversion, values, move, out);
      });
    case Kind::kIntegerToDouble:
      return WriteDoubles(conversion, values, move, out);
    case Kind::kFloat:
      return Write<float>(values, move, out, [&](size_t row) {
        return std::bit_cast<float>(LoadU32(fixed + (row * sizeof(float))));
      });
    case Kind::kFloatToDouble:
      return Write<double>(values, move, out, [&](size_t row) {
        return static_cast<double>(std::bit_cast<float>(LoadU32(fixed + (row * sizeof(float)))));
      });
    case Kind::kDouble:
      return Write<double>(values, move, out, [&](size_t row) {
        return std::bit_cast<double>(LoadU64(fixed + (row * sizeof(double))));
      });
    case Kind::kHalf:
      return Write<float>(values, move, out, [&](size_t row) {
        return arrow::util::Float16::FromBits(LoadU16(fixed + (row * width))).ToFloat();
      });
    case Kind::kDecimal:
      if (physical == PhysicalType::INT128) {
        return WriteDecimals<duckdb::hugeint_t>(conversion, values, move, out);
      }
      return VisitNumber(physical, [&](auto number) {
        WriteDecimals<decltype(number)>(conversion, values, move, out);
      });
    case Kind::kBytes:
      return Write<string_t>(values, move, out,
                             [&](size_t row) { return ToString(values.bytes[row]); });
    case Kind::kFixedBytes:
      return Write<string_t>(values, move, out, [&](size_t row) {
        return ToString(values.fixed.subspan(row * width, width));
      });
  }
}

void WriteIndexed(const PageValues& values, const duckdb::Vector& dictionary, const RowMove& move,
                  duckdb::Vector& out) {
  const auto write = [&](auto value) {
    using T = decltype(value);
    const T* const entries = FlatVector::GetDataUnsafe<T>(dictionary);
    Write<T>(values, move, out, [&](size_t row) { return entries[values.indices[row]]; });
  };
  switch (dictionary.GetType().InternalType()) {
    case PhysicalType::VARCHAR:
      return write(string_t());
    case PhysicalType::INT128:
      return write(duckdb::hugeint_t());
    case PhysicalType::FLOAT:
      return write(float{});
    case PhysicalType::DOUBLE:
      return write(double{});
    case PhysicalType::BOOL:
      return write(false);
    default:
      return VisitNumber(dictionary.GetType().InternalType(), write);
  }
}

}  // namespace infino::sql
