#include "infino/codec/bloom_filter.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/hash.h"
#include "infino/error.h"
#include "support/matchers.h"

namespace infino {
namespace {

std::string KeyOf(std::string_view prefix, int i) {
  std::string key(prefix);
  key += std::to_string(i);
  return key;
}

double FalsePositiveRate(std::string_view prefix, int count) {
  BloomFilterBuilder builder(static_cast<uint64_t>(count));
  for (int i = 0; i < count; ++i) builder.Add(KeyOf(prefix, i));
  const std::vector<uint8_t> bytes = builder.Finish();
  const auto filter = BloomFilterView::Open(bytes, "test");
  EXPECT_THAT(filter, IsOk());
  if (!filter.ok()) return 1;
  for (int i = 0; i < count; ++i) EXPECT_TRUE(filter->MayContain(KeyOf(prefix, i)));
  constexpr int kAbsent = 100'000;
  int hits = 0;
  for (int i = 0; i < kAbsent; ++i) {
    hits += filter->MayContain(KeyOf(prefix, count + i)) ? 1 : 0;
  }
  return static_cast<double>(hits) / kAbsent;
}

TEST(BloomFilter, HasNoFalseNegativesAndUnderTwoPercentFalsePositives) {
  // Keys that differ in a few digits are what a linear hash would get wrong.
  EXPECT_LT(FalsePositiveRate("", 100'000), 0.02);
  EXPECT_LT(FalsePositiveRate("a rather long common beginning of every key ", 20'000), 0.02);
  EXPECT_LT(FalsePositiveRate("k", 1'000), 0.02);
}

TEST(BloomFilter, WithoutKeysContainsNothing) {
  BloomFilterBuilder builder(0);
  const std::vector<uint8_t> bytes = builder.Finish();
  EXPECT_EQ(bytes.size(), BloomFilterBuilder::SizeBytes(0));
  INFINO_ASSERT_OK_AND_ASSIGN(const BloomFilterView filter, BloomFilterView::Open(bytes, "test"));
  EXPECT_FALSE(filter.MayContain(""));
  EXPECT_FALSE(filter.MayContain("word"));
}

TEST(BloomFilter, BuilderStartsOverAfterFinish) {
  BloomFilterBuilder builder(100);
  builder.Add("a");
  const std::vector<uint8_t> first = builder.Finish();
  builder.Add("a");
  EXPECT_EQ(builder.Finish(), first);
  EXPECT_NE(builder.Finish(), first);
  EXPECT_EQ(first.size(), 16 + 4 * 32U);
}

TEST(BloomFilter, TruncatedOrExtendedIsCorrupt) {
  BloomFilterBuilder builder(30);
  builder.Add("word");
  std::vector<uint8_t> bytes = builder.Finish();
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(BloomFilterView::Open(ByteSpan(bytes).first(length), "test"),
                IsError(ErrorKind::kCorrupt));
  }
  bytes.push_back(0);
  EXPECT_THAT(BloomFilterView::Open(bytes, "test"), IsError(ErrorKind::kCorrupt));
}

TEST(BloomFilter, EveryFlippedByteOfTheHeaderIsNoticed) {
  BloomFilterBuilder builder(30);
  builder.Add("word");
  const std::vector<uint8_t> bytes = builder.Finish();
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> damaged = bytes;
      damaged[at] = static_cast<uint8_t>(damaged[at] ^ flip);
      const auto filter = BloomFilterView::Open(damaged, "test");
      if (at < 4 || (at >= 8 && at < 12)) {
        EXPECT_THAT(filter, IsError(ErrorKind::kCorrupt)) << at;
      } else if (at < 8) {
        EXPECT_THAT(filter, IsError(ErrorKind::kUnsupportedVersion)) << at;
      } else {
        // Reserved bytes mean nothing, and bits have no wrong value.
        ASSERT_THAT(filter, IsOk());
        static_cast<void>(filter->MayContain("word"));
      }
    }
  }
}

TEST(Hash64, IsCrc64ThroughAFinalizer) {
  // The finalizer of 0x995dc9bbdf1939fa, the published check value of CRC-64/XZ.
  uint64_t hash = 0x995dc9bbdf1939faULL;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdULL;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  hash ^= hash >> 33;
  EXPECT_EQ(Hash64(AsBytes("123456789")), hash);
}

}  // namespace
}  // namespace infino
