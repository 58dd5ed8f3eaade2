#include "infino/superfile/column_stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/extension_type.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/decimal.h>
#include <arrow/util/float16.h>

#include "infino/common/bytes.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/value_counter.h"
#include "infino/superfile/value_counts.h"

namespace infino {
namespace {

using arrow::internal::checked_cast;

constexpr int64_t kMillisecondsPerDay = 86'400'000;
constexpr int64_t kMillisecondsPerSecond = 1000;

std::string Take(ByteWriter& out) {
  return std::string(AsText(out.bytes()));
}

std::string EncodeInt(int64_t value, int width) {
  ByteWriter out;
  if (width == 1) {
    out.WriteU8(static_cast<uint8_t>(value));
  } else if (width == 4) {
    out.WriteU32(static_cast<uint32_t>(value));
  } else {
    out.WriteU64(static_cast<uint64_t>(value));
  }
  return Take(out);
}

/// Parquet's decimals are big-endian two's complement, as short as the precision allows.
std::string EncodeDecimal(const arrow::Decimal256& value, int32_t precision) {
  const auto words = value.little_endian_array();
  const auto length = static_cast<size_t>(arrow::DecimalType::DecimalSize(precision));
  std::string bytes(length, '\0');
  for (size_t i = 0; i < length; ++i) {
    const uint64_t word = words[i / sizeof(uint64_t)];
    bytes[length - 1 - i] = static_cast<char>(word >> (8 * (i % sizeof(uint64_t))));
  }
  return bytes;
}

/// Counts nulls; the bounds are the subclasses' business.
class NullCounter : public ColumnStatsBuilder {
 public:
  explicit NullCounter(int32_t field_id) { stats_.field_id = field_id; }

  arrow::Status AddTimes(const arrow::Array& values, const int64_t* /*times*/) override {
    stats_.null_count += values.ComputeLogicalNullCount();
    return arrow::Status::OK();
  }

  [[nodiscard]] ColumnStats Finish() const override { return stats_; }

 protected:
  ColumnStats stats_;
};

/// Bounds of values of one Arrow type, kept as `Value`. `Traits` reads and encodes them.
template <typename Traits>
class BoundsBuilder final : public NullCounter {
 public:
  BoundsBuilder(int32_t field_id, const arrow::DataType& type, const ValueCountLimits& limits)
      : NullCounter(field_id), traits_(type), counter_(limits) {}

  arrow::Status AddTimes(const arrow::Array& values, const int64_t* times) override {
    ARROW_RETURN_NOT_OK(NullCounter::AddTimes(values, times));
    const auto& array = checked_cast<const typename Traits::ArrayType&>(values);
    for (int64_t i = 0; i < array.length(); ++i) {
      if (array.IsNull(i)) continue;
      const auto value = traits_.ValueAt(array, i);
      if constexpr (std::floating_point<std::remove_const_t<decltype(value)>>) {
        if (std::isnan(value)) {
          stats_.has_nan = true;
          continue;
        }
      }
      if (!any_ || value < min_) min_ = Value(value);
      if (!any_ || max_ < value) max_ = Value(value);
      any_ = true;
      if constexpr (Traits::kIsCounted) counter_.Add(value, times == nullptr ? 1 : times[i]);
    }
    return arrow::Status::OK();
  }

  [[nodiscard]] ColumnStats Finish() const override {
    ColumnStats stats = stats_;
    if (!any_) return stats;
    const std::optional<StringBound> min = traits_.EncodeMin(min_);
    const std::optional<StringBound> max = traits_.EncodeMax(max_);
    if (!min || !max) return stats;
    stats.has_bounds = true;
    stats.min = min->bound;
    stats.min_exact = min->exact;
    stats.max = max->bound;
    stats.max_exact = max->exact;
    return stats;
  }

