#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
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

/// One writer whose store follows a script, and the other writers, who see the store below it.
class PointerStoreTest : public ::testing::Test {
 protected:
  PointerStoreTest() : scripted_(std::make_shared<ScriptedStore>(table_.store)) {
    table_.Create();
    table_.Append(2);
    base_ = table_.Load();
    next_ = table_.Prepare(*base_).second;
  }

  arrow::Result<SwapOutcome> Swap() {
    return table_.Pointers(scripted_)->Swap(&base_->pinned, next_, &version_);
  }

  /// Lets `commits` others publish right after the first put was answered or not.
  void OthersCommitAfterTheFirstPut(int commits) {
    scripted_->after_put = [this, commits] {
      if (scripted_->puts == 1) table_.Append(commits);
    };
  }

  [[nodiscard]] bool IsPublished() const {
    const auto newest = table_.Load();
    for (const VersionInfo& info : newest->root.versions) {
      if (info.commit == next_.recent_commits.front()) return true;
    }
    return false;
  }

  TableFixture table_;
  std::shared_ptr<ScriptedStore> scripted_;
  std::shared_ptr<const Snapshot> base_;
  Pointer next_;
  ObjectVersion version_;
};

TEST_F(PointerStoreTest, APlainSwapPublishes) {
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kPublished));
  EXPECT_TRUE(IsPublished());
  EXPECT_EQ(version_, table_.Load()->pinned.version);
  EXPECT_EQ(scripted_->puts, 1);
}

TEST_F(PointerStoreTest, AMovedPointerIsALoss) {
  table_.Append();
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kLost));
  EXPECT_FALSE(IsPublished());
  EXPECT_EQ(scripted_->puts, 1);
}

TEST_F(PointerStoreTest, ALostAnswerAfterTheEffectIsPublished) {
  scripted_->script = {PutScript::kLoseAnswer};
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kPublished));
  EXPECT_EQ(scripted_->puts, 1);
  EXPECT_EQ(version_, table_.Load()->pinned.version);
}

TEST_F(PointerStoreTest, ALostAnswerBeforeTheEffectIsSentAgain) {
  scripted_->script = {PutScript::kFailBefore, PutScript::kFailBefore};
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kPublished));
  EXPECT_EQ(scripted_->puts, 3);
  EXPECT_TRUE(IsPublished());
  for (const auto& bytes : scripted_->sent) EXPECT_TRUE(bytes->Equals(*scripted_->sent[0]));
}

TEST_F(PointerStoreTest, TheEchoOfAnOwnPutIsPublished) {
  scripted_->script = {PutScript::kEcho};
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kPublished));
}

TEST_F(PointerStoreTest, ARefusalWithoutAMoveIsSentAgain) {
  scripted_->script = {PutScript::kRefuse};
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kPublished));
  EXPECT_EQ(scripted_->puts, 2);
}

TEST_F(PointerStoreTest, ADelayedPutThatLandsBeforeTheNextTryIsPublishedOnce) {
  int reads = 0;
  scripted_->before_get = [this, &reads](std::string_view) {
    if (++reads == 2) scripted_->LandDelayed();
  };
  scripted_->script = {PutScript::kLandLater, PutScript::kFailBefore};
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kPublished));
  EXPECT_EQ(scripted_->puts, 2);
  EXPECT_EQ(table_.Load()->version(), base_->version() + 1);
}

TEST_F(PointerStoreTest, ADelayedPutThatLandsAfterASecondTryChangesNothing) {
  scripted_->script = {PutScript::kLandLater};
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kPublished));
  EXPECT_EQ(scripted_->puts, 2);
  table_.Append();
  scripted_->LandDelayed();
  const auto snapshot = table_.Load();
  EXPECT_EQ(snapshot->version(), base_->version() + 2);
  EXPECT_TRUE(IsPublished());
}

TEST_F(PointerStoreTest, ADelayedPutOvertakenByAnotherWriterIsLostForGood) {
  scripted_->script = {PutScript::kLandLater};
  OthersCommitAfterTheFirstPut(1);
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kLost));
  scripted_->LandDelayed();
  EXPECT_FALSE(IsPublished());
}

TEST_F(PointerStoreTest, OneCommitOnTopDoesNotHideAPublishedOne) {
  scripted_->script = {PutScript::kLoseAnswer};
  OthersCommitAfterTheFirstPut(1);
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kPublished));
  EXPECT_EQ(version_, ObjectVersion());
}

TEST_F(PointerStoreTest, FortyCommitsOnTopAreSeenThroughTheHistory) {
  scripted_->script = {PutScript::kEcho};
  OthersCommitAfterTheFirstPut(40);
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kPublished));
}

TEST_F(PointerStoreTest, ManyCommitsOnTopAreSeenAlongTheParentChain) {
  scripted_->script = {PutScript::kLoseAnswer};
  OthersCommitAfterTheFirstPut(150);
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kPublished));
}

TEST_F(PointerStoreTest, ManyCommitsWithoutOursAreALoss) {
  scripted_->script = {PutScript::kFailBefore};
  OthersCommitAfterTheFirstPut(150);
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kLost));
}

