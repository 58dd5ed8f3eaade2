#include "infino/superfile/value_counts.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_dict.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/superfile/column_stats.h"
#include "infino/superfile/superfile_writer.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/superfile/random_arrays.h"
#include "unit/superfile/superfile_fixture.h"

namespace infino {
namespace {

/// Rows of random ones of the values, some of them null, and how often each came.
struct Rows {
  std::shared_ptr<arrow::Array> array;
  std::map<std::string, int64_t> counts;
};

template <typename Builder>
Rows RandomRows(Random& random, const std::vector<std::string>& values, int count) {
  Rows rows;
  Builder builder;
  for (int i = 0; i < count; ++i) {
    if (random.Below(10) == 0) {
      EXPECT_THAT(builder.AppendNull(), IsOk());
      continue;
    }
    const std::string& value = values[random.Below(values.size())];
    EXPECT_THAT(builder.Append(value), IsOk());
    ++rows.counts[value];
  }
  rows.array = *builder.Finish();
  return rows;
}

std::optional<ValueCounts> CountsOf(const arrow::Array& array,
                                    const ValueCountLimits& limits = {}) {
  const auto builder = ColumnStatsBuilder::Make(3, *array.type(), limits);
  const int64_t half = array.length() / 2;
  EXPECT_THAT(builder->Add(*array.Slice(0, half)), IsOk());
  EXPECT_THAT(builder->Add(*array.Slice(half)), IsOk());
  return builder->FinishCounts();
}

std::map<std::string, int64_t> AsMap(const ValueCounts& counts) {
  std::map<std::string, int64_t> map;
  for (const ValueCount& value : counts.values) map[value.value] = value.count;
  EXPECT_EQ(map.size(), counts.values.size());
  return map;
}

std::vector<std::string> Words(Random& random, size_t count) {
  std::vector<std::string> words;
  for (size_t i = 0; i < count; ++i) {
    words.push_back(std::string(random.Below(20), 'x') + std::to_string(i));
  }
  return words;
}

TEST(ValueCounts, AreThoseOfCountingOneByOne) {
  Random random(TestSeed());
  for (const size_t size : {1U, 2U, 33U, 255U, 256U}) {
    const auto words = Words(random, size);
    for (const Rows& rows : {RandomRows<arrow::StringBuilder>(random, words, 3000),
                             RandomRows<arrow::LargeBinaryBuilder>(random, words, 3000),
                             RandomRows<arrow::StringViewBuilder>(random, words, 3000),
                             RandomRows<arrow::StringDictionary32Builder>(random, words, 3000)}) {
      const auto counts = CountsOf(*rows.array);
      ASSERT_TRUE(counts.has_value());
      EXPECT_EQ(counts->field_id, 3);
      EXPECT_EQ(AsMap(*counts), rows.counts);
    }
  }
}

TEST(ValueCounts, OfNumbersAreLittleEndian) {
  arrow::Int16Builder builder;
  for (const int value : {258, -1, 258, 0}) {
    ASSERT_THAT(builder.Append(static_cast<int16_t>(value)), IsOk());
  }
  const auto counts = CountsOf(**builder.Finish());
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(AsMap(*counts), (std::map<std::string, int64_t>{{std::string("\2\1\0\0", 4), 2},
                                                            {std::string("\0\0\0\0", 4), 1},
                                                            {std::string("\xff\xff\xff\xff"), 1}}));
}

/// Parquet has days: milliseconds of one day are one value.
TEST(ValueCounts, WhatParquetCantTellApartIsOneValue) {
  arrow::Date64Builder builder;
  for (const int64_t value : {0, 86'400'000, 86'400'001}) {
    ASSERT_THAT(builder.Append(value), IsOk());
  }
  const auto counts = CountsOf(**builder.Finish());
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(AsMap(*counts), (std::map<std::string, int64_t>{{std::string(4, '\0'), 1},
                                                            {std::string("\1\0\0\0", 4), 2}}));
}

TEST(ValueCounts, EndAtTheLimits) {
  Random random(TestSeed());
  const auto count = [&](const std::vector<std::string>& words) {
    arrow::StringBuilder builder;
    for (int i = 0; i < 2; ++i) EXPECT_THAT(builder.AppendValues(words), IsOk());
    return CountsOf(**builder.Finish()).has_value();
  };
  EXPECT_TRUE(count(Words(random, 256)));
  EXPECT_FALSE(count(Words(random, 257)));
  EXPECT_TRUE(count({std::string(64, 'x')}));
  EXPECT_FALSE(count({std::string(65, 'x')}));
  std::vector<std::string> wide;
  for (int i = 0; i < 256; ++i) {
    const std::string number = std::to_string(i);
    wide.push_back(number + std::string(64 - number.size(), 'x'));
  }
  EXPECT_TRUE(count(wide));  // 16 KiB to the byte
}

TEST(ValueCounts, ASuperfileHasThoseOfColumnsWhoseValuesRepeat) {
  const TableSchema schema =
      SchemaOf({arrow::field("unique", arrow::int32()), arrow::field("few", arrow::int32()),
                arrow::field("float", arrow::float64()), arrow::field("none", arrow::boolean())});
  const auto build = [&](int row_count) {
    arrow::Int32Builder unique;
    arrow::Int32Builder few;
    arrow::DoubleBuilder number;
    arrow::BooleanBuilder none;
    for (int i = 0; i < row_count; ++i) {
      EXPECT_THAT(unique.Append(i), IsOk());
      EXPECT_THAT(few.Append(i % 3), IsOk());
      EXPECT_THAT(number.Append(1), IsOk());
      EXPECT_THAT(none.AppendNull(), IsOk());
    }
    const auto batch = arrow::RecordBatch::Make(
        schema.ToArrow(), row_count,
        {*unique.Finish(), *few.Finish(), *number.Finish(), *none.Finish()});
    const BuiltSuperfile built = BuildFrom(schema, {batch}).ValueOrDie();
    std::vector<int32_t> fields;
    for (const ValueCounts& counts : built.value_counts) {
      fields.push_back(counts.field_id);
    }
    return fields;
  };
  EXPECT_THAT(build(12), ::testing::ElementsAre(2, 4));
  EXPECT_THAT(build(11), ::testing::ElementsAre(4));
  EXPECT_THAT(build(3), ::testing::IsEmpty());
}

TEST(ValueCounts, CountedTypesAreThoseThatAreCounted) {
  Random random(TestSeed());
  for (const auto& field : AllTypes()) {
    const auto array = RandomArray(field->type(), 50, random);
    const ValueCountLimits none{.values = 1000, .value_bytes = 1U << 20, .total_bytes = 1U << 30};
    EXPECT_EQ(CountsOf(*array, none).has_value(), AreValuesCounted(*field->type()))
        << field->type()->ToString();
  }
}

}  // namespace
}  // namespace infino
