#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "infino/superfile/superfile_summary.h"

namespace infino {

/// Whether values of the type can tell rows apart: integers, booleans, text, bytes, decimals, dates
/// and times, also in a dictionary.
[[nodiscard]] bool IsKeyType(const arrow::DataType& type);

/// The values as bytes that are equal just where the values are; nothing for a null. REQUIRES:
/// IsKeyType of the array's type.
[[nodiscard]] std::vector<std::optional<std::string>> KeysOf(const arrow::Array& values);

/// A value of KeysOf as a person reads it, for messages: cut when it is long.
[[nodiscard]] std::string DescribeKey(const std::string& key, const arrow::DataType& type);

/// Keys of one column in the order of its statistics, to rule superfiles out by.
class KeyRange {
 public:
  /// Of values of KeysOf, which outlive the range. REQUIRES: IsKeyType(type).
  KeyRange(const std::vector<std::string>& keys, const arrow::DataType& type);

  /// Whether one of the keys may lie within the bounds. True where nothing is known of the type's
  /// order.
  [[nodiscard]] bool MayOccur(const ColumnStats& stats) const;

 private:
  enum class Order : uint8_t { kUnknown, kBytes, kSigned, kUnsigned };

  /// The number in little-endian bytes, so that its order is the type's.
  [[nodiscard]] uint64_t NumberOf(const std::string& bytes) const;

  Order order_ = Order::kUnknown;
  std::vector<std::string_view> bytes_;  ///< Ascending.
  std::vector<uint64_t> numbers_;        ///< Ascending.
};

}  // namespace infino
