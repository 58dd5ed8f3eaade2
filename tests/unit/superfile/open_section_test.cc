#include "infino/superfile/open_section.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "support/matchers.h"

namespace infino {
namespace {

const std::vector<uint8_t> kFirstPart = {1, 2, 3};
constexpr ByteRange kPlace{.offset = 500, .length = 0};

OpenSection Sample() {
  OpenSection section{.id = {}, .row_count = 9, .body_length = 300, .regions = {}, .parts = {}};
  section.id.bytes.fill(7);
  section.regions = {{.kind = RegionKind::kText,
                      .field_id = 3,
                      .place = {.offset = 300, .length = 100},
                      .checksum = 11},
                     {.kind = RegionKind::kRowMap,
                      .field_id = 0,
                      .place = {.offset = 400, .length = 100},
                      .checksum = 12}};
  section.parts = {{.kind = PartKind::kText, .field_id = 3, .bytes = kFirstPart},
                   {.kind = PartKind::kSchema, .field_id = 0, .bytes = {}}};
  return section;
}

std::vector<uint8_t> Encoded(const OpenSection& section) {
  ByteWriter out;
  EncodeOpenSection(section, out);
  return out.Take();
}

TEST(OpenSection, ComesBackAsEncoded) {
  const std::vector<uint8_t> bytes = Encoded(Sample());
  INFINO_ASSERT_OK_AND_ASSIGN(const OpenSection section, ParseOpenSection(bytes, kPlace, "file"));
  EXPECT_EQ(section.id, Sample().id);
  EXPECT_EQ(section.row_count, 9);
  EXPECT_EQ(section.body_length, 300);
  EXPECT_EQ(section.regions, Sample().regions);
  ASSERT_NE(section.FindPart(PartKind::kText, 3), nullptr);
  EXPECT_EQ(AsText(section.FindPart(PartKind::kText, 3)->bytes), AsText(kFirstPart));
  EXPECT_EQ(section.FindPart(PartKind::kText, 4), nullptr);
  EXPECT_EQ(section.FindRegion(RegionKind::kRowMap)->checksum, 12U);
}

TEST(OpenSection, PartsOfUnknownKindsArePassedOver) {
  OpenSection section = Sample();
  section.parts.push_back({.kind = static_cast<PartKind>(200), .field_id = 1, .bytes = kFirstPart});
  const std::vector<uint8_t> bytes = Encoded(section);
  EXPECT_THAT(ParseOpenSection(bytes, kPlace, "file"), IsOk());
}

TEST(OpenSection, RegionsThatOverlapOrLeaveTheFileAreCorrupt) {
  for (const ByteRange place :
       {ByteRange{.offset = 299, .length = 10}, ByteRange{.offset = 350, .length = 51},
        ByteRange{.offset = 490, .length = 11}}) {
    OpenSection section = Sample();
    section.regions[0].place = place;
    EXPECT_THAT(ParseOpenSection(Encoded(section), kPlace, "file"), IsError(ErrorKind::kCorrupt));
  }
  OpenSection section = Sample();
  section.body_length = 501;
  EXPECT_THAT(ParseOpenSection(Encoded(section), kPlace, "file"), IsError(ErrorKind::kCorrupt));
}

TEST(OpenSection, ANewerVersionIsRefusedAsSuch) {
  std::vector<uint8_t> bytes = Encoded(Sample());
  bytes[4] = 9;
  EXPECT_THAT(ParseOpenSection(bytes, kPlace, "file"), IsError(ErrorKind::kUnsupportedVersion));
}

TEST(OpenSection, EveryFlippedBitAndEveryCutIsNoticed) {
  const std::vector<uint8_t> bytes = Encoded(Sample());
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> damaged = bytes;
      damaged[i] ^= static_cast<uint8_t>(1 << bit);
      EXPECT_FALSE(ParseOpenSection(damaged, kPlace, "file").ok());
    }
  }
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(ParseOpenSection(ByteSpan(bytes).first(length), kPlace, "file"),
                IsError(ErrorKind::kCorrupt));
  }
}

/// Bytes with a right checksum may still be wrong.
TEST(OpenSection, DamageUnderARightChecksumNeverCrashes) {
  const std::vector<uint8_t> bytes = Encoded(Sample());
  for (size_t i = 0; i + 4 < bytes.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::vector<uint8_t> damaged(bytes.begin(), bytes.end() - 4);
      damaged[i] = static_cast<uint8_t>(value);
      const uint32_t checksum = Crc32c(damaged);
      for (int shift = 0; shift < 32; shift += 8) {
        damaged.push_back(static_cast<uint8_t>(checksum >> shift));
      }
      const auto section = ParseOpenSection(damaged, kPlace, "file");
      if (!section.ok()) continue;
      for (const OpenRegion& region : section->regions) EXPECT_LE(region.place.end(), 500);
    }
  }
}

}  // namespace
}  // namespace infino
