#include "infino/manifest/value_counts_codec.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/superfile/value_counts.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/manifest/sample_manifest.h"

namespace infino {
namespace {

constexpr int32_t kField = 7;
constexpr int64_t kRows = 1'000'000;

ValueCounts RandomCounts(Random& random, size_t size) {
  std::map<std::string, int64_t> counts;
  while (counts.size() < size) {
    counts[RandomBytes(random, random.Below(65))] = 1 + static_cast<int64_t>(random.Below(3000));
  }
  ValueCounts result{.field_id = kField, .values = {}};
  for (const auto& [value, count] : counts) result.values.push_back({value, count});
  return result;
}

arrow::Result<ValueCounts> Decode(std::string_view bytes, int64_t row_count = kRows) {
  return DecodeValueCounts(AsBytes(bytes), kField, row_count, "counts");
}

TEST(ValueCountsCodec, GivesBackWhatWasWritten) {
  Random random(TestSeed());
  for (const size_t size : {size_t{0}, size_t{1}, size_t{2}, size_t{17}, size_t{256}}) {
    const ValueCounts counts = RandomCounts(random, size);
    const auto decoded = Decode(std::string_view(*EncodeValueCounts(counts)));
    ASSERT_THAT(decoded, IsOk());
    EXPECT_EQ(*decoded, counts);
  }
}

TEST(ValueCountsCodec, CutOrLongerBytesAreCorrupt) {
  Random random(TestSeed());
  const auto encoded = EncodeValueCounts(RandomCounts(random, 5));
  const std::string bytes(std::string_view{*encoded});
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(Decode(bytes.substr(0, length)), IsError(ErrorKind::kCorrupt)) << length;
  }
  EXPECT_THAT(Decode(bytes + '\0'), IsError(ErrorKind::kCorrupt));
}

TEST(ValueCountsCodec, WhatBreaksTheRulesIsCorrupt) {
  const auto decode = [](const ValueCounts& counts, int64_t row_count = kRows) {
    return Decode(std::string_view(*EncodeValueCounts(counts)), row_count).status();
  };
  EXPECT_THAT(decode({kField, {{"a", 1}, {"b", 2}}}, 3), IsOk());
  EXPECT_THAT(decode({kField, {{"a", 1}, {"b", 2}}}, 2), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode({kField, {{"a", 1}, {"a", 1}}}), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode({kField, {{"b", 1}, {"a", 1}}}), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode({kField, {{"a", 0}}}), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode({kField, {{std::string(65, 'x'), 1}}}), IsError(ErrorKind::kCorrupt));
  Random random(TestSeed());
  EXPECT_THAT(decode(RandomCounts(random, 257)), IsError(ErrorKind::kCorrupt));
}

TEST(ValueCountsCodec, AChangedByteGivesCountsOfTheRowsOrAnError) {
  Random random(TestSeed());
  const auto encoded = EncodeValueCounts(RandomCounts(random, 40));
  for (int64_t at = 0; at < encoded->size(); ++at) {
    const auto mask = static_cast<uint8_t>(1U << random.Below(8));
    const auto damaged = WithByteChanged(*encoded, static_cast<size_t>(at), mask);
    const auto decoded = Decode(std::string_view(*damaged));
    if (!decoded.ok()) {
      EXPECT_THAT(decoded, IsError(ErrorKind::kCorrupt));
      continue;
    }
    int64_t rows = 0;
    for (const ValueCount& value : decoded->values) rows += value.count;
    EXPECT_LE(rows, kRows);
  }
}

}  // namespace
}  // namespace infino
