#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/codec/fst_builder.h"
#include "infino/codec/fst_format.h"
#include "infino/codec/fst_reader.h"
#include "infino/common/bytes.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

using ::testing::Eq;
using ::testing::Optional;

using Map = std::map<std::string, uint64_t>;

std::vector<uint8_t> BytesOf(const Map& map) {
  FstBuilder builder;
  for (const auto& [key, value] : map) EXPECT_THAT(builder.Add(key, value), IsOk());
  auto bytes = builder.Finish();
  EXPECT_THAT(bytes, IsOk());
  return bytes.ok() ? *bytes : std::vector<uint8_t>();
}

/// Few letters and short keys make the sharing deep; many make states wide.
std::string RandomKey(Random& random, uint64_t letters, size_t length_max) {
  std::string key;
  const uint64_t length = random.Below(length_max + 1);
  for (uint64_t i = 0; i < length; ++i) {
    key.push_back(
        static_cast<char>(letters == 256 ? random.Below(256) : 'a' + random.Below(letters)));
  }
  return key;
}

struct MapShape {
  uint64_t letters = 0;
  size_t length_max = 0;
  uint64_t count = 0;
  uint64_t value_bits = 0;  ///< 0: the ordinal.
};

Map RandomMap(Random& random, const MapShape& shape) {
  Map map;
  for (uint64_t i = 0; i < shape.count; ++i) {
    map[RandomKey(random, shape.letters, shape.length_max)] =
        shape.value_bits == 0 ? 0 : random.Next() >> (64 - shape.value_bits);
  }
  uint64_t ordinal = 0;
  for (auto& [key, value] : map) {
    if (shape.value_bits == 0) value = ordinal++;
  }
  return map;
}

const std::vector<MapShape>& Shapes() {
  static const std::vector<MapShape> kShapes = {
      {.letters = 2, .length_max = 8, .count = 300, .value_bits = 0},
      {.letters = 26, .length_max = 6, .count = 2000, .value_bits = 0},
      {.letters = 256, .length_max = 3, .count = 5000, .value_bits = 64},
      {.letters = 3, .length_max = 200, .count = 100, .value_bits = 20},
      {.letters = 4, .length_max = 5, .count = 1000, .value_bits = 1},
      {.letters = 256, .length_max = 1, .count = 2000, .value_bits = 33}};
  return kShapes;
}

std::optional<uint64_t> FloorIn(const Map& map, const std::string& key) {
  const auto after = map.upper_bound(key);
  return after == map.begin() ? std::nullopt : std::optional(std::prev(after)->second);
}

TEST(Fst, FindsWhatAnOrderedMapFinds) {
  Random random(TestSeed());
  for (const MapShape& shape : Shapes()) {
    const Map map = RandomMap(random, shape);
    const std::vector<uint8_t> bytes = BytesOf(map);
    INFINO_ASSERT_OK_AND_ASSIGN(const FstReader reader, FstReader::Open(bytes, "test"));
    EXPECT_EQ(reader.key_count(), map.size());
    for (const auto& [key, value] : map) {
      EXPECT_THAT(reader.Find(key), HasValue(Optional(value)));
      EXPECT_THAT(reader.FindFloor(key), HasValue(Optional(value)));
    }
    for (int probe = 0; probe < 3000; ++probe) {
      const std::string key = RandomKey(random, shape.letters, shape.length_max + 1);
      const auto found = map.find(key);
      const auto expected = found == map.end() ? std::nullopt : std::optional(found->second);
      EXPECT_THAT(reader.Find(key), HasValue(Eq(expected)));
      EXPECT_THAT(reader.FindFloor(key), HasValue(Eq(FloorIn(map, key))));
    }
  }
}

