#include "infino/commit/key_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/array_binary.h>
#include <arrow/array/array_dict.h>
#include <arrow/array/array_primitive.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/type_families.h"
#include "infino/superfile/superfile_summary.h"

namespace infino {
namespace {

using Keys = std::vector<std::optional<std::string>>;

bool IsFixedWidth(arrow::Type::type id) {
  if (arrow::is_integer(id) || arrow::is_date(id) || arrow::is_time(id)) return true;
  return id == arrow::Type::TIMESTAMP || id == arrow::Type::DURATION;
}

template <typename ArrayType>
Keys ViewsOf(const arrow::Array& array) {
  const auto& values = arrow::internal::checked_cast<const ArrayType&>(array);
  Keys keys(static_cast<size_t>(values.length()));
  for (int64_t i = 0; i < values.length(); ++i) {
    if (values.IsValid(i)) keys[static_cast<size_t>(i)].emplace(values.GetView(i));
  }
  return keys;
}

Keys FixedWidthOf(const arrow::Array& array) {
  const auto width = static_cast<size_t>(array.type()->byte_width());
  const uint8_t* const values =
      array.data()->GetValues<uint8_t>(1, array.offset() * static_cast<int64_t>(width));
  Keys keys(static_cast<size_t>(array.length()));
  for (size_t i = 0; i < keys.size(); ++i) {
    if (array.IsNull(static_cast<int64_t>(i))) continue;
    const ByteSpan bytes(values + i * width, width);
    keys[i].emplace(bytes.begin(), bytes.end());
  }
  return keys;
}

Keys BooleansOf(const arrow::Array& array) {
  const auto& values = arrow::internal::checked_cast<const arrow::BooleanArray&>(array);
  Keys keys(static_cast<size_t>(values.length()));
  for (int64_t i = 0; i < values.length(); ++i) {
    if (values.IsValid(i)) keys[static_cast<size_t>(i)].emplace(values.Value(i) ? "\1" : "\0", 1);
  }
  return keys;
}

Keys DecodedOf(const arrow::Array& array) {
  const auto& encoded = arrow::internal::checked_cast<const arrow::DictionaryArray&>(array);
  const Keys values = KeysOf(*encoded.dictionary());
  Keys keys(static_cast<size_t>(encoded.length()));
  for (int64_t i = 0; i < encoded.length(); ++i) {
    if (encoded.IsValid(i)) {
      keys[static_cast<size_t>(i)] = values[static_cast<size_t>(encoded.GetValueIndex(i))];
    }
  }
  return keys;
}

/// The number in up to 8 little-endian bytes.
uint64_t UnsignedOf(std::string_view bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bits |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  }
  return bits;
}

int64_t SignedOf(std::string_view bytes) {
  const auto unused = static_cast<unsigned>(64 - 8 * bytes.size());
  return static_cast<int64_t>(UnsignedOf(bytes) << unused) >> unused;
}

}  // namespace

bool IsKeyType(const arrow::DataType& type) {
  const arrow::Type::type id = WithoutDictionary(type).id();
  return id == arrow::Type::BOOL || IsFixedWidth(id) || IsText(id) || IsBytes(id) ||
         arrow::is_decimal(id) || id == arrow::Type::FIXED_SIZE_BINARY;
}

Keys KeysOf(const arrow::Array& values) {
  switch (values.type_id()) {
    case arrow::Type::BOOL:
      return BooleansOf(values);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return ViewsOf<arrow::BinaryArray>(values);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return ViewsOf<arrow::LargeBinaryArray>(values);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return ViewsOf<arrow::BinaryViewArray>(values);
    case arrow::Type::DICTIONARY:
      return DecodedOf(values);
    default:
      return FixedWidthOf(values);
  }
}

std::string DescribeKey(const std::string& key, const arrow::DataType& type) {
  constexpr size_t kShownMax = 64;
  const arrow::DataType& value_type = WithoutDictionary(type);
  if (IsText(value_type.id())) {
    const std::string shown = key.substr(0, kShownMax);
    return "'" + shown + (shown.size() < key.size() ? "…'" : "'");
  }
  if (value_type.id() == arrow::Type::BOOL)
    return key == std::string_view("\1", 1) ? "true" : "false";
  if (arrow::is_integer(value_type.id())) {
    return arrow::is_unsigned_integer(value_type.id()) ? std::to_string(UnsignedOf(key))
                                                       : std::to_string(SignedOf(key));
  }
  return "0x" + FormatHex(AsBytes(std::string_view(key).substr(0, kShownMax)));
}

KeyRange::KeyRange(const std::vector<std::string>& keys, const arrow::DataType& type) {
  const arrow::Type::type id = type.id();
  if (IsText(id) || IsBytes(id)) {
    order_ = Order::kBytes;
    bytes_.assign(keys.begin(), keys.end());
    std::ranges::sort(bytes_);
  } else if (arrow::is_integer(id) || id == arrow::Type::DATE32) {
    // Other times may be in another unit in the file, and so in its statistics.
    order_ = arrow::is_unsigned_integer(id) ? Order::kUnsigned : Order::kSigned;
    for (const std::string& key : keys) numbers_.push_back(NumberOf(key));
    std::ranges::sort(numbers_);
  }
}

uint64_t KeyRange::NumberOf(const std::string& bytes) const {
  if (order_ == Order::kUnsigned) return UnsignedOf(bytes);
  return static_cast<uint64_t>(SignedOf(bytes)) ^ (uint64_t{1} << 63);
}

bool KeyRange::MayOccur(const ColumnStats& stats) const {
  if (order_ == Order::kUnknown || !stats.has_bounds) return true;
  if (order_ == Order::kBytes) {
    const auto first = std::ranges::lower_bound(bytes_, stats.min);
    return first != bytes_.end() && *first <= stats.max;
  }
  const auto is_number = [](const std::string& bound) {
    return !bound.empty() && bound.size() <= sizeof(uint64_t);
  };
  if (!is_number(stats.min) || !is_number(stats.max)) return true;
  const auto first = std::ranges::lower_bound(numbers_, NumberOf(stats.min));
  return first != numbers_.end() && *first <= NumberOf(stats.max);
}

}  // namespace infino
