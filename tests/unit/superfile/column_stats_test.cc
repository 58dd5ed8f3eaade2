#include "infino/superfile/column_stats.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_decimal.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/superfile/random_arrays.h"

namespace infino {
namespace {

ColumnStats StatsOf(const arrow::Array& values) {
  const auto builder = ColumnStatsBuilder::Make(5, *values.type());
  INFINO_EXPECT_OK(builder->Add(*values.Slice(0, values.length() / 2)));
  INFINO_EXPECT_OK(builder->Add(*values.Slice(values.length() / 2)));
  return builder->Finish();
}

template <typename Builder, typename Value>
ColumnStats StatsOfValues(const std::shared_ptr<arrow::DataType>& type,
                          const std::vector<std::optional<Value>>& values) {
  Builder builder(type, arrow::default_memory_pool());
  for (const auto& value : values) {
    INFINO_EXPECT_OK(value ? builder.Append(*value) : builder.AppendNull());
  }
  return StatsOf(*builder.Finish().ValueOrDie());
}

using std::string_literals::operator""s;

TEST(ColumnStats, WholeNumbersAreLittleEndianAndCompareBySign) {
  const auto stats =
      StatsOfValues<arrow::Int16Builder, int16_t>(arrow::int16(), {3, std::nullopt, -2, 700});
  EXPECT_EQ(stats.field_id, 5);
  EXPECT_EQ(stats.null_count, 1);
  ASSERT_TRUE(stats.has_bounds);
  EXPECT_TRUE(stats.min_exact && stats.max_exact);
  EXPECT_EQ(stats.min, "\xFE\xFF\xFF\xFF"s);
  EXPECT_EQ(stats.max, "\xBC\x02\0\0"s);
  const auto wide = StatsOfValues<arrow::UInt64Builder, uint64_t>(
      arrow::uint64(), {1, std::numeric_limits<uint64_t>::max()});
  EXPECT_EQ(wide.min, "\1\0\0\0\0\0\0\0"s);
  EXPECT_EQ(wide.max, std::string(8, '\xFF'));
}

TEST(ColumnStats, DatesAndSecondsAreBoundedAsParquetStoresThem) {
  constexpr int64_t kDay = 86'400'000;
  const auto dates =
      StatsOfValues<arrow::Date64Builder, int64_t>(arrow::date64(), {2 * kDay, kDay});
  EXPECT_EQ(dates.min, "\1\0\0\0"s);
  EXPECT_EQ(dates.max, "\2\0\0\0"s);
  const auto times = StatsOfValues<arrow::TimestampBuilder, int64_t>(
      arrow::timestamp(arrow::TimeUnit::SECOND), {1, 2});
  EXPECT_EQ(times.min, "\xE8\x03\0\0\0\0\0\0"s);
  EXPECT_EQ(times.max, "\xD0\x07\0\0\0\0\0\0"s);
}

TEST(ColumnStats, NaNIsNotedAndZerosCoverBothSigns) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto stats =
      StatsOfValues<arrow::DoubleBuilder, double>(arrow::float64(), {nan, 0.0, -0.0, nan});
  EXPECT_TRUE(stats.has_nan);
  ASSERT_TRUE(stats.has_bounds);
  EXPECT_EQ(stats.min, "\0\0\0\0\0\0\0\x80"s);
  EXPECT_EQ(stats.max, std::string(8, '\0'));
  const auto only_nan = StatsOfValues<arrow::DoubleBuilder, double>(arrow::float64(), {nan});
  EXPECT_TRUE(only_nan.has_nan);
  EXPECT_FALSE(only_nan.has_bounds);
}

/// A precision of 5 takes three bytes in the file, whatever it takes in memory.
template <typename Builder, typename Value>
void ExpectDecimalBounds(const std::shared_ptr<arrow::DataType>& type) {
  const auto stats = StatsOfValues<Builder, Value>(
      type, {Value(7), Value(-1), Value(300), std::nullopt, Value(0)});
  EXPECT_EQ(stats.min, "\xFF\xFF\xFF"s) << type->ToString();
  EXPECT_EQ(stats.max, "\0\1\x2C"s) << type->ToString();
}

TEST(ColumnStats, DecimalsAreBigEndianTwosComplement) {
  ExpectDecimalBounds<arrow::Decimal32Builder, arrow::Decimal32>(arrow::decimal32(5, 1));
  ExpectDecimalBounds<arrow::Decimal64Builder, arrow::Decimal64>(arrow::decimal64(5, 1));
  ExpectDecimalBounds<arrow::Decimal128Builder, arrow::Decimal128>(arrow::decimal128(5, 1));
  ExpectDecimalBounds<arrow::Decimal256Builder, arrow::Decimal256>(arrow::decimal256(5, 1));
}

TEST(ColumnStats, ColumnsWithoutValuesHaveNoBounds) {
  const auto stats = StatsOfValues<arrow::LargeStringBuilder, std::string>(
      arrow::large_utf8(), {std::nullopt, std::nullopt});
  EXPECT_EQ(stats.null_count, 2);
  EXPECT_FALSE(stats.has_bounds);
  EXPECT_EQ(StatsOf(arrow::NullArray(7)).null_count, 7);
}

TEST(ColumnStats, LongStringsAreCutAtACharacterAndRoundedUp) {
  const std::string long_text = std::string(31, 'a') + "ü" + "zz";
  const auto stats =
      StatsOfValues<arrow::StringBuilder, std::string>(arrow::utf8(), {long_text, "", "a"});
  EXPECT_EQ(stats.min, "");
  EXPECT_TRUE(stats.min_exact);
  EXPECT_EQ(stats.max, std::string(30, 'a') + "b");
  EXPECT_FALSE(stats.max_exact);
}

TEST(ColumnStats, DictionariesHaveTheBoundsOfTheirUsedValues) {
  Random random(TestSeed());
  const auto indices = RandomArray(arrow::int8(), 4, random, 0);
  arrow::Int8Builder used;
  INFINO_ASSERT_OK(used.AppendValues(std::vector<int8_t>{2, 1, 2}));
  INFINO_ASSERT_OK(used.AppendNull());
  arrow::StringBuilder entries;
  INFINO_ASSERT_OK(entries.AppendValues({"unused", "b", "c"}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto array,
                              arrow::DictionaryArray::FromArrays(
                                  arrow::dictionary(arrow::int8(), arrow::utf8()),
                                  used.Finish().ValueOrDie(), entries.Finish().ValueOrDie()));
  const auto stats = StatsOf(*array);
  EXPECT_EQ(stats.min, "b");
  EXPECT_EQ(stats.max, "c");
  EXPECT_EQ(stats.null_count, 1);
}

TEST(ColumnStats, NestedColumnsCountNullsOnly) {
  Random random(TestSeed());
  const auto lists = RandomArray(arrow::list(arrow::int32()), 50, random);
  const auto stats = StatsOf(*lists);
  EXPECT_EQ(stats.null_count, lists->null_count());
  EXPECT_FALSE(stats.has_bounds);
}

TEST(ColumnStats, EveryTypeGivesStats) {
  Random random(TestSeed());
  for (const auto& field : AllTypes()) {
    SCOPED_TRACE(field->ToString());
    const auto values = RandomArray(field->type(), 100, random);
    const auto stats = StatsOf(*values);
    EXPECT_EQ(stats.null_count, values->ComputeLogicalNullCount());
    EXPECT_EQ(stats.has_bounds,
              !arrow::is_nested(field->type()->id()) && field->type()->id() != arrow::Type::NA);
  }
}

TEST(StringBound, BoundsAnyTextAndAnyBytes) {
  Random random(TestSeed());
  for (int i = 0; i < 3000; ++i) {
    std::string text = RandomText(random, 12);
    const bool is_text = random.Below(2) == 0;
    if (!is_text || random.Below(4) == 0) {
      for (char& byte : text) {
        if (random.Below(3) == 0)
          byte = static_cast<char>(random.Below(4) == 0 ? 0xFF : random.Next());
      }
    }
    const StringBound lower = LowerBoundOf(text, is_text);
    const StringBound upper = UpperBoundOf(text, is_text);
    EXPECT_LE(lower.bound, text);
    EXPECT_LE(lower.bound.size(), kBoundLengthMax);
    EXPECT_EQ(lower.exact, lower.bound == text);
    EXPECT_LE(upper.bound.size(), kBoundLengthMax);
    if (upper.exact) {
      EXPECT_EQ(upper.bound, text);
    } else if (!upper.bound.empty()) {
      EXPECT_GT(upper.bound, text);
    }
  }
}

TEST(StringBound, CountsUpOverSurrogatesAndGivesUpAtTheLastCharacter) {
  const std::string before_surrogates = "\xED\x9F\xBF";  // U+D7FF
  const std::string tail(40, 'x');
  EXPECT_EQ(UpperBoundOf(std::string(29, 'a') + before_surrogates + tail, true).bound,
            std::string(29, 'a') + "\xEE\x80\x80");  // U+E000
  std::string last;
  for (int i = 0; i < 9; ++i) last += "\xF4\x8F\xBF\xBF";  // U+10FFFF
  EXPECT_EQ(UpperBoundOf(last, true).bound, "");
  EXPECT_FALSE(UpperBoundOf(last, true).exact);
  EXPECT_EQ(UpperBoundOf("a" + last, true).bound, "b");
  EXPECT_EQ(UpperBoundOf(std::string(40, '\xFF'), false).bound, "");
}

}  // namespace
}  // namespace infino