  [[nodiscard]] std::optional<ValueCounts> FinishCounts() const override {
    if constexpr (!Traits::kIsCounted) {
      return std::nullopt;
    } else {
      if (counter_.gave_up()) return std::nullopt;
      ValueCounts counts{.field_id = stats_.field_id, .values = {}};
      for (const auto& [value, count] : counter_.counts()) {
        std::optional<std::string> encoded = traits_.EncodeValue(value);
        if (!encoded) return std::nullopt;
        counts.values.push_back({.value = *std::move(encoded), .count = count});
      }
      SortAndMerge(&counts.values);
      return counts;
    }
  }

 private:
  using Value = typename Traits::Value;

  /// What differs in Arrow may be the same in Parquet.
  static void SortAndMerge(std::vector<ValueCount>* values) {
    std::ranges::sort(*values, {}, &ValueCount::value);
    size_t kept = 0;
    for (size_t i = 0; i < values->size(); ++i) {
      if (kept > 0 && (*values)[kept - 1].value == (*values)[i].value) {
        (*values)[kept - 1].count += (*values)[i].count;
      } else {
        std::swap((*values)[kept++], (*values)[i]);
      }
    }
    values->resize(kept);
  }

  Traits traits_;
  ValueCounter<Value> counter_;
  bool any_ = false;
  Value min_{};
  Value max_{};
};

/// Whole numbers and everything that Parquet stores as one: `Width` bytes, times `Multiplier` or
/// by `Divisor` of what Arrow has.
template <typename Array, typename Number, int Width, int64_t Divisor = 1>
struct IntTraits {
  using ArrayType = Array;
  using Value = Number;
  static constexpr bool kIsCounted = true;

  explicit IntTraits(const arrow::DataType& type) {
    const bool seconds =
        (type.id() == arrow::Type::TIMESTAMP &&
         checked_cast<const arrow::TimestampType&>(type).unit() == arrow::TimeUnit::SECOND) ||
        (type.id() == arrow::Type::TIME32 &&
         checked_cast<const arrow::Time32Type&>(type).unit() == arrow::TimeUnit::SECOND);
    multiplier = seconds ? kMillisecondsPerSecond : 1;
  }

  [[nodiscard]] Number ValueAt(const Array& array, int64_t i) const {
    return static_cast<Number>(array.Value(i));
  }

  [[nodiscard]] std::optional<StringBound> EncodeMin(Number value) const { return Encode(value); }

  [[nodiscard]] std::optional<StringBound> EncodeMax(Number value) const { return Encode(value); }

  [[nodiscard]] std::optional<StringBound> Encode(Number value) const {
    const auto number = static_cast<int64_t>(value) / Divisor;
    if (multiplier != 1 && (number > std::numeric_limits<int64_t>::max() / multiplier ||
                            number < std::numeric_limits<int64_t>::min() / multiplier)) {
      return std::nullopt;
    }
    return StringBound{.bound = EncodeInt(number * multiplier, Width)};
  }

  [[nodiscard]] std::optional<std::string> EncodeValue(Number value) const {
    std::optional<StringBound> encoded = Encode(value);
    if (!encoded) return std::nullopt;
    return std::move(encoded->bound);
  }

  int64_t multiplier = 1;
};

/// Floating point: zeros are bounds of either sign, so that -0.0 and 0.0 both lie within.
template <typename Array, typename Number>
struct FloatTraits {
  using ArrayType = Array;
  using Value = Number;
  static constexpr bool kIsCounted = false;

  explicit FloatTraits(const arrow::DataType& /*type*/) {}

  [[nodiscard]] Number ValueAt(const Array& array, int64_t i) const {
    if constexpr (std::same_as<Array, arrow::HalfFloatArray>) {
      return arrow::util::Float16::FromBits(array.Value(i)).ToFloat();
    } else {
      return array.Value(i);
    }
  }

  [[nodiscard]] std::optional<StringBound> EncodeMin(Number value) const {
    return Encode(value == 0 ? -Number{0} : value);
  }