TEST_F(PointerStoreTest, SilenceUntilTheDeadlineIsUnknown) {
  scripted_->script.assign(10'000, PutScript::kFailBefore);
  const int64_t begin = table_.clock->UnixMs();
  EXPECT_THAT(Swap(), IsError(ErrorKind::kCommitUnknown));
  EXPECT_LE(table_.clock->UnixMs() - begin, 60'000);
  EXPECT_GT(table_.clock->UnixMs() - begin, 50'000);
  EXPECT_GT(scripted_->puts, 10);
  EXPECT_LT(scripted_->puts, 200);
}

TEST_F(PointerStoreTest, NoReadBackUntilTheDeadlineIsUnknown) {
  scripted_->script.assign(10'000, PutScript::kRefuse);
  scripted_->reads_fail = true;
  EXPECT_THAT(Swap(), IsError(ErrorKind::kCommitUnknown));
}

TEST_F(PointerStoreTest, AFullDiskIsSaidAtOnce) {
  scripted_->script = {PutScript::kDiskFull};
  EXPECT_THAT(Swap(), IsError(ErrorKind::kResourceExhausted));
  EXPECT_EQ(scripted_->puts, 1);
}

TEST_F(PointerStoreTest, AFullDiskAfterAnUnclearAnswerIsNoAnswer) {
  scripted_->script.assign(10'000, PutScript::kDiskFull);
  scripted_->script.front() = PutScript::kFailBefore;
  EXPECT_THAT(Swap(), IsError(ErrorKind::kCommitUnknown));
}

TEST_F(PointerStoreTest, AStrangePointerIsUnknown) {
  scripted_->script.assign(10'000, PutScript::kRefuse);
  ASSERT_THAT(Wait(table_.store->PutIfMatch(PointerPath(table_.folder),
                                            arrow::Buffer::FromString("?"), base_->pinned.version)),
              IsOk());
  EXPECT_THAT(Swap(), IsError(ErrorKind::kCommitUnknown));
}

TEST_F(PointerStoreTest, OfTwoCreatorsOneWins) {
  TableFixture fresh;
  const auto scripted = std::make_shared<ScriptedStore>(fresh.store);
  const NextVersion mine = *FirstVersion(SampleSchema(), fresh.Stamp());
  scripted->script = {PutScript::kLoseAnswer};
  EXPECT_THAT(fresh.Pointers(scripted)->Swap(nullptr, NextPointer(nullptr, mine), &version_),
              HasValue(SwapOutcome::kPublished));
  const NextVersion theirs = *FirstVersion(SampleSchema(), fresh.Stamp());
  EXPECT_THAT(fresh.Pointers(scripted)->Swap(nullptr, NextPointer(nullptr, theirs), &version_),
              HasValue(SwapOutcome::kLost));
}

TEST_F(PointerStoreTest, ADropIsPublishedAndEndsTheTable) {
  const Pointer dropped = DroppedPointer(base_->pinned.pointer, table_.random->NextId<CommitId>());
  scripted_->script = {PutScript::kLoseAnswer};
  const auto pointers = table_.Pointers(scripted_);
  EXPECT_THAT(pointers->Swap(&base_->pinned, dropped, &version_),
              HasValue(SwapOutcome::kPublished));
  EXPECT_THAT(pointers->Load({}), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(pointers->LoadIfChanged(base_->pinned.version, {}), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kLost));
}

TEST_F(PointerStoreTest, ACommitUnderADropIsStillRecognised) {
  scripted_->script = {PutScript::kLoseAnswer};
  scripted_->after_put = [this] {
    if (scripted_->puts != 1) return;
    const auto newest = table_.Load();
    const Pointer dropped =
        DroppedPointer(newest->pinned.pointer, table_.random->NextId<CommitId>());
    ObjectVersion version;
    EXPECT_THAT(table_.Pointers(table_.store)->Swap(&newest->pinned, dropped, &version),
                HasValue(SwapOutcome::kPublished));
  };
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kPublished));
}

TEST_F(PointerStoreTest, APurgedTableIsALoss) {
  ASSERT_THAT(WaitDone(table_.store->Delete(PointerPath(table_.folder))), IsOk());
  EXPECT_THAT(Swap(), HasValue(SwapOutcome::kLost));
  EXPECT_THAT(table_.Pointers(scripted_)->Load({}), IsError(ErrorKind::kNotFound));
}

TEST_F(PointerStoreTest, LoadIfChangedSaysNothingAboutAnUnmovedPointer) {
  const auto pointers = table_.Pointers(table_.store);
  const auto same = pointers->LoadIfChanged(base_->pinned.version, {});
  ASSERT_THAT(same, IsOk());
  EXPECT_FALSE(same->has_value());
  table_.Append();
  const auto moved = pointers->LoadIfChanged(base_->pinned.version, {});
  ASSERT_THAT(moved, IsOk());
  ASSERT_TRUE(moved->has_value());
  EXPECT_EQ((*moved)->pointer.table_version, base_->version() + 1);
}

/// Writers that meet every fault by chance: what each is told is what happened.
TEST_F(PointerStoreTest, NoOutcomeIsEverWrong) {
  constexpr int kRounds = 300;
  const std::vector<PutScript> steps = {PutScript::kPass,       PutScript::kFailBefore,
                                        PutScript::kLoseAnswer, PutScript::kLandLater,
                                        PutScript::kEcho,       PutScript::kRefuse};
  for (int round = 0; round < kRounds; ++round) {
    base_ = table_.Load();
    next_ = table_.Prepare(*base_).second;
    scripted_->script.clear();
    for (int i = 0; i < 3; ++i) {
      scripted_->script.push_back(steps[table_.random->Below(steps.size())]);
    }
    scripted_->puts = 0;
    OthersCommitAfterTheFirstPut(static_cast<int>(table_.random->Below(3)));
    if (table_.random->Below(4) == 0) table_.Append();
    const auto outcome = Swap();
    scripted_->LandDelayed();
    ASSERT_THAT(outcome, IsOk());
    EXPECT_EQ(*outcome == SwapOutcome::kPublished, IsPublished()) << "round " << round;
  }
}

}  // namespace
}  // namespace infino
