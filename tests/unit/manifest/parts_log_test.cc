#include "infino/manifest/parts_log.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/manifest/sample_manifest.h"

namespace infino {
namespace {

/// What a commit writes beside its superfiles: all staged objects, and the pointer, which holds a
/// copy of a small root (in which every quotation mark takes two bytes) and little else.
struct CommitCost {
  int64_t summary_bytes = 0;
  int64_t part_bytes = 0;
  int64_t root_bytes = 0;
  int64_t pointer_bytes = 0;

  [[nodiscard]] int64_t manifest_bytes() const { return part_bytes + root_bytes + pointer_bytes; }
};

CommitCost CostOf(const NextVersion& version) {
  constexpr int64_t kRootCopyLimitBytes = 64 << 10;
  constexpr int64_t kPointerBytes = 1'500;
  CommitCost cost;
  for (const NamedObject& object : version.objects) {
    if (object.ref.name.starts_with("manifest/part-")) cost.part_bytes += object.ref.size_bytes;
    if (object.ref.name.starts_with("manifest/summary-")) {
      cost.summary_bytes += object.ref.size_bytes;
    }
  }
  const std::string_view root(*version.root_bytes);
  cost.root_bytes = version.root_bytes->size();
  cost.pointer_bytes = kPointerBytes;
  if (cost.root_bytes < kRootCopyLimitBytes) {
    cost.pointer_bytes += cost.root_bytes + std::count(root.begin(), root.end(), '"');
  }
  return cost;
}

/// The promise of the parts log: an append of 1,000 rows to a table of 10,000 superfiles writes on
/// average under 64 KB of manifest, and with its summary less than its own superfile again.
TEST(PartsLog, TenThousandCommitsStayCheap) {
  constexpr int kCommits = 10'000;
  constexpr int kMeasuredFrom = 9'000;
  constexpr int64_t kSuperfileBytes = 60'000;
  constexpr uint64_t kTerms = 5'000;
  constexpr int kColumns = 5;
  Random random(TestSeed());
  VersionHolder table{*FirstVersion(SampleSchema(), RandomStamp(random))};
  int64_t sum_manifest = 0;
  int64_t sum_all = 0;
  int64_t worst = 0;
  int64_t over_budget = 0;
  CommitCost last;
  for (int i = 0; i < kCommits; ++i) {
    const bool is_measured = i >= kMeasuredFrom;
    const ManifestChange change =
        AppendOf({RandomSuperfile(random, kColumns, is_measured ? kTerms : 10)});
    auto next = Apply(table.base(), change, RandomStamp(random));
    ASSERT_THAT(next, IsOk());
    if (i % 100 == 0 || is_measured) {
      const BaseVersion base = table.base();
      ASSERT_THAT(Verify(&base, *next, WrittenBy(change)), IsOk());
    }
    table.version = std::move(*next);
    if (!is_measured) continue;
    last = CostOf(table.version);
    const int64_t all = last.manifest_bytes() + last.summary_bytes;
    sum_manifest += last.manifest_bytes();
    sum_all += all;
    worst = std::max(worst, all);
    over_budget += all >= kSuperfileBytes ? 1 : 0;
  }
  const int64_t measured = kCommits - kMeasuredFrom;
  const size_t part_count = table.version.parts.size();
  std::cerr << "per commit: manifest=" << sum_manifest / measured
            << " with summary=" << sum_all / measured << " worst=" << worst
            << " over a superfile=" << over_budget << "/" << measured
            << "; root=" << last.root_bytes << " pointer=" << last.pointer_bytes
            << " part=" << last.part_bytes << " summary=" << last.summary_bytes
            << " parts=" << part_count << '\n';
  EXPECT_EQ(table.version.root.totals.superfile_count, kCommits);
  EXPECT_LT(sum_manifest / measured, 64 << 10);
  EXPECT_LT(sum_all / measured, kSuperfileBytes);
  EXPECT_LT(last.manifest_bytes() + last.summary_bytes, kSuperfileBytes);
  EXPECT_LT(over_budget, measured / 50);
  EXPECT_LT(last.root_bytes, 32 << 10);
  EXPECT_LE(part_count, 60U);
}

/// Whatever the size of the commits, the number of parts is bounded by the bytes they hold.
TEST(PartsLog, TheNumberOfPartsFollowsTheBytes) {
  Random random(TestSeed());
  for (const size_t files_a_commit : {1U, 3U, 20U, 45U, 100U, 300U}) {
    VersionHolder table{*FirstVersion(SampleSchema(), RandomStamp(random))};
    for (size_t added = 0; added < 3'000; added += files_a_commit) {
      std::vector<NewSuperfile> files;
      for (size_t i = 0; i < files_a_commit; ++i) files.push_back(RandomSuperfile(random, 3, 0));
      auto next = Apply(table.base(), AppendOf(std::move(files)), RandomStamp(random));
      ASSERT_THAT(next, IsOk());
      table.version = std::move(*next);
    }
    int64_t bytes = 0;
    for (const PartRef& part : table.version.root.parts) {
      EXPECT_LE(part.object.size_bytes, kPartBytesMax);
      bytes += part.object.size_bytes;
    }
    const auto bound = static_cast<size_t>(bytes / kLargePartBytes) + kMergeCount + 1;
    EXPECT_LE(table.version.parts.size(), bound) << files_a_commit << " files a commit";
  }
}

TEST(PartsLog, ASmallCommitRewritesOnlySmallParts) {
  Random random(TestSeed());
  VersionHolder table{*FirstVersion(SampleSchema(), RandomStamp(random))};
  for (int i = 0; i < 400; ++i) {
    auto next = Apply(table.base(), AppendOf({RandomSuperfile(random)}), RandomStamp(random));
    ASSERT_THAT(next, IsOk());
    for (const PartRef& part : table.version.root.parts) {
      const auto& names = next->root.removed;
      if (std::find(names.begin(), names.end(), part.object.name) == names.end()) continue;
      EXPECT_LT(part.object.size_bytes, kLargePartBytes);
    }
    table.version = std::move(*next);
  }
}

TEST(PartsLog, MovingEntriesKeepsTheirSummaries) {
  Random random(TestSeed());
  const ManifestPart one = RandomPart(random, 10);
  const ManifestPart two = RandomPart(random, 10);
  ManifestPart both;
  AppendEntries(one, &both);
  AppendEntries(two, &both);
  ASSERT_EQ(both.entries.size(), 20U);
  for (size_t i = 0; i < 20; ++i) {
    const ManifestPart& source = i < 10 ? one : two;
    for (const auto refs : {&SuperfileEntry::term_filters, &SuperfileEntry::value_counts}) {
      const auto& before = source.entries[i % 10].*refs;
      const auto& after = both.entries[i].*refs;
      ASSERT_EQ(before.size(), after.size());
      for (size_t at = 0; at < before.size(); ++at) {
        EXPECT_EQ(source.summaries[static_cast<size_t>(before[at].summary)],
                  both.summaries[static_cast<size_t>(after[at].summary)]);
        EXPECT_EQ(before[at].place, after[at].place);
      }
    }
  }
}

}  // namespace
}  // namespace infino
