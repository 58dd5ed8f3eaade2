#include "infino/supertable/term_filters.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/manifest/manifest_change.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/snapshot.h"
#include "support/matchers.h"
#include "unit/manifest/sample_manifest.h"
#include "unit/supertable/scripted_store.h"
#include "unit/supertable/table_fixture.h"

namespace infino {
namespace {

class TermFiltersTest : public ::testing::Test {
 protected:
  TermFiltersTest() : counted_(std::make_shared<ScriptedStore>(table_.store)) { table_.Create(); }

  /// Publishes the files and remembers their filters.
  void Append(std::vector<NewSuperfile> files) {
    const auto base = table_.Load();
    const NextVersion next = *Apply(BaseOf(*base), AppendOf(files), table_.Stamp());
    table_.Stage(next);
    ObjectVersion version;
    ASSERT_THAT(table_.Pointers(table_.store)
                    ->Swap(&base->pinned, NextPointer(&base->pinned.pointer, next), &version),
                IsOk());
    for (NewSuperfile& file : files) files_.push_back(std::move(file));
  }

  [[nodiscard]] int RangeReads() const {
    int reads = 0;
    for (const auto& [path, count] : counted_->range_gets) reads += count;
    return reads;
  }

  [[nodiscard]] auto Load(const ColumnTermFilters* known = nullptr) const {
    return LoadTermFilters(*counted_, table_.folder, *table_.Load(), 1, known, {});
  }

  TableFixture table_;
  std::shared_ptr<ScriptedStore> counted_;
  std::vector<NewSuperfile> files_;
};

TEST_F(TermFiltersTest, GivesEveryFilterInOneReadACommit) {
  Append({RandomSuperfile(*table_.random), RandomSuperfile(*table_.random)});
  Append({RandomSuperfile(*table_.random, 2, 0)});
  Append({RandomSuperfile(*table_.random), RandomSuperfile(*table_.random, 2, 0)});
  const auto filters = Load();
  ASSERT_THAT(filters, IsOk());
  EXPECT_EQ(RangeReads(), 2);
  for (const NewSuperfile& file : files_) {
    const auto* found = (*filters)->Find(file.entry.id);
    ASSERT_EQ(found == nullptr, file.filters.empty());
    if (found != nullptr) {
      EXPECT_TRUE(found->Equals(*file.filters[0].filter));
    }
  }
}

TEST_F(TermFiltersTest, ReadsOnlyWhatIsNotKnown) {
  Append({RandomSuperfile(*table_.random)});
  const auto first = *Load();
  Append({RandomSuperfile(*table_.random)});
  const auto second = Load(first.get());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(RangeReads(), 2);
  EXPECT_EQ((*second)->by_superfile.size(), 2U);
}

TEST_F(TermFiltersTest, AColumnWithoutFiltersHasNone) {
  Append({RandomSuperfile(*table_.random)});
  const auto filters = LoadTermFilters(*counted_, table_.folder, *table_.Load(), 2, nullptr, {});
  ASSERT_THAT(filters, IsOk());
  EXPECT_TRUE((*filters)->by_superfile.empty());
  EXPECT_EQ(RangeReads(), 0);
}

TEST_F(TermFiltersTest, ADamagedFilterIsCorrupt) {
  Append({RandomSuperfile(*table_.random)});
  const auto snapshot = table_.Load();
  const SummaryRef& ref = snapshot->files[0].entry->term_filters[0];
  const std::string path = ObjectPath(table_.folder, snapshot->parts[0]->summaries[0].name);
  const auto read = *Wait(table_.store->Get(path));
  const auto damaged = WithByteChanged(*read.bytes, static_cast<size_t>(ref.place.offset + 40), 4);
  ASSERT_THAT(Wait(table_.store->PutIfMatch(path, damaged, read.version)), IsOk());
  EXPECT_THAT(Load(), IsError(ErrorKind::kCorrupt));
}

TEST_F(TermFiltersTest, AMissingSummaryIsCorrupt) {
  Append({RandomSuperfile(*table_.random)});
  const std::string name = table_.Load()->parts[0]->summaries[0].name;
  ASSERT_THAT(WaitDone(table_.store->Delete(ObjectPath(table_.folder, name))), IsOk());
  const auto filters = Load();
  EXPECT_THAT(filters, IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(filters.status().message(), ::testing::HasSubstr(name));
}

}  // namespace
}  // namespace infino