TEST(Fst, CursorWalksLikeAnOrderedMapFromAnyLowerBound) {
  Random random(TestSeed());
  for (const MapShape& shape : Shapes()) {
    const Map map = RandomMap(random, shape);
    const std::vector<uint8_t> bytes = BytesOf(map);
    INFINO_ASSERT_OK_AND_ASSIGN(const FstReader reader, FstReader::Open(bytes, "test"));
    FstReader::Cursor cursor = reader.MakeCursor();
    EXPECT_FALSE(cursor.valid());
    for (int probe = 0; probe < 300; ++probe) {
      const std::string from =
          probe == 0 ? std::string() : RandomKey(random, shape.letters, shape.length_max + 1);
      const int steps_max = probe == 0 ? std::numeric_limits<int>::max() : 10;
      INFINO_ASSERT_OK(cursor.Seek(from));
      auto expected = map.lower_bound(from);
      for (int step = 0; step < steps_max && expected != map.end(); ++step, ++expected) {
        ASSERT_TRUE(cursor.valid());
        ASSERT_EQ(cursor.key(), expected->first);
        ASSERT_EQ(cursor.value(), expected->second);
        INFINO_ASSERT_OK(cursor.Next());
      }
      EXPECT_EQ(cursor.valid(), expected != map.end());
    }
  }
}

TEST(Fst, WithoutKeysFindsNothing) {
  const std::vector<uint8_t> bytes = BytesOf({});
  EXPECT_EQ(bytes.size(), kFstHeaderBytes);
  INFINO_ASSERT_OK_AND_ASSIGN(const FstReader reader, FstReader::Open(bytes, "test"));
  EXPECT_THAT(reader.Find(""), HasValue(Eq(std::nullopt)));
  EXPECT_THAT(reader.FindFloor("x"), HasValue(Eq(std::nullopt)));
  FstReader::Cursor cursor = reader.MakeCursor();
  INFINO_ASSERT_OK(cursor.Seek(""));
  EXPECT_FALSE(cursor.valid());
}

TEST(Fst, HoldsTheEmptyKeyTheLongestKeyAndTheLargestValue) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const std::string longest(kFstKeyBytesMax, '\xff');
  const Map map = {{"", kMax}, {"a", 0}, {longest, kMax - 1}};
  const std::vector<uint8_t> bytes = BytesOf(map);
  INFINO_ASSERT_OK_AND_ASSIGN(const FstReader reader, FstReader::Open(bytes, "test"));
  for (const auto& [key, value] : map) EXPECT_THAT(reader.Find(key), HasValue(Optional(value)));
  EXPECT_THAT(reader.Find(longest + "x"), HasValue(Eq(std::nullopt)));
  EXPECT_THAT(reader.FindFloor(longest + "x"), HasValue(Optional(kMax - 1)));
  FstReader::Cursor cursor = reader.MakeCursor();
  INFINO_ASSERT_OK(cursor.Seek("b"));
  EXPECT_EQ(cursor.key(), longest);
}

