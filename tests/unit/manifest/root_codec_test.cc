#include "infino/manifest/root_codec.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/json.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/manifest/sample_manifest.h"

namespace infino {
namespace {

/// A root with parts and a history.
NextVersion SampleVersion(Random& random, int commits) {
  NextVersion version = *FirstVersion(SampleSchema(), RandomStamp(random));
  for (int i = 0; i < commits; ++i) {
    const VersionHolder base{std::move(version)};
    version = *Apply(base.base(), AppendOf({RandomSuperfile(random)}), RandomStamp(random));
  }
  return version;
}

void ExpectSameSchema(const TableSchema& a, const TableSchema& b) {
  EXPECT_EQ(a.schema_id, b.schema_id);
  EXPECT_EQ(a.last_field_id, b.last_field_id);
  ASSERT_EQ(a.columns.size(), b.columns.size());
  for (size_t i = 0; i < a.columns.size(); ++i) {
    EXPECT_EQ(a.columns[i].field_id, b.columns[i].field_id);
    EXPECT_TRUE(a.columns[i].field->Equals(*b.columns[i].field));
    EXPECT_EQ(a.columns[i].text, b.columns[i].text);
  }
}

void ExpectSameRoot(const ManifestRoot& a, const ManifestRoot& b) {
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.commit, b.commit);
  EXPECT_EQ(a.unix_ms, b.unix_ms);
  ExpectSameSchema(a.schema, b.schema);
  EXPECT_EQ(a.schema_hash, b.schema_hash);
  EXPECT_EQ(a.totals, b.totals);
  EXPECT_EQ(a.parts, b.parts);
  EXPECT_EQ(a.parent, b.parent);
  EXPECT_EQ(a.oldest_openable_version, b.oldest_openable_version);
  EXPECT_EQ(a.versions, b.versions);
  EXPECT_EQ(a.removed, b.removed);
  EXPECT_EQ(a.term_index_runs, b.term_index_runs);
}

TEST(RootCodec, GivesBackWhatItWasGiven) {
  Random random(TestSeed());
  for (const int commits : {0, 1, 2, 40, 100}) {
    const NextVersion version = SampleVersion(random, commits);
    const auto decoded = DecodeRoot(*version.root_bytes, "root");
    ASSERT_THAT(decoded, IsOk());
    ExpectSameRoot(version.root, *decoded);
    const auto again = EncodeRoot(*decoded);
    ASSERT_THAT(again, IsOk());
    EXPECT_TRUE((*again)->Equals(*version.root_bytes));
  }
}

TEST(RootCodec, KeepsEveryTypeOfColumn) {
  Random random(TestSeed());
  TableSchema schema = SampleSchema();
  const arrow::FieldVector fields = {
      arrow::field("when", arrow::timestamp(arrow::TimeUnit::MICRO, "Europe/Berlin")),
      arrow::field("tags", arrow::list(arrow::field("item", arrow::utf8(), false))),
      arrow::field("preis €", arrow::decimal128(20, 3)),
      arrow::field("", arrow::struct_({arrow::field("x", arrow::float16())})),
  };
  for (const auto& field : fields) {
    schema.columns.push_back({.field_id = ++schema.last_field_id, .field = field, .text = {}});
  }
  const auto version = FirstVersion(schema, RandomStamp(random));
  ASSERT_THAT(version, IsOk());
  const auto decoded = DecodeRoot(*version->root_bytes, "root");
  ASSERT_THAT(decoded, IsOk());
  ExpectSameSchema(schema, decoded->schema);
}

TEST(RootCodec, EveryChangedByteIsNoticedByTheHash) {
  Random random(TestSeed());
  const NextVersion version = SampleVersion(random, 2);
  for (size_t at = 0; at < static_cast<size_t>(version.root_bytes->size()); ++at) {
    const auto damaged = WithByteChanged(*version.root_bytes, at, 0x01);
    EXPECT_THAT(CheckContent(version.root_object, *damaged), IsError(ErrorKind::kCorrupt));
    const auto decoded = DecodeRoot(*damaged, "root");
    EXPECT_TRUE(decoded.ok() || IsError(decoded.status(), ErrorKind::kCorrupt) ||
                IsError(decoded.status(), ErrorKind::kUnsupportedVersion))
        << decoded.status();
  }
}

TEST(RootCodec, EveryTruncationIsCorrupt) {
  Random random(TestSeed());
  const NextVersion version = SampleVersion(random, 2);
  for (int64_t length = 0; length < version.root_bytes->size(); ++length) {
    const auto cut = arrow::SliceBuffer(version.root_bytes, 0, length);
    EXPECT_THAT(DecodeRoot(*cut, "root"), IsError(ErrorKind::kCorrupt)) << "length " << length;
  }
}

/// Decodes the root of a version after `change` was made to its JSON.
template <typename Change>
arrow::Status DecodeChanged(Random& random, const Change& change) {
  const NextVersion version = SampleVersion(random, 2);
  auto document = *ParseJson(std::string_view(*version.root_bytes), "root");
  change(document);
  return DecodeRoot(*arrow::Buffer::FromString(FormatJson(document)), "root").status();
}

TEST(RootCodec, WhatDoesNotFitTogetherIsCorrupt) {
  using nlohmann::json;
  Random random(TestSeed());
  EXPECT_THAT(DecodeChanged(random, [](json&) {}), IsOk());
  EXPECT_THAT(DecodeChanged(random, [](json& root) { root["kind"] = "pointer"; }),
              IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(DecodeChanged(random, [](json& root) { root["totals"]["rows"] = 5; }),
              IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(DecodeChanged(random, [](json& root) { root["parts"].clear(); }),
              IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(DecodeChanged(random, [](json& root) { root["version"] = 4; }),
              IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(DecodeChanged(random, [](json& root) { root["parent"] = nullptr; }),
              IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(DecodeChanged(random, [](json& root) { root["versions"].erase(1); }),
              IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(DecodeChanged(random, [](json& root) { root["schema"]["schema_id"] = 9; }),
              IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(DecodeChanged(random, [](json& root) { root["oldest_openable_version"] = 4; }),
              IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(DecodeChanged(random, [](json& root) { root["totals"]["rows"] = -1; }),
              IsError(ErrorKind::kCorrupt));
}

TEST(RootCodec, ANewerFormatIsUnsupported) {
  Random random(TestSeed());
  EXPECT_THAT(
      DecodeChanged(random,
                    [](nlohmann::json& root) { root = {{"kind", "root"}, {"format_version", 1}}; }),
      IsError(ErrorKind::kUnsupportedVersion));
}

TEST(RootCodec, TheSchemaHashFollowsTheIndexSpec) {
  TableSchema schema = SampleSchema();
  const auto before = HashOfSchema(schema);
  schema.columns[0].text->positions = true;
  const auto after = HashOfSchema(schema);
  ASSERT_THAT(before, IsOk());
  ASSERT_THAT(after, IsOk());
  EXPECT_NE(*before, *after);
}

}  // namespace
}  // namespace infino
