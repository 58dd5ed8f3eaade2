#include "infino/manifest/manifest_change.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/codec/row_bitmap.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/object_names.h"
#include "infino/manifest/part_codec.h"
#include "infino/manifest/tombstones_codec.h"
#include "infino/manifest/totals.h"
#include "infino/superfile/superfile_summary.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/manifest/sample_manifest.h"

namespace infino {
namespace {

ManifestChange RandomAppend(Random& random, size_t superfiles_max = 5) {
  std::vector<NewSuperfile> files;
  const uint64_t count = 1 + random.Below(superfiles_max);
  for (uint64_t i = 0; i < count; ++i) files.push_back(RandomSuperfile(random));
  return AppendOf(std::move(files));
}

/// Applies `change`, checks what holds for every version, and returns it.
VersionHolder ApplyChecked(const VersionHolder& base, const ManifestChange& change,
                           const CommitStamp& stamp) {
  auto next = Apply(base.base(), change, stamp);
  EXPECT_THAT(next, IsOk());
  const BaseVersion base_version = base.base();
  EXPECT_THAT(Verify(&base_version, *next, WrittenBy(change)), IsOk());
  ManifestTotals sum;
  for (size_t i = 0; i < next->parts.size(); ++i) {
    const auto totals = TotalsOf(*next->parts[i]);
    EXPECT_THAT(totals, IsOk());
    EXPECT_EQ(*totals, next->root.parts[i].totals);
    EXPECT_THAT(AddTotals(*totals, &sum), IsOk());
  }
  EXPECT_EQ(sum, next->root.totals);
  return {std::move(*next)};
}

VersionHolder NewTable(Random& random) {
  return {*FirstVersion(SampleSchema(), RandomStamp(random))};
}

VersionHolder RandomTable(Random& random, int commits) {
  VersionHolder table = NewTable(random);
  for (int i = 0; i < commits; ++i) {
    table = ApplyChecked(table, RandomAppend(random, 40), RandomStamp(random));
  }
  return table;
}

std::set<SuperfileId> Sorted(const std::vector<SuperfileId>& ids) {
  return {ids.begin(), ids.end()};
}

TEST(ManifestChange, AnEntryTakesOverWhatTheBuilderKnows) {
  Random random(TestSeed());
  const SuperfileEntry source = RandomSuperfile(random, /*column_count=*/50).entry;
  SuperfileSummary summary;
  summary.id = source.id;
  summary.size_bytes = source.size_bytes;
  summary.open_section = source.open_section;
  summary.footer = source.footer;
  summary.hash = source.hash;
  summary.row_count = source.row_count;
  summary.min_id = source.min_id;
  summary.max_id = source.max_id;
  summary.columns = source.columns;
  summary.texts = source.texts;
  const SuperfileEntry entry = MakeEntry(summary, 7);
  EXPECT_EQ(entry.id, source.id);
  EXPECT_EQ(entry.open_section, source.open_section);
  EXPECT_EQ(entry.footer, source.footer);
  EXPECT_EQ(entry.live_row_count(), source.row_count);
  EXPECT_EQ(entry.schema_id, 7);
  EXPECT_EQ(entry.texts, source.texts);
  ASSERT_EQ(entry.columns.size(), kEntryColumnsMax);
  EXPECT_EQ(entry.columns.back(), source.columns[kEntryColumnsMax - 1]);
}

TEST(ManifestChange, ANewTableIsVersionOneWithoutRows) {
  Random random(TestSeed());
  const auto first = FirstVersion(SampleSchema(), RandomStamp(random));
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(first->root.version, 1U);
  EXPECT_EQ(first->root.totals, ManifestTotals());
  EXPECT_FALSE(first->root.parent.has_value());
  ASSERT_EQ(first->objects.size(), 1U);
  EXPECT_EQ(first->objects[0].ref, first->root_object);
  EXPECT_THAT(Verify(nullptr, *first, {}), IsOk());
}

TEST(ManifestChange, AppendedSuperfilesComeLastInOrder) {
  Random random(TestSeed());
  VersionHolder table = NewTable(random);
  std::vector<SuperfileId> expected;
  for (int i = 0; i < 60; ++i) {
    const ManifestChange change = RandomAppend(random);
    for (const NewSuperfile& file : change.added) expected.push_back(file.entry.id);
    const CommitStamp stamp = RandomStamp(random);
    table = ApplyChecked(table, change, stamp);
    EXPECT_EQ(SuperfilesOf(table.version), expected);
    EXPECT_EQ(table.version.root.commit, stamp.commit);
    EXPECT_EQ(table.version.parts.back()->entries.back().commit, stamp.commit);
  }
}

TEST(ManifestChange, EqualArgumentsGiveEqualBytes) {
  Random random(TestSeed());
  const VersionHolder table = RandomTable(random, 5);
  const ManifestChange change = RandomAppend(random);
  const CommitStamp stamp = RandomStamp(random);
  const VersionHolder one = ApplyChecked(table, change, stamp);
  const VersionHolder two = ApplyChecked(table, change, stamp);
  ASSERT_EQ(one.version.objects.size(), two.version.objects.size());
  for (size_t i = 0; i < one.version.objects.size(); ++i) {
    EXPECT_EQ(one.version.objects[i].ref, two.version.objects[i].ref);
  }
}

TEST(ManifestChange, AppendsCommuteUpToOrder) {
  Random random(TestSeed());
  for (int round = 0; round < 10; ++round) {
    const VersionHolder table = RandomTable(random, static_cast<int>(random.Below(12)));
    const ManifestChange a = RandomAppend(random, 30);
    const ManifestChange b = RandomAppend(random, 30);
    const CommitStamp stamp_a = RandomStamp(random);
    const CommitStamp stamp_b = RandomStamp(random);
    const auto a_then_b = ApplyChecked(ApplyChecked(table, a, stamp_a), b, stamp_b);
    const auto b_then_a = ApplyChecked(ApplyChecked(table, b, stamp_b), a, stamp_a);
    EXPECT_EQ(a_then_b.version.root.totals, b_then_a.version.root.totals);
    EXPECT_EQ(Sorted(SuperfilesOf(a_then_b.version)), Sorted(SuperfilesOf(b_then_a.version)));
  }
}

TEST(ManifestChange, ARebaseKeepsAllFilesAndTheSummary) {
  Random random(TestSeed());
  const VersionHolder table = RandomTable(random, 4);
  const ManifestChange mine = RandomAppend(random);
  const CommitStamp stamp = RandomStamp(random);
  const VersionHolder first_try = ApplyChecked(table, mine, stamp);
  const ManifestChange theirs = RandomAppend(random);
  const VersionHolder winner = ApplyChecked(table, theirs, RandomStamp(random));
  const VersionHolder rebased = ApplyChecked(winner, mine, stamp);
  std::vector<SuperfileId> expected = SuperfilesOf(winner.version);
  for (const NewSuperfile& file : mine.added) expected.push_back(file.entry.id);
  EXPECT_EQ(SuperfilesOf(rebased.version), expected);
  EXPECT_EQ(rebased.version.root.version, 7U);
  // The summary, staged by the first try, is named again.
  EXPECT_EQ(rebased.version.objects.front().ref, first_try.version.objects.front().ref);
}

TEST(ManifestChange, RootsOfDifferentCommitsHaveDifferentNames) {
  Random random(TestSeed());
  const VersionHolder table = RandomTable(random, 1);
  const ManifestChange change = RandomAppend(random);
  const CommitStamp one{.commit = random.NextId<CommitId>(), .unix_ms = 1};
  const CommitStamp two{.commit = random.NextId<CommitId>(), .unix_ms = 1};
  std::set<std::string> names;
  for (const auto& object : ApplyChecked(table, change, one).version.objects) {
    names.insert(object.ref.name);
  }
  for (const auto& object : ApplyChecked(table, change, two).version.objects) {
    EXPECT_FALSE(names.contains(object.ref.name)) << object.ref.name;
  }
}

TEST(ManifestChange, RemovalsAndAppendsGiveTheExpectedSet) {
  Random random(TestSeed());
  VersionHolder table = NewTable(random);
  std::set<SuperfileId> expected;
  int64_t rows = 0;
  for (int i = 0; i < 40; ++i) {
    ManifestChange change = RandomAppend(random, 60);
    change.operation = "optimize";
    for (const SuperfileId& id : SuperfilesOf(table.version)) {
      if (random.Below(3) == 0) change.removed.push_back(id);
    }
    const VersionHolder before = table;
    table = ApplyChecked(table, change, RandomStamp(random));
    for (const SuperfileId& id : change.removed) expected.erase(id);
    for (const NewSuperfile& file : change.added) expected.insert(file.entry.id);
    rows += 1000 * (static_cast<int64_t>(change.added.size()) -
                    static_cast<int64_t>(change.removed.size()));
    EXPECT_EQ(Sorted(SuperfilesOf(table.version)), expected);
    EXPECT_EQ(table.version.root.totals.row_count, rows);
    const auto& gone = table.version.root.removed;
    for (const SuperfileId& id : change.removed) {
      EXPECT_EQ(std::count(gone.begin(), gone.end(), SuperfileName(id)), 1);
    }
    const VersionInfo& info = table.version.root.versions.front();
    EXPECT_EQ(info.rows_added, 1000 * static_cast<int64_t>(change.added.size()));
    EXPECT_EQ(info.rows_removed, 1000 * static_cast<int64_t>(change.removed.size()));
    EXPECT_LE(table.version.parts.size(), 10 + expected.size() * 600 / 16'384);
  }
}

TEST(ManifestChange, WhatIsRemovedIsWhatIsNoLongerNamed) {
  Random random(TestSeed());
  VersionHolder table = NewTable(random);
  for (int i = 0; i < 50; ++i) {
    const VersionHolder next = ApplyChecked(table, RandomAppend(random), RandomStamp(random));
    std::set<std::string> names;
    for (const PartRef& part : next.version.root.parts) names.insert(part.object.name);
    std::vector<std::string> expected;
    for (const PartRef& part : table.version.root.parts) {
      if (!names.contains(part.object.name)) expected.push_back(part.object.name);
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(next.version.root.removed, expected);
    table = next;
  }
}

/// Deletes rows at random, and holds every version to a plain map of what is deleted.
TEST(ManifestChange, TombstonesTakeThePlaceOfThoseBefore) {
  Random random(TestSeed());
  VersionHolder table = RandomTable(random, 6);
  std::map<SuperfileId, RowBitmap> deleted;
  for (int i = 0; i < 60; ++i) {
    ManifestChange change = random.Below(3) == 0 ? RandomAppend(random) : ManifestChange();
    change.operation = "delete";
    uint64_t new_count = 0;
    std::vector<std::string> replaced;
    for (const auto& part : table.version.parts) {
      for (const SuperfileEntry& entry : part->entries) {
        if (random.Below(40) != 0) continue;
        RowBitmap& rows = deleted[entry.id];
        const uint64_t before = rows.cardinality();
        for (uint64_t n = 1 + random.Below(20); n > 0; --n) {
          rows.Add(static_cast<DocId>(random.Below(static_cast<uint64_t>(entry.row_count))));
        }
        if (rows.cardinality() == before) continue;
        new_count += rows.cardinality() - before;
        if (entry.tombstones) replaced.push_back(entry.tombstones->object.name);
        change.tombstones.push_back({.superfile = entry.id, .deleted = rows});
      }
    }
    const CommitStamp stamp = RandomStamp(random);
    const size_t parts_before = table.version.parts.size();
    const VersionHolder next = ApplyChecked(table, change, stamp);
    EXPECT_LE(next.version.parts.size(), parts_before + change.tombstones.size() + 1);
    EXPECT_EQ(next.version.root.versions.front().rows_removed, static_cast<int64_t>(new_count));
    for (const std::string& name : replaced) {
      EXPECT_EQ(std::ranges::count(next.version.root.removed, name), 1) << name;
    }
    EXPECT_TRUE(std::ranges::is_sorted(next.version.root.removed));
    std::vector<SuperfileId> expected = SuperfilesOf(table.version);
    for (const NewSuperfile& file : change.added) expected.push_back(file.entry.id);
    EXPECT_EQ(SuperfilesOf(next.version), expected) << "their order changed";
    table = next;
    uint64_t total = 0;
    for (const auto& part : table.version.parts) {
      for (const SuperfileEntry& entry : part->entries) {
        const auto rows = deleted.find(entry.id);
        const uint64_t count = rows == deleted.end() ? 0 : rows->second.cardinality();
        ASSERT_EQ(entry.row_count - entry.live_row_count(), static_cast<int64_t>(count));
        total += count;
      }
    }
    EXPECT_EQ(table.version.root.totals.deleted_count, static_cast<int64_t>(total));
    for (const NewTombstones& tombstones : change.tombstones) {
      const EncodedTombstones encoded =
          EncodeTombstones(tombstones.superfile, stamp.commit, tombstones.deleted);
      EXPECT_EQ(std::ranges::count(table.version.objects, encoded.ref.object,
                                   [](const NamedObject& object) { return object.ref; }),
                1);
    }
  }
}

TEST(ManifestChange, TombstonesThatDoNotFitAreRefused) {
  Random random(TestSeed());
  const VersionHolder table = RandomTable(random, 2);
  const SuperfileEntry& entry = table.version.parts.front()->entries.front();
  const auto refusal = [&](const VersionHolder& base, const SuperfileId& id,
                           const std::vector<DocId>& docs, bool twice = false) {
    ManifestChange change;
    change.operation = "delete";
    change.tombstones.push_back({.superfile = id, .deleted = RowBitmap::Of(docs)});
    if (twice) change.tombstones.push_back(change.tombstones.front());
    return Apply(base.base(), change, RandomStamp(random));
  };
  EXPECT_THAT(refusal(table, random.NextId<SuperfileId>(), {1}), IsError(ErrorKind::kConflict));
  EXPECT_THAT(refusal(table, entry.id, {1}, true), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(refusal(table, entry.id, {}), IsError(ErrorKind::kInvalidArgument));
  VersionHolder next{*refusal(table, entry.id, {1, 5})};
  EXPECT_THAT(refusal(next, entry.id, {1, 6}), IsError(ErrorKind::kInvalidArgument))
      << "some came back";
  EXPECT_THAT(refusal(next, entry.id, {1, 5, 6}), IsOk());
}

TEST(Tombstones, AreReadBackOrRefused) {
  Random random(TestSeed());
  SuperfileEntry entry = RandomSuperfile(random).entry;
  const RowBitmap deleted = RowBitmap::Of({0, 3, 999});
  const EncodedTombstones encoded = EncodeTombstones(entry.id, random.NextId<CommitId>(), deleted);
  entry.tombstones = encoded.ref;
  const auto read = DecodeTombstones(entry, *encoded.bytes, "the object");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(*read, deleted);
  for (int64_t at = 0; at < encoded.bytes->size(); ++at) {
    const auto changed = WithByteChanged(*encoded.bytes, static_cast<size_t>(at), 1);
    EXPECT_THAT(DecodeTombstones(entry, *changed, "the object"), IsError(ErrorKind::kCorrupt));
  }
  // Also where somebody signed what is wrong.
  entry.row_count = 999;
  EXPECT_THAT(DecodeTombstones(entry, *encoded.bytes, "the object"), IsError(ErrorKind::kCorrupt));
  entry.row_count = 1000;
  entry.tombstones->deleted_count = 2;
  EXPECT_THAT(DecodeTombstones(entry, *encoded.bytes, "the object"), IsError(ErrorKind::kCorrupt));
}

TEST(ManifestChange, RemovingWhatIsGoneIsAConflict) {
  Random random(TestSeed());
  const VersionHolder table = RandomTable(random, 2);
  ManifestChange change;
  change.operation = "optimize";
  change.removed.push_back(random.NextId<SuperfileId>());
  EXPECT_THAT(Apply(table.base(), change, RandomStamp(random)), IsError(ErrorKind::kConflict));
}

TEST(ManifestChange, AddingWhatIsThereIsRefused) {
  Random random(TestSeed());
  const VersionHolder table = NewTable(random);
  const ManifestChange change = RandomAppend(random);
  const VersionHolder next = ApplyChecked(table, change, RandomStamp(random));
  EXPECT_THAT(Apply(next.base(), change, RandomStamp(random)),
              IsError(ErrorKind::kInvalidArgument));
  const NewSuperfile file = RandomSuperfile(random);
  EXPECT_THAT(Apply(next.base(), AppendOf({file, file}), RandomStamp(random)),
              IsError(ErrorKind::kInvalidArgument));
}

TEST(ManifestChange, TheHistoryKeepsTheLast64Versions) {
  Random random(TestSeed());
  VersionHolder table = NewTable(random);
  std::vector<ObjectRef> roots = {table.version.root_object};
  for (int i = 0; i < 70; ++i) {
    table = ApplyChecked(table, AppendOf({RandomSuperfile(random, 1, 0)}), RandomStamp(random));
    roots.push_back(table.version.root_object);
  }
  const auto& versions = table.version.root.versions;
  ASSERT_EQ(versions.size(), ManifestRoot::kVersionsMax);
  for (size_t i = 1; i < versions.size(); ++i) {
    EXPECT_EQ(versions[i].root, roots[versions[i].version - 1]);
  }
}

/// A version to be broken in one way by each test of Verify.
class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() : random_(TestSeed()), table_(RandomTable(random_, 3)) {
    change_ = AppendOf({RandomSuperfile(random_)});
    next_ = *Apply(table_.base(), change_, RandomStamp(random_));
    base_ = table_.base();
    written_ = WrittenBy(change_);
  }

  Random random_;
  VersionHolder table_;
  ManifestChange change_;
  NextVersion next_;
  BaseVersion base_;
  std::vector<WrittenSuperfile> written_;
};

TEST_F(VerifyTest, AcceptsWhatApplyMade) {
  EXPECT_THAT(Verify(&base_, next_, written_), IsOk());
}

TEST_F(VerifyTest, NoticesASuperfileThatWasNotWritten) {
  EXPECT_THAT(Verify(&base_, next_, {}), IsError(ErrorKind::kInternal));
}

TEST_F(VerifyTest, NoticesASuperfileOfAnotherLength) {
  ++written_[0].size_bytes;
  EXPECT_THAT(Verify(&base_, next_, written_), IsError(ErrorKind::kInternal));
}

TEST_F(VerifyTest, NoticesAnObjectThatIsNotStaged) {
  for (size_t i = 0; i < next_.objects.size(); ++i) {
    NextVersion broken = next_;
    broken.objects.erase(broken.objects.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(Verify(&base_, broken, written_), IsError(ErrorKind::kInternal));
  }
}

TEST_F(VerifyTest, NoticesTombstonesThatAreNotStaged) {
  ManifestChange change;
  change.operation = "delete";
  const SuperfileEntry& entry = table_.version.parts.front()->entries.front();
  change.tombstones.push_back({.superfile = entry.id, .deleted = RowBitmap::Of({7})});
  NextVersion next = *Apply(base_, change, RandomStamp(random_));
  EXPECT_THAT(Verify(&base_, next, {}), IsOk());
  const auto erased = std::erase_if(next.objects, [](const NamedObject& object) {
    return object.ref.name.starts_with("tombstones/");
  });
  EXPECT_EQ(erased, 1U);
  EXPECT_THAT(Verify(&base_, next, {}), IsError(ErrorKind::kInternal));
}

TEST_F(VerifyTest, NoticesAnotherBase) {
  const VersionHolder later = ApplyChecked(table_, RandomAppend(random_), RandomStamp(random_));
  const BaseVersion base = later.base();
  EXPECT_THAT(Verify(&base, next_, written_), IsError(ErrorKind::kInternal));
  EXPECT_THAT(Verify(nullptr, next_, written_), IsError(ErrorKind::kInternal));
}

TEST_F(VerifyTest, NoticesTotalsThatDoNotAddUp) {
  ++next_.root.totals.row_count;
  EXPECT_THAT(Verify(&base_, next_, written_), IsError(ErrorKind::kInternal));
}

TEST_F(VerifyTest, NoticesASuperfileListedTwice) {
  const VersionHolder grown = RandomTable(random_, 30);
  const BaseVersion base = grown.base();
  NextVersion next = *Apply(base, change_, RandomStamp(random_));
  ManifestPart part = *next.parts.back();
  part.entries.push_back(grown.version.parts.front()->entries.front());
  part.entries.back().term_filters.clear();
  part.entries.back().value_counts.clear();
  const auto bytes = *EncodePart(part);
  PartRef& ref = next.root.parts.back();
  ref = {.object = RefOfPart(*bytes), .totals = *TotalsOf(part)};
  next.parts.back() = std::make_shared<const ManifestPart>(part);
  next.objects.push_back({.ref = ref.object, .bytes = bytes});
  next.root.totals = {};
  for (const PartRef& each : next.root.parts) {
    EXPECT_THAT(AddTotals(each.totals, &next.root.totals), IsOk());
  }
  EXPECT_THAT(Verify(&base, next, written_), IsError(ErrorKind::kInternal));
}

}  // namespace
}  // namespace infino
