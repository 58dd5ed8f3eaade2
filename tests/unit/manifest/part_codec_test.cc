#include "infino/manifest/part_codec.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/root_codec.h"
#include "infino/manifest/totals.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/manifest/sample_manifest.h"

namespace infino {
namespace {

void ExpectSameEntry(const SuperfileEntry& a, const SuperfileEntry& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.size_bytes, b.size_bytes);
  EXPECT_EQ(a.open_section, b.open_section);
  EXPECT_EQ(a.footer, b.footer);
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.row_count, b.row_count);
  EXPECT_EQ(a.min_id, b.min_id);
  EXPECT_EQ(a.max_id, b.max_id);
  EXPECT_EQ(a.schema_id, b.schema_id);
  EXPECT_EQ(a.commit, b.commit);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.texts, b.texts);
  EXPECT_EQ(a.term_filters, b.term_filters);
  EXPECT_EQ(a.value_counts, b.value_counts);
  EXPECT_EQ(a.tombstones, b.tombstones);
}

void ExpectSamePart(const ManifestPart& a, const ManifestPart& b) {
  EXPECT_EQ(a.commit, b.commit);
  EXPECT_EQ(a.summaries, b.summaries);
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (size_t i = 0; i < a.entries.size(); ++i) ExpectSameEntry(a.entries[i], b.entries[i]);
}

TEST(PartCodec, GivesBackWhatItWasGiven) {
  Random random(TestSeed());
  for (const size_t count : {0U, 1U, 2U, 7U, 30U, 200U}) {
    const ManifestPart part = RandomPart(random, count);
    const auto bytes = EncodePart(part);
    ASSERT_THAT(bytes, IsOk());
    const auto decoded = DecodePart(**bytes, "part");
    ASSERT_THAT(decoded, IsOk());
    ExpectSamePart(part, *decoded);
    const auto again = EncodePart(*decoded);
    ASSERT_THAT(again, IsOk());
    EXPECT_TRUE((*again)->Equals(**bytes));
  }
}

TEST(PartCodec, AnEntryOfAnOrdinaryTableTakesAtMost600Bytes) {
  Random random(TestSeed());
  ManifestPart part;
  for (int i = 0; i < 100; ++i) {
    part.entries.push_back(RandomSuperfile(random, /*column_count=*/8, 0).entry);
  }
  const auto bytes = EncodePart(part);
  ASSERT_THAT(bytes, IsOk());
  RecordProperty("bytes_an_entry", static_cast<int>((*bytes)->size() / 100));
  EXPECT_LE((*bytes)->size() / 100, 600);
}

TEST(PartCodec, EveryChangedByteIsNoticedByTheHash) {
  Random random(TestSeed());
  const auto bytes = EncodePart(RandomPart(random, 3));
  ASSERT_THAT(bytes, IsOk());
  const ObjectRef ref = RefOfPart(**bytes);
  EXPECT_THAT(CheckContent(ref, **bytes), IsOk());
  for (size_t at = 0; at < static_cast<size_t>((*bytes)->size()); ++at) {
    const auto damaged = WithByteChanged(**bytes, at, 0x40);
    EXPECT_THAT(CheckContent(ref, *damaged), IsError(ErrorKind::kCorrupt));
  }
}

/// Without the hash some damage makes another valid part; none makes the decoder crash.
TEST(PartCodec, NoChangedByteBreaksTheDecoder) {
  Random random(TestSeed());
  const auto bytes = EncodePart(RandomPart(random, 3));
  ASSERT_THAT(bytes, IsOk());
  size_t noticed = 0;
  for (size_t at = 0; at < static_cast<size_t>((*bytes)->size()); ++at) {
    const auto mask = static_cast<uint8_t>(1U << random.Below(8));
    const auto decoded = DecodePart(*WithByteChanged(**bytes, at, mask), "part");
    if (decoded.ok()) continue;
    ++noticed;
    EXPECT_TRUE(IsError(decoded.status(), ErrorKind::kCorrupt) ||
                IsError(decoded.status(), ErrorKind::kUnsupportedVersion))
        << "at " << at << ": " << decoded.status();
  }
  EXPECT_GT(noticed, 0U);
}

TEST(PartCodec, EveryTruncationIsCorrupt) {
  Random random(TestSeed());
  const auto bytes = EncodePart(RandomPart(random, 3));
  ASSERT_THAT(bytes, IsOk());
  for (int64_t length = 0; length < (*bytes)->size(); ++length) {
    const auto cut = arrow::SliceBuffer(*bytes, 0, length);
    EXPECT_THAT(DecodePart(*cut, "part"), IsError(ErrorKind::kCorrupt)) << "length " << length;
  }
}

TEST(PartCodec, RefusesEntriesThatBreakTheirRules) {
  Random random(TestSeed());
  const auto encode = [&](auto change) {
    ManifestPart part;
    part.entries.push_back(RandomSuperfile(random).entry);
    change(part.entries[0]);
    return EncodePart(part).status();
  };
  EXPECT_THAT(encode([](SuperfileEntry&) {}), IsOk());
  EXPECT_THAT(encode([](SuperfileEntry& entry) { entry.row_count = 0; }),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(encode([](SuperfileEntry& entry) { entry.open_section.length = entry.size_bytes; }),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(encode([](SuperfileEntry& entry) { entry.footer.length = 0; }),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(encode([](SuperfileEntry& entry) {
                entry.footer.length = entry.size_bytes - entry.open_section.end() + 1;
              }),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(encode([](SuperfileEntry& entry) { entry.max_id = entry.min_id; }),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(encode([](SuperfileEntry& entry) { entry.columns[1].field_id = 1; }),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(encode([](SuperfileEntry& entry) { entry.texts[0].min_term = "zzzz"; }),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(encode([](SuperfileEntry& entry) { entry.term_filters.emplace_back(); }),
              IsError(ErrorKind::kInternal));
  EXPECT_THAT(encode([](SuperfileEntry& entry) { entry.value_counts.emplace_back(); }),
              IsError(ErrorKind::kInternal));
}

TEST(PartCodec, ASuperfileTwiceIsCorrupt) {
  Random random(TestSeed());
  ManifestPart part = RandomPart(random, 2);
  part.entries.push_back(part.entries.front());
  const auto bytes = EncodePart(part);
  ASSERT_THAT(bytes, IsOk());
  EXPECT_THAT(DecodePart(**bytes, "part"), IsError(ErrorKind::kCorrupt));
}

TEST(PartCodec, ANewerFormatIsUnsupported) {
  Random random(TestSeed());
  const auto bytes = EncodePart(RandomPart(random, 1));
  ASSERT_THAT(bytes, IsOk());
  // The version is the only value of one character in the metadata: a length of 1, then "0".
  std::string text(std::string_view{**bytes});
  const size_t at =
      text.find(std::string("\x01\0\0\0"
                            "0",
                            5));
  ASSERT_NE(at, std::string::npos);
  text[at + 4] = '1';
  EXPECT_THAT(DecodePart(*arrow::Buffer::FromString(text), "part"),
              IsError(ErrorKind::kUnsupportedVersion));
}

TEST(Totals, SumsThatDoNotFitFail) {
  ManifestTotals totals;
  totals.row_count = INT64_MAX;
  ManifestTotals more;
  more.row_count = 1;
  EXPECT_THAT(AddTotals(more, &totals), IsError(ErrorKind::kInvalidArgument));
}

}  // namespace
}  // namespace infino
