#pragma once

#include <cstdint>

#include "duckdb/common/types/decimal.hpp"
#include "duckdb/common/types/hugeint.hpp"
#include "duckdb/common/types/value.hpp"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"

namespace infino::sql {

/// A 128-bit number by its halves.
[[nodiscard]] inline duckdb::hugeint_t HugeintOf(uint64_t upper, uint64_t lower) {
  duckdb::hugeint_t number;
  number.upper = static_cast<int64_t>(upper);
  number.lower = lower;
  return number;
}

/// A number of up to 16 bytes in two's complement, sign first, as Parquet has decimals.
[[nodiscard]] inline duckdb::hugeint_t HugeintOf(ByteSpan bytes) {
  constexpr uint8_t kSignBit = 0x80;
  constexpr uint32_t kByteBits = 8;
  constexpr uint32_t kWordBits = 64;
  uint64_t upper = !bytes.empty() && (bytes.front() & kSignBit) != 0 ? ~uint64_t{0} : 0;
  uint64_t lower = upper;
  for (const uint8_t byte : bytes) {
    upper = (upper << kByteBits) | (lower >> (kWordBits - kByteBits));
    lower = (lower << kByteBits) | byte;
  }
  return HugeintOf(upper, lower);
}

/// An `_id` as SQL has it.
[[nodiscard]] inline duckdb::hugeint_t HugeintOf(const RowId& id) {
  return HugeintOf(id.high, id.low);
}

[[nodiscard]] inline duckdb::Value IdValue(const RowId& id) {
  return duckdb::Value::DECIMAL(HugeintOf(id), duckdb::Decimal::MAX_WIDTH_DECIMAL, 0);
}

}  // namespace infino::sql
