#include "infino/supertable/pointer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/buffer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/common/json.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/manifest/manifest_change.h"
#include "infino/manifest/root_codec.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/manifest/format_document.h"
#include "unit/manifest/sample_manifest.h"

namespace infino {
namespace {

/// The pointer after `commits` appends.
Pointer SamplePointer(Random& random, int commits) {
  VersionHolder table{*FirstVersion(SampleSchema(), RandomStamp(random))};
  Pointer pointer = NextPointer(nullptr, table.version);
  for (int i = 0; i < commits; ++i) {
    auto next = *Apply(table.base(), AppendOf({RandomSuperfile(random)}), RandomStamp(random));
    table.version = std::move(next);
    pointer = NextPointer(&pointer, table.version);
  }
  return pointer;
}

void ExpectSamePointer(const Pointer& a, const Pointer& b) {
  EXPECT_EQ(a.table_version, b.table_version);
  EXPECT_EQ(a.root, b.root);
  EXPECT_EQ(a.dropped, b.dropped);
  EXPECT_EQ(a.recent_commits, b.recent_commits);
  ASSERT_EQ(a.root_copy == nullptr, b.root_copy == nullptr);
  if (a.root_copy != nullptr) {
    EXPECT_TRUE(a.root_copy->Equals(*b.root_copy));
  }
}

TEST(Pointer, GivesBackWhatItWasGiven) {
  Random random(TestSeed());
  for (const int commits : {0, 1, 31, 32, 50}) {
    Pointer pointer = SamplePointer(random, commits);
    const auto decoded = DecodePointer(*EncodePointer(pointer), "pointer");
    ASSERT_THAT(decoded, IsOk());
    ExpectSamePointer(pointer, *decoded);
    pointer.root_copy = nullptr;
    const auto without_copy = DecodePointer(*EncodePointer(pointer), "pointer");
    ASSERT_THAT(without_copy, IsOk());
    ExpectSamePointer(pointer, *without_copy);
    const Pointer dropped = DroppedPointer(pointer, random.NextId<CommitId>());
    const auto decoded_drop = DecodePointer(*EncodePointer(dropped), "pointer");
    ASSERT_THAT(decoded_drop, IsOk());
    ExpectSamePointer(dropped, *decoded_drop);
  }
}

TEST(Pointer, KeepsTheLast32Commits) {
  Random random(TestSeed());
  EXPECT_EQ(SamplePointer(random, 0).recent_commits.size(), 1U);
  EXPECT_EQ(SamplePointer(random, 100).recent_commits.size(), Pointer::kRecentCommitsMax);
}

TEST(Pointer, ALargeRootIsNotCopied) {
  Random random(TestSeed());
  NextVersion version = *FirstVersion(SampleSchema(), RandomStamp(random));
  EXPECT_NE(NextPointer(nullptr, version).root_copy, nullptr);
  version.root_bytes = arrow::Buffer::FromString(
      std::string(static_cast<size_t>(Pointer::kRootCopyLimitBytes), ' '));
  EXPECT_EQ(NextPointer(nullptr, version).root_copy, nullptr);
}

/// A changed byte is noticed, or makes no difference to what is meant.
TEST(Pointer, NoChangedByteGivesAnotherRoot) {
  Random random(TestSeed());
  const Pointer pointer = SamplePointer(random, 3);
  const auto bytes = EncodePointer(pointer);
  for (size_t at = 0; at < static_cast<size_t>(bytes->size()); ++at) {
    const auto mask = static_cast<uint8_t>(1U << random.Below(8));
    const auto decoded = DecodePointer(*WithByteChanged(*bytes, at, mask), "pointer");
    if (!decoded.ok()) {
      EXPECT_TRUE(IsError(decoded.status(), ErrorKind::kCorrupt) ||
                  IsError(decoded.status(), ErrorKind::kUnsupportedVersion))
          << decoded.status();
      continue;
    }
    EXPECT_EQ(decoded->table_version, pointer.table_version) << "at " << at;
    EXPECT_EQ(decoded->root.name, pointer.root.name) << "at " << at;
    if (decoded->root_copy != nullptr) {
      EXPECT_TRUE(decoded->root_copy->Equals(*pointer.root_copy));
    }
  }
}

TEST(Pointer, EveryTruncationIsCorrupt) {
  Random random(TestSeed());
  const auto bytes = EncodePointer(SamplePointer(random, 3));
  for (int64_t length = 0; length < bytes->size(); ++length) {
    EXPECT_THAT(DecodePointer(*arrow::SliceBuffer(bytes, 0, length), "pointer"),
                IsError(ErrorKind::kCorrupt));
  }
}

TEST(Pointer, WhatDoesNotFitTogetherIsCorrupt) {
  using nlohmann::json;
  Random random(TestSeed());
  const auto bytes = EncodePointer(SamplePointer(random, 3));
  const auto decode = [&](auto change) {
    json document = *ParseJson(std::string_view(*bytes), "pointer");
    change(document);
    return DecodePointer(*arrow::Buffer::FromString(FormatJson(document)), "pointer");
  };
  EXPECT_THAT(decode([](json&) {}), IsOk());
  EXPECT_THAT(decode([](json& p) { p["version"] = 3; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& p) { p["version"] = 0; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& p) { p["dropped"] = true; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& p) { p["root"]["size"] = 1; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& p) { p["root_copy"] = "{}"; }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& p) { p["recent_commits"].erase(0); }), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(decode([](json& p) { p["format_version"] = 1; }),
              IsError(ErrorKind::kUnsupportedVersion));
}

TEST(PointerFormat, TheSamplePointerIsAPointer) {
  const std::string sample = CodeBlock(FormatDocument("pointer.md"), "## Example", "json");
  const auto pointer = DecodePointer(*arrow::Buffer::FromString(sample), "sample");
  ASSERT_THAT(pointer, IsOk());
  EXPECT_EQ(pointer->table_version, 2U);
  ASSERT_NE(pointer->root_copy, nullptr);
  const auto root = DecodeRoot(*pointer->root_copy, "sample");
  ASSERT_THAT(root, IsOk());
  EXPECT_EQ(root->version, 2U);
  EXPECT_EQ(std::string_view(*EncodePointer(*pointer)), sample);
}

}  // namespace
}  // namespace infino