  [[nodiscard]] std::optional<StringBound> EncodeMax(Number value) const {
    return Encode(value == 0 ? Number{0} : value);
  }

  [[nodiscard]] std::optional<StringBound> Encode(Number value) const {
    ByteWriter out;
    if constexpr (std::same_as<Array, arrow::HalfFloatArray>) {
      out.WriteU16(arrow::util::Float16::FromFloat(value).bits());
    } else if constexpr (std::same_as<Number, float>) {
      out.WriteU32(std::bit_cast<uint32_t>(value));
    } else {
      out.WriteF64(value);
    }
    return StringBound{.bound = Take(out)};
  }
};

template <typename Array>
struct DecimalTraits {
  using ArrayType = Array;
  using Value = arrow::Decimal256;
  static constexpr bool kIsCounted = !std::same_as<Array, arrow::Decimal256Array>;

  explicit DecimalTraits(const arrow::DataType& type)
      : precision(checked_cast<const arrow::DecimalType&>(type).precision()) {}

  [[nodiscard]] Value ValueAt(const Array& array, int64_t i) const {
    using Own = arrow::TypeTraits<typename Array::TypeClass>::CType;
    return Value(arrow::BasicDecimal256(Own(array.GetValue(i))));
  }

  [[nodiscard]] std::optional<StringBound> EncodeMin(const Value& value) const {
    return StringBound{.bound = EncodeDecimal(value, precision)};
  }

  [[nodiscard]] std::optional<StringBound> EncodeMax(const Value& value) const {
    return StringBound{.bound = EncodeDecimal(value, precision)};
  }

  [[nodiscard]] std::optional<std::string> EncodeValue(const Value& value) const {
    return EncodeDecimal(value, precision);
  }

  int32_t precision;
};

template <typename Array, bool IsText>
struct StringTraits {
  using ArrayType = Array;
  using Value = std::string;
  static constexpr bool kIsCounted = true;

  explicit StringTraits(const arrow::DataType& /*type*/) {}

  [[nodiscard]] std::string_view ValueAt(const Array& array, int64_t i) const {
    return array.GetView(i);
  }

  [[nodiscard]] std::optional<StringBound> EncodeMin(const std::string& value) const {
    return LowerBoundOf(value, IsText);
  }

  [[nodiscard]] std::optional<StringBound> EncodeMax(const std::string& value) const {
    StringBound bound = UpperBoundOf(value, IsText);
    if (!bound.exact && bound.bound.empty()) return std::nullopt;
    return bound;
  }

  [[nodiscard]] std::optional<std::string> EncodeValue(const std::string& value) const {
    return value;
  }
};

/// Looks through a dictionary at the values that are used.
class DictionaryBuilderOfStats final : public ColumnStatsBuilder {
 public:
  explicit DictionaryBuilderOfStats(std::unique_ptr<ColumnStatsBuilder> values)
      : values_(std::move(values)) {}

  /// REQUIRES: each value once.
  arrow::Status AddTimes(const arrow::Array& values, const int64_t* /*times*/) override {
    const auto& array = checked_cast<const arrow::DictionaryArray&>(values);
    null_count_ += array.ComputeLogicalNullCount();
    ARROW_ASSIGN_OR_RAISE(const auto used,
                          arrow::compute::ValueCounts(arrow::Datum(array.indices()->data())));
    ARROW_ASSIGN_OR_RAISE(const auto entries,
                          arrow::compute::Take(*array.dictionary(), *used->field(0)));
    return values_->AddTimes(*entries,
                             checked_cast<const arrow::Int64Array&>(*used->field(1)).raw_values());
  }

  [[nodiscard]] ColumnStats Finish() const override {
    ColumnStats stats = values_->Finish();
    stats.null_count = null_count_;
    return stats;
  }

  [[nodiscard]] std::optional<ValueCounts> FinishCounts() const override {
    return values_->FinishCounts();
  }