TEST(FstBuilder, RejectsKeysOutOfOrderOrTooLongAndGoesOn) {
  FstBuilder builder;
  INFINO_ASSERT_OK(builder.Add("b", 1));
  EXPECT_THAT(builder.Add("b", 2), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(builder.Add("a", 2), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(builder.Add("", 2), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(builder.Add(std::string(kFstKeyBytesMax + 1, 'c'), 2),
              IsError(ErrorKind::kInvalidArgument));
  INFINO_ASSERT_OK(builder.Add("bb", 3));
  EXPECT_EQ(builder.key_count(), 2U);
  INFINO_ASSERT_OK_AND_ASSIGN(const std::vector<uint8_t> bytes, builder.Finish());
  EXPECT_EQ(bytes, BytesOf({{"b", 1}, {"bb", 3}}));
  INFINO_ASSERT_OK_AND_ASSIGN(const std::vector<uint8_t> empty, builder.Finish());
  EXPECT_EQ(empty, BytesOf({}));
}

TEST(FstBuilder, SharesPrefixesAndSuffixes) {
  Map map;
  for (int i = 0; i < 10'000; ++i) {
    std::string key = std::to_string(10'000 + i);
    key += "-the-same-end";
    map[key] = 7;
  }
  // Four states of ten transitions, one chain for the beginning and one for the end.
  EXPECT_LT(BytesOf(map).size(), 400U);
}

/// Does everything a reader can do; what comes back must be a value or kCorrupt.
void ExpectHarmless(ByteSpan bytes, const std::vector<std::string>& probes, uint64_t keys_max) {
  const auto check = [](const arrow::Status& status) {
    EXPECT_TRUE(status.ok() || IsError(status, ErrorKind::kCorrupt)) << status.ToString();
  };
  const auto reader = FstReader::Open(bytes, "test");
  if (!reader.ok()) {
    EXPECT_TRUE(IsError(reader.status(), ErrorKind::kCorrupt) ||
                IsError(reader.status(), ErrorKind::kUnsupportedVersion));
    return;
  }
  FstReader::Cursor cursor = reader->MakeCursor();
  for (const std::string& probe : probes) {
    check(reader->Find(probe).status());
    check(reader->FindFloor(probe).status());
    arrow::Status status = cursor.Seek(probe);
    std::string last;
    for (uint64_t i = 0; cursor.valid() && i < keys_max; ++i) {
      EXPECT_TRUE(i == 0 || cursor.key() > last);
      last = cursor.key();
      status = cursor.Next();
    }
    check(status);
  }
}

TEST(Fst, SurvivesEveryFlippedByte) {
  Random random(TestSeed());
  const Map map = RandomMap(random, {.letters = 3, .length_max = 6, .count = 40, .value_bits = 12});
  const std::vector<uint8_t> bytes = BytesOf(map);
  const std::vector<std::string> probes = {"", "a", "abc", "bb", "cccccc", "zz"};
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
      std::vector<uint8_t> damaged = bytes;
      damaged[at] = static_cast<uint8_t>(damaged[at] ^ flip);
      ExpectHarmless(damaged, probes, 200);
    }
  }
}

TEST(Fst, EveryTruncationAndExtensionIsCorrupt) {
  std::vector<uint8_t> bytes = BytesOf({{"fox", 1}, {"foxes", 5}, {"hen", 6}});
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(FstReader::Open(ByteSpan(bytes).first(length), "test"),
                IsError(ErrorKind::kCorrupt));
  }
  bytes.push_back(0);
  EXPECT_THAT(FstReader::Open(bytes, "test"), IsError(ErrorKind::kCorrupt));
}

TEST(Fst, NewerVersionIsUnsupported) {
  std::vector<uint8_t> bytes = BytesOf({{"fox", 1}});
  bytes[4] = 1;
  EXPECT_THAT(FstReader::Open(bytes, "test"), IsError(ErrorKind::kUnsupportedVersion));
}

/// Sixty states that each lead to the next by two labels spell 2^60 keys.
TEST(Fst, CursorStopsAtTheCountOfKeysHoweverManyTheStatesSpell) {
  ByteWriter out;
  out.WriteU32(kFstMagic);
  out.WriteU32(kFstVersion);
  out.WriteU64(3);
  out.WriteU32(0);
  out.WriteU32(0);
  out.WriteU8(kFstFinalBit);
  size_t child = kFstHeaderBytes;
  for (int i = 0; i < 60; ++i) {
    const size_t address = out.size();
    out.WriteU8(2U << kFstCountShift);
    out.WriteU8('a');
    out.WriteU8('b');
    out.WriteU8(static_cast<uint8_t>(address - child));
    out.WriteU8(static_cast<uint8_t>(address - child));
    child = address;
  }
  out.PatchU32(16, static_cast<uint32_t>(child));
  out.PatchU32(20, static_cast<uint32_t>(out.size()));
  INFINO_ASSERT_OK_AND_ASSIGN(const FstReader reader, FstReader::Open(out.bytes(), "test"));
  EXPECT_THAT(reader.Find(std::string(60, 'b')), HasValue(Optional(0U)));
  FstReader::Cursor cursor = reader.MakeCursor();
  INFINO_ASSERT_OK(cursor.Seek(""));
  INFINO_ASSERT_OK(cursor.Next());
  INFINO_ASSERT_OK(cursor.Next());
  EXPECT_THAT(cursor.Next(), IsError(ErrorKind::kCorrupt));
  EXPECT_FALSE(cursor.valid());
}

}  // namespace
}  // namespace infino
