#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <arrow/type.h>

namespace infino {

/// A value of a column in Parquet's PLAIN encoding of its physical type, without a length before
/// strings, and how many rows have it.
struct ValueCount {
  std::string value;
  int64_t count = 0;

  friend bool operator==(const ValueCount&, const ValueCount&) = default;
};

/// How often each value of one stored column occurs; rows that are not counted have a null. Values
/// are whole, distinct and in bytewise order; counts are positive.
struct ValueCounts {
  int32_t field_id = 0;
  std::vector<ValueCount> values;

  friend bool operator==(const ValueCounts&, const ValueCounts&) = default;
};

/// Counting stops, for good, at a column with more than that.
struct ValueCountLimits {
  size_t values = 256;
  size_t value_bytes = 64;         ///< Of one value.
  size_t total_bytes = 16U << 10;  ///< Of all values together.
};

/// A superfile has the counts of so many columns at the most.
inline constexpr size_t kCountedColumnsMax = 32;

/// Whether a superfile can have the counts of a column of that type: not of floating point, nested
/// and extension types, and decimals of 256 bits.
[[nodiscard]] bool AreValuesCounted(const arrow::DataType& type);

/// Whether values occur often enough for their counts to be worth keeping.
[[nodiscard]] inline bool AreRepeated(const ValueCounts& counts, int64_t row_count) {
  constexpr size_t kRowsPerValue = 4;
  const size_t values = counts.values.empty() ? 1 : counts.values.size();
  return static_cast<size_t>(row_count) / kRowsPerValue >= values;
}

}  // namespace infino