 private:
  std::unique_ptr<ColumnStatsBuilder> values_;
  int64_t null_count_ = 0;
};

class ExtensionStatsBuilder final : public ColumnStatsBuilder {
 public:
  explicit ExtensionStatsBuilder(std::unique_ptr<ColumnStatsBuilder> storage)
      : storage_(std::move(storage)) {}

  arrow::Status AddTimes(const arrow::Array& values, const int64_t* times) override {
    return storage_->AddTimes(*checked_cast<const arrow::ExtensionArray&>(values).storage(), times);
  }

  [[nodiscard]] ColumnStats Finish() const override { return storage_->Finish(); }

 private:
  std::unique_ptr<ColumnStatsBuilder> storage_;
};

template <typename Traits>
std::unique_ptr<ColumnStatsBuilder> MakeBounds(int32_t field_id, const arrow::DataType& type,
                                               const ValueCountLimits& limits) {
  return std::make_unique<BoundsBuilder<Traits>>(field_id, type, limits);
}

std::unique_ptr<ColumnStatsBuilder> MakeNumeric(int32_t id, const arrow::DataType& type,
                                                const ValueCountLimits& limits) {
  switch (type.id()) {
    case arrow::Type::BOOL:
      return MakeBounds<IntTraits<arrow::BooleanArray, int64_t, 1>>(id, type, limits);
    case arrow::Type::INT8:
      return MakeBounds<IntTraits<arrow::Int8Array, int64_t, 4>>(id, type, limits);
    case arrow::Type::INT16:
      return MakeBounds<IntTraits<arrow::Int16Array, int64_t, 4>>(id, type, limits);
    case arrow::Type::INT32:
      return MakeBounds<IntTraits<arrow::Int32Array, int64_t, 4>>(id, type, limits);
    case arrow::Type::INT64:
      return MakeBounds<IntTraits<arrow::Int64Array, int64_t, 8>>(id, type, limits);
    case arrow::Type::UINT8:
      return MakeBounds<IntTraits<arrow::UInt8Array, int64_t, 4>>(id, type, limits);
    case arrow::Type::UINT16:
      return MakeBounds<IntTraits<arrow::UInt16Array, int64_t, 4>>(id, type, limits);
    case arrow::Type::UINT32:
      return MakeBounds<IntTraits<arrow::UInt32Array, int64_t, 4>>(id, type, limits);
    case arrow::Type::UINT64:
      return MakeBounds<IntTraits<arrow::UInt64Array, uint64_t, 8>>(id, type, limits);
    case arrow::Type::DATE32:
      return MakeBounds<IntTraits<arrow::Date32Array, int64_t, 4>>(id, type, limits);
    case arrow::Type::DATE64:
      return MakeBounds<IntTraits<arrow::Date64Array, int64_t, 4, kMillisecondsPerDay>>(id, type,
                                                                                        limits);
    case arrow::Type::TIME32:
      return MakeBounds<IntTraits<arrow::Time32Array, int64_t, 4>>(id, type, limits);
    case arrow::Type::TIME64:
      return MakeBounds<IntTraits<arrow::Time64Array, int64_t, 8>>(id, type, limits);
    case arrow::Type::TIMESTAMP:
      return MakeBounds<IntTraits<arrow::TimestampArray, int64_t, 8>>(id, type, limits);
    case arrow::Type::DURATION:
      return MakeBounds<IntTraits<arrow::DurationArray, int64_t, 8>>(id, type, limits);
    case arrow::Type::HALF_FLOAT:
      return MakeBounds<FloatTraits<arrow::HalfFloatArray, float>>(id, type, limits);
    case arrow::Type::FLOAT:
      return MakeBounds<FloatTraits<arrow::FloatArray, float>>(id, type, limits);
    case arrow::Type::DOUBLE:
      return MakeBounds<FloatTraits<arrow::DoubleArray, double>>(id, type, limits);
    default:
      return nullptr;
  }
}

std::unique_ptr<ColumnStatsBuilder> MakeBytes(int32_t id, const arrow::DataType& type,
                                              const ValueCountLimits& limits) {
  switch (type.id()) {
    case arrow::Type::DECIMAL32:
      return MakeBounds<DecimalTraits<arrow::Decimal32Array>>(id, type, limits);
    case arrow::Type::DECIMAL64:
      return MakeBounds<DecimalTraits<arrow::Decimal64Array>>(id, type, limits);
    case arrow::Type::DECIMAL128:
      return MakeBounds<DecimalTraits<arrow::Decimal128Array>>(id, type, limits);
    case arrow::Type::DECIMAL256:
      return MakeBounds<DecimalTraits<arrow::Decimal256Array>>(id, type, limits);
    case arrow::Type::STRING:
      return MakeBounds<StringTraits<arrow::StringArray, true>>(id, type, limits);
    case arrow::Type::LARGE_STRING:
      return MakeBounds<StringTraits<arrow::LargeStringArray, true>>(id, type, limits);
    case arrow::Type::STRING_VIEW:
      return MakeBounds<StringTraits<arrow::StringViewArray, true>>(id, type, limits);
    case arrow::Type::BINARY:
      return MakeBounds<StringTraits<arrow::BinaryArray, false>>(id, type, limits);
    case arrow::Type::LARGE_BINARY:
      return MakeBounds<StringTraits<arrow::LargeBinaryArray, false>>(id, type, limits);
    case arrow::Type::BINARY_VIEW:
      return MakeBounds<StringTraits<arrow::BinaryViewArray, false>>(id, type, limits);
    case arrow::Type::FIXED_SIZE_BINARY:
      return MakeBounds<StringTraits<arrow::FixedSizeBinaryArray, false>>(id, type, limits);
    default:
      return nullptr;
  }
}

}  // namespace

std::optional<size_t> BoundLengthOf(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::DICTIONARY:
      return BoundLengthOf(*checked_cast<const arrow::DictionaryType&>(type).value_type());
    case arrow::Type::EXTENSION:
      return BoundLengthOf(*checked_cast<const arrow::ExtensionType&>(type).storage_type());
    case arrow::Type::BOOL:
      return 1;
    case arrow::Type::HALF_FLOAT:
      return sizeof(uint16_t);
    case arrow::Type::INT8:
    case arrow::Type::INT16:
    case arrow::Type::INT32:
    case arrow::Type::UINT8:
    case arrow::Type::UINT16:
    case arrow::Type::UINT32:
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
    case arrow::Type::TIME32:
    case arrow::Type::FLOAT:
      return sizeof(uint32_t);
    case arrow::Type::INT64:
    case arrow::Type::UINT64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
    case arrow::Type::DOUBLE:
      return sizeof(uint64_t);
    default:
      break;
  }
  if (!arrow::is_decimal(type.id())) return std::nullopt;
  const int32_t precision = checked_cast<const arrow::DecimalType&>(type).precision();
  return static_cast<size_t>(arrow::DecimalType::DecimalSize(precision));
}

std::unique_ptr<ColumnStatsBuilder> ColumnStatsBuilder::Make(int32_t field_id,
                                                             const arrow::DataType& type,
                                                             const ValueCountLimits& limits) {
  if (type.id() == arrow::Type::DICTIONARY) {
    const auto& values = *checked_cast<const arrow::DictionaryType&>(type).value_type();
    return std::make_unique<DictionaryBuilderOfStats>(Make(field_id, values, limits));
  }
  if (type.id() == arrow::Type::EXTENSION) {
    const auto& storage = *checked_cast<const arrow::ExtensionType&>(type).storage_type();
    return std::make_unique<ExtensionStatsBuilder>(Make(field_id, storage, limits));
  }
  if (auto numeric = MakeNumeric(field_id, type, limits)) return numeric;
  if (auto bytes = MakeBytes(field_id, type, limits)) return bytes;
  return std::make_unique<NullCounter>(field_id);
}

}  // namespace infino
