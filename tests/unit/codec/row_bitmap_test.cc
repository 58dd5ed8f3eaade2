#include "infino/codec/row_bitmap.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

constexpr uint64_t kAnyRow = uint64_t{1} << 32;

using Docs = std::set<DocId>;

/// A set with sparse, dense and contiguous parts, so that it has all kinds of containers.
RowBitmap RandomBitmap(Random& random, Docs& docs) {
  RowBitmap bitmap;
  const uint64_t parts = random.Below(5);
  for (uint64_t part = 0; part < parts; ++part) {
    const auto base = static_cast<DocId>(random.Below(6) << 16);
    if (random.Below(2) == 0) {
      const auto begin = static_cast<DocId>(base + random.Below(1 << 16));
      const uint64_t end = begin + random.Below(20'000);
      bitmap.AddRange(begin, end);
      for (DocId doc = begin; doc < end; ++doc) docs.insert(docs.end(), doc);
    } else {
      const uint64_t count = random.Below(2) == 0 ? random.Below(50) : random.Below(12'000);
      for (uint64_t i = 0; i < count; ++i) {
        const auto doc = static_cast<DocId>(base + random.Below(1 << 16));
        bitmap.Add(doc);
        docs.insert(doc);
      }
    }
  }
  return bitmap;
}

std::vector<DocId> Sorted(const Docs& docs) {
  return {docs.begin(), docs.end()};
}

TEST(RowBitmap, BehavesLikeASet) {
  Random random(TestSeed());
  for (int round = 0; round < 40; ++round) {
    Docs a_docs;
    Docs b_docs;
    const RowBitmap a = RandomBitmap(random, a_docs);
    const RowBitmap b = RandomBitmap(random, b_docs);
    const std::vector<DocId> a_sorted = Sorted(a_docs);
    EXPECT_EQ(a.ToVector(), a_sorted);
    EXPECT_EQ(a.cardinality(), a_docs.size());
    EXPECT_EQ(a.empty(), a_docs.empty());
    for (int probe = 0; probe < 50; ++probe) {
      const auto doc = static_cast<DocId>(random.Below(7 << 16));
      EXPECT_EQ(a.Contains(doc), a_docs.contains(doc));
      const auto below = std::ranges::lower_bound(a_sorted, doc) - a_sorted.begin();
      EXPECT_EQ(a.CountBelow(doc), static_cast<uint64_t>(below));
    }
    std::vector<DocId> expected;
    std::ranges::set_union(a_docs, b_docs, std::back_inserter(expected));
    RowBitmap united = a;
    united.UnionWith(b);
    EXPECT_EQ(united.ToVector(), expected);
    expected.clear();
    std::ranges::set_intersection(a_docs, b_docs, std::back_inserter(expected));
    RowBitmap common = a;
    common.IntersectWith(b);
    EXPECT_EQ(common.ToVector(), expected);
    EXPECT_EQ(a.IntersectionCount(b), expected.size());
    EXPECT_EQ(a.Intersects(b), !expected.empty());
    expected.clear();
    std::ranges::set_difference(a_docs, b_docs, std::back_inserter(expected));
    RowBitmap rest = a;
    rest.Subtract(b);
    EXPECT_EQ(rest.ToVector(), expected);
    EXPECT_EQ(a.ToVector(), Sorted(a_docs)) << "the operands stay as they were";
  }
}

TEST(RowBitmap, IsReadBackAndEqualSetsGiveEqualBytes) {
  Random random(TestSeed());
  for (int round = 0; round < 40; ++round) {
    Docs docs;
    const RowBitmap bitmap = RandomBitmap(random, docs);
    const std::vector<uint8_t> bytes = bitmap.Serialize();
    INFINO_ASSERT_OK_AND_ASSIGN(const RowBitmap read,
                                RowBitmap::Deserialize(bytes, kAnyRow, "test"));
    EXPECT_EQ(read, bitmap);
    EXPECT_EQ(read.ToVector(), Sorted(docs));
    RowBitmap one_by_one;
    for (const DocId doc : docs) one_by_one.Add(doc);
    EXPECT_EQ(one_by_one.Serialize(), bytes);
    EXPECT_EQ(RowBitmap::Of(Sorted(docs)).Serialize(), bytes);
  }
}

TEST(RowBitmap, RejectsDocumentsPastTheLastRow) {
  RowBitmap bitmap;
  bitmap.Add(70'000);
  const std::vector<uint8_t> bytes = bitmap.Serialize();
  EXPECT_THAT(RowBitmap::Deserialize(bytes, 70'001, "test"), IsOk());
  EXPECT_THAT(RowBitmap::Deserialize(bytes, 70'000, "test"), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(RowBitmap::Deserialize(bytes, 0, "test"), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(RowBitmap::Deserialize(RowBitmap().Serialize(), 0, "test"), IsOk());
}

TEST(RowBitmap, HoldsTheLargestDocument) {
  constexpr DocId kLast = std::numeric_limits<DocId>::max();
  RowBitmap bitmap;
  bitmap.AddRange(kLast - 1, kAnyRow);
  bitmap.AddRange(5, 5);
  EXPECT_EQ(bitmap.ToVector(), (std::vector<DocId>{kLast - 1, kLast}));
  EXPECT_THAT(RowBitmap::Deserialize(bitmap.Serialize(), kAnyRow, "test"), HasValue(bitmap));
}

TEST(RowBitmap, WritesRunsThatEndTheirContainer) {
  RowBitmap bitmap;
  bitmap.AddRange(65'000, 65'536);
  bitmap.AddRange(131'071, 131'072);
  EXPECT_EQ(bitmap.cardinality(), 537U);
  EXPECT_THAT(RowBitmap::Deserialize(bitmap.Serialize(), 131'072, "test"), HasValue(bitmap));
}

TEST(RowBitmap, ForEachStopsWhenTold) {
  const RowBitmap bitmap = RowBitmap::Of({9, 3, 3, 70'000});
  std::vector<DocId> seen;
  bitmap.ForEach([&](DocId doc) {
    seen.push_back(doc);
    return seen.size() < 2;
  });
  EXPECT_EQ(seen, (std::vector<DocId>{3, 9}));
}

/// Bytes that are no bitmap are refused; bytes that happen to be another one give a sound bitmap.
void ExpectRefusedOrSound(ByteSpan bytes) {
  constexpr uint64_t kRows = 400'000;
  const auto read = RowBitmap::Deserialize(bytes, kRows, "test");
  if (!read.ok()) {
    EXPECT_THAT(read, IsError(ErrorKind::kCorrupt));
    return;
  }
  const std::vector<DocId> docs = read->ToVector();
  EXPECT_EQ(docs.size(), read->cardinality());
  EXPECT_EQ(std::ranges::adjacent_find(docs, std::greater_equal<>()), docs.end());
  EXPECT_TRUE(docs.empty() || docs.back() < kRows);
  EXPECT_EQ(RowBitmap::Of(docs), *read);
}

/// Containers: array, run, array, array, run (with runs and offsets), or only the first.
std::vector<uint8_t> SmallSample(bool with_runs) {
  RowBitmap bitmap = RowBitmap::Of({1, 5, 900, 65'535});
  if (with_runs) {
    bitmap.AddRange(70'000, 70'100);
    bitmap.AddRange(71'000, 71'050);
    bitmap.Add(140'000);
    bitmap.Add(200'000);
    bitmap.AddRange(262'144, 262'144 + 65'536);
  }
  return bitmap.Serialize();
}

TEST(RowBitmap, SurvivesEveryFlippedByte) {
  for (const bool with_runs : {false, true}) {
    const std::vector<uint8_t> bytes = SmallSample(with_runs);
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const int flip : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
        std::vector<uint8_t> damaged = bytes;
        damaged[at] = static_cast<uint8_t>(damaged[at] ^ flip);
        ExpectRefusedOrSound(damaged);
      }
    }
  }
}

TEST(RowBitmap, EveryTruncationAndExtensionIsCorrupt) {
  for (const bool with_runs : {false, true}) {
    std::vector<uint8_t> bytes = SmallSample(with_runs);
    for (size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_THAT(RowBitmap::Deserialize(ByteSpan(bytes).first(length), kAnyRow, "test"),
                  IsError(ErrorKind::kCorrupt));
    }
    bytes.push_back(0);
    EXPECT_THAT(RowBitmap::Deserialize(bytes, kAnyRow, "test"), IsError(ErrorKind::kCorrupt));
  }
}

TEST(RowBitmap, ABitsetWhoseCountIsWrongIsCorrupt) {
  RowBitmap bitmap;
  for (DocId doc = 0; doc < 60'000; doc += 3) bitmap.Add(doc);
  std::vector<uint8_t> bytes = bitmap.Serialize();
  ASSERT_GT(bytes.size(), 8192U);
  for (size_t at = 0; at < bytes.size(); at += 13) {
    std::vector<uint8_t> damaged = bytes;
    damaged[at] ^= 0x10;
    EXPECT_THAT(RowBitmap::Deserialize(damaged, kAnyRow, "test"), IsError(ErrorKind::kCorrupt))
        << at;
  }
}

TEST(RowBitmap, CopiesAreIndependent) {
  RowBitmap a = RowBitmap::Of({1});
  RowBitmap b = a;
  b.Add(2);
  EXPECT_EQ(a.ToVector(), (std::vector<DocId>{1}));
  a = b;
  EXPECT_EQ(a, b);
  const RowBitmap c = std::move(b);
  b = a;
  EXPECT_EQ(b, c);
}

}  // namespace
}  // namespace infino
