#include "conformance/object_store_conformance.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/storage/object_store.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::shared_ptr<arrow::Buffer> Bytes(std::string text) {
  return arrow::Buffer::FromString(std::move(text));
}

PutOutcome Put(ObjectStore& store, const std::string& path, std::string text) {
  const arrow::Result<PutResult> put = Wait(store.PutIfAbsent(path, Bytes(std::move(text))));
  EXPECT_THAT(put, IsOk()) << path;
  return put.ok() ? put->outcome : PutOutcome::kPreconditionFailed;
}

std::string Text(ObjectStore& store, const std::string& path) {
  const arrow::Result<VersionedBytes> got = Wait(store.Get(path));
  EXPECT_THAT(got, IsOk()) << path;
  return got.ok() ? got->bytes->ToString() : "";
}

ObjectVersion VersionOf(ObjectStore& store, const std::string& path) {
  const arrow::Result<VersionedBytes> got = Wait(store.Get(path));
  EXPECT_THAT(got, IsOk()) << path;
  return got.ok() ? got->version : ObjectVersion();
}

std::vector<std::string> Paths(ObjectStore& store, const std::string& prefix) {
  const arrow::Result<std::vector<ObjectInfo>> listed = Wait(store.List(prefix));
  EXPECT_THAT(listed, IsOk()) << prefix;
  std::vector<std::string> paths;
  if (!listed.ok()) return paths;
  for (const ObjectInfo& info : *listed) paths.push_back(info.path);
  return paths;
}

/// Bytes that differ from their neighbours and from those of other seeds.
std::string RandomText(size_t size, uint64_t seed) {
  Random random(seed);
  std::string text(size, '\0');
  uint64_t word = 0;
  for (size_t i = 0; i < size; ++i) {
    if (i % sizeof(word) == 0) word = random.Next();
    text[i] = static_cast<char>(word & 0xff);
    word >>= 8;
  }
  return text;
}

}  // namespace

TEST_P(ObjectStoreConformance, AnObjectComesBackAsItWasPut) {
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put, Wait(store_->PutIfAbsent("a/b", Bytes("fox"))));
  EXPECT_EQ(put.outcome, PutOutcome::kWritten);
  EXPECT_FALSE(put.version.token.empty());
  INFINO_ASSERT_OK_AND_ASSIGN(const VersionedBytes got, Wait(store_->Get("a/b")));
  EXPECT_EQ(got.bytes->ToString(), "fox");
  EXPECT_EQ(got.version, put.version);
}

TEST_P(ObjectStoreConformance, ATakenPathStaysAsItIs) {
  ASSERT_EQ(Put(*store_, "a", "first"), PutOutcome::kWritten);
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put, Wait(store_->PutIfAbsent("a", Bytes("second"))));
  EXPECT_EQ(put.outcome, PutOutcome::kPreconditionFailed);
  EXPECT_TRUE(put.version.token.empty());
  EXPECT_EQ(Text(*store_, "a"), "first");
  EXPECT_EQ(Put(*store_, "a", "first"), PutOutcome::kPreconditionFailed);
}

TEST_P(ObjectStoreConformance, AnAbsentObjectIsNotFound) {
  ASSERT_EQ(Put(*store_, "there/object", "x"), PutOutcome::kWritten);
  for (const std::string path : {"absent", "no/such/folder", "there", "there/object/below"}) {
    EXPECT_THAT(Wait(store_->Get(path)), IsError(ErrorKind::kNotFound)) << path;
    EXPECT_THAT(Wait(store_->GetIfChanged(path, ObjectVersion{.token = "1"})),
                IsError(ErrorKind::kNotFound))
        << path;
    EXPECT_THAT(Wait(store_->GetRange(path, {.offset = 0, .length = 0})),
                IsError(ErrorKind::kNotFound))
        << path;
    EXPECT_THAT(Wait(store_->Head(path)), IsError(ErrorKind::kNotFound)) << path;
  }
}

TEST_P(ObjectStoreConformance, AnyRangeInsideIsReadExactly) {
  const std::string text = RandomText(1000, TestSeed());
  ASSERT_EQ(Put(*store_, "r", text), PutOutcome::kWritten);
  Random random(TestSeed());
  for (int i = 0; i < 50; ++i) {
    const auto offset = static_cast<int64_t>(random.Below(text.size() + 1));
    const auto length =
        static_cast<int64_t>(random.Below(text.size() + 1 - static_cast<size_t>(offset)));
    INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<arrow::Buffer> got,
                                Wait(store_->GetRange("r", {.offset = offset, .length = length})));
    EXPECT_EQ(got->ToString(),
              text.substr(static_cast<size_t>(offset), static_cast<size_t>(length)));
  }
}

TEST_P(ObjectStoreConformance, ARangePastTheEndIsCorrupt) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  ASSERT_EQ(Put(*store_, "r", "0123456789"), PutOutcome::kWritten);
  for (const ByteRange range :
       {ByteRange{.offset = 0, .length = 11}, ByteRange{.offset = 10, .length = 1},
        ByteRange{.offset = 11, .length = 0}, ByteRange{.offset = -1, .length = 2},
        ByteRange{.offset = 2, .length = -1}, ByteRange{.offset = 0, .length = kHuge},
        ByteRange{.offset = kHuge, .length = kHuge}}) {
    EXPECT_THAT(Wait(store_->GetRange("r", range)), IsError(ErrorKind::kCorrupt))
        << range.offset << " " << range.length;
  }
}

TEST_P(ObjectStoreConformance, HeadTellsTheSize) {
  ASSERT_EQ(Put(*store_, "dir/h", "12345"), PutOutcome::kWritten);
  INFINO_ASSERT_OK_AND_ASSIGN(const ObjectInfo info, Wait(store_->Head("dir/h")));
  EXPECT_EQ(info.path, "dir/h");
  EXPECT_EQ(info.size, 5);
  EXPECT_GT(info.modified_ms, 0);
  if (!info.version.token.empty()) {
    EXPECT_EQ(info.version, VersionOf(*store_, "dir/h"));
  }
}

TEST_P(ObjectStoreConformance, AnEmptyObjectIsAnObject) {
  ASSERT_EQ(Put(*store_, "empty", ""), PutOutcome::kWritten);
  EXPECT_EQ(Put(*store_, "empty", "x"), PutOutcome::kPreconditionFailed);
  EXPECT_EQ(Text(*store_, "empty"), "");
  INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<arrow::Buffer> range,
                              Wait(store_->GetRange("empty", {.offset = 0, .length = 0})));
  EXPECT_EQ(range->size(), 0);
  INFINO_ASSERT_OK_AND_ASSIGN(const ObjectInfo info, Wait(store_->Head("empty")));
  EXPECT_EQ(info.size, 0);
  EXPECT_THAT(Paths(*store_, ""), ElementsAre("empty"));
}

TEST_P(ObjectStoreConformance, ABigObjectIsReadWholeAndInLongRanges) {
  const std::string text = RandomText(size_t{5} << 20, TestSeed());
  ASSERT_EQ(Put(*store_, "big", text), PutOutcome::kWritten);
  EXPECT_TRUE(Text(*store_, "big") == text);
  INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<arrow::Buffer> range,
                              Wait(store_->GetRange("big", {.offset = 1000, .length = 3 << 20})));
  EXPECT_TRUE(range->ToString() == text.substr(1000, 3 << 20));
  EXPECT_THAT(Wait(store_->GetRange("big", {.offset = 3 << 20, .length = 3 << 20})),
              IsError(ErrorKind::kCorrupt));
}

TEST_P(ObjectStoreConformance, ListingIsInByteOrderAndByPrefix) {
  for (const std::string path : {"t/b", "t/a/2", "t/a/10", "t/a.x", "t/B", "u", "t/\xc3\xa9"}) {
    ASSERT_EQ(Put(*store_, path, path), PutOutcome::kWritten);
  }
  EXPECT_THAT(Paths(*store_, ""),
              ElementsAre("t/B", "t/a.x", "t/a/10", "t/a/2", "t/b", "t/\xc3\xa9", "u"));
  EXPECT_THAT(Paths(*store_, "t/a"), ElementsAre("t/a.x", "t/a/10", "t/a/2"));
  EXPECT_THAT(Paths(*store_, "t/a/"), ElementsAre("t/a/10", "t/a/2"));
  EXPECT_THAT(Paths(*store_, "t/a/1"), ElementsAre("t/a/10"));
  EXPECT_THAT(Paths(*store_, "t/b/"), IsEmpty());
  EXPECT_THAT(Paths(*store_, "absent/folder/"), IsEmpty());
  INFINO_ASSERT_OK_AND_ASSIGN(const std::vector<ObjectInfo> infos, Wait(store_->List("t/a/1")));
  ASSERT_EQ(infos.size(), 1);
  EXPECT_EQ(infos[0].size, 6);
  EXPECT_GT(infos[0].modified_ms, 0);
}

TEST_P(ObjectStoreConformance, ADeletedObjectIsGoneAndItsPathFree) {
  ASSERT_EQ(Put(*store_, "d/x", "1"), PutOutcome::kWritten);
  ASSERT_EQ(Put(*store_, "d/y", "2"), PutOutcome::kWritten);
  INFINO_ASSERT_OK(WaitDone(store_->Delete("d/x")));
  EXPECT_THAT(Wait(store_->Get("d/x")), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(Paths(*store_, ""), ElementsAre("d/y"));
  EXPECT_EQ(Put(*store_, "d/x", "3"), PutOutcome::kWritten);
  EXPECT_EQ(Text(*store_, "d/x"), "3");
}

TEST_P(ObjectStoreConformance, DeletingWhatIsAbsentSucceeds) {
  INFINO_EXPECT_OK(WaitDone(store_->Delete("absent")));
  INFINO_EXPECT_OK(WaitDone(store_->Delete("no/such/folder")));
  ASSERT_EQ(Put(*store_, "d/x", "1"), PutOutcome::kWritten);
  INFINO_EXPECT_OK(WaitDone(store_->Delete("d")));
  INFINO_EXPECT_OK(WaitDone(store_->Delete("d/x/y")));
  EXPECT_EQ(Text(*store_, "d/x"), "1");
}

TEST_P(ObjectStoreConformance, OddNamesAreTakenAsTheyAre) {
  const std::string odd = GetParam().keeps_backslashes ? "back\\slash" : "backslash";
  const std::vector<std::string> paths = {
      "a b/c d",   "100%/%20",  "x#y/z?q=1",
      "p+q&r=s",   "-dash/--x", "\xe6\x97\xa5\xe6\x9c\xac/\xc3\xbc",
      "e\xcc\x81", "...",       "a/..b",
      "q'\"`$(x)", odd,         std::string(255, 'n')};
  for (const std::string& path : paths) {
    ASSERT_EQ(Put(*store_, path, "of " + path), PutOutcome::kWritten) << path;
  }
  for (const std::string& path : paths) EXPECT_EQ(Text(*store_, path), "of " + path);
  EXPECT_THAT(Paths(*store_, ""), testing::UnorderedElementsAreArray(paths));
}

TEST_P(ObjectStoreConformance, AnImpossiblePathIsInvalid) {
  for (const std::string& path :
       {std::string(), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("."),
        std::string("a/../b"), std::string(".."), std::string("a/."), std::string(256, 'n'),
        std::string("nul\0x", 5), std::string("a/.lock"), std::string(".tmp-1/x")}) {
    EXPECT_THAT(Wait(store_->Get(path)), IsError(ErrorKind::kInvalidArgument)) << path;
    EXPECT_THAT(Wait(store_->Head(path)), IsError(ErrorKind::kInvalidArgument)) << path;
    EXPECT_THAT(Wait(store_->GetIfChanged(path, {})), IsError(ErrorKind::kInvalidArgument)) << path;
    EXPECT_THAT(Wait(store_->GetRange(path, {})), IsError(ErrorKind::kInvalidArgument)) << path;
    EXPECT_THAT(Wait(store_->PutIfAbsent(path, Bytes("x"))), IsError(ErrorKind::kInvalidArgument))
        << path;
    EXPECT_THAT(Wait(store_->PutAllIfAbsent({{.path = path, .bytes = Bytes("x")}})),
                IsError(ErrorKind::kInvalidArgument))
        << path;
    EXPECT_THAT(Wait(store_->PutIfMatch(path, Bytes("x"), {})),
                IsError(ErrorKind::kInvalidArgument))
        << path;
    EXPECT_THAT(Wait(store_->BeginUpload(path)), IsError(ErrorKind::kInvalidArgument)) << path;
    EXPECT_THAT(WaitDone(store_->Delete(path)), IsError(ErrorKind::kInvalidArgument)) << path;
  }
  EXPECT_THAT(Wait(store_->List("a/../")), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Paths(*store_, ""), IsEmpty());
}

TEST_P(ObjectStoreConformance, ASwapReplacesWhatWasExpected) {
  ASSERT_EQ(Put(*store_, "t/current", "one"), PutOutcome::kWritten);
  const ObjectVersion one = VersionOf(*store_, "t/current");
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put,
                              Wait(store_->PutIfMatch("t/current", Bytes("two"), one)));
  EXPECT_EQ(put.outcome, PutOutcome::kWritten);
  EXPECT_NE(put.version, one);
  EXPECT_EQ(Text(*store_, "t/current"), "two");
  EXPECT_EQ(VersionOf(*store_, "t/current"), put.version);
  EXPECT_THAT(Paths(*store_, ""), ElementsAre("t/current"));
}

TEST_P(ObjectStoreConformance, ASwapOfAnotherVersionChangesNothing) {
  ASSERT_EQ(Put(*store_, "current", "one"), PutOutcome::kWritten);
  const ObjectVersion one = VersionOf(*store_, "current");
  INFINO_ASSERT_OK(Wait(store_->PutIfMatch("current", Bytes("two"), one)));
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult late,
                              Wait(store_->PutIfMatch("current", Bytes("three"), one)));
  EXPECT_EQ(late.outcome, PutOutcome::kPreconditionFailed);
  EXPECT_TRUE(late.version.token.empty());
  EXPECT_EQ(Text(*store_, "current"), "two");
}

TEST_P(ObjectStoreConformance, ASwapOfAnAbsentObjectFailsItsPrecondition) {
  ASSERT_EQ(Put(*store_, "there/object", "x"), PutOutcome::kWritten);
  const ObjectVersion version = VersionOf(*store_, "there/object");
  for (const std::string path : {"current", "t/current", "there/current"}) {
    INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put,
                                Wait(store_->PutIfMatch(path, Bytes("y"), version)));
    EXPECT_EQ(put.outcome, PutOutcome::kPreconditionFailed) << path;
    EXPECT_THAT(Wait(store_->Get(path)), IsError(ErrorKind::kNotFound)) << path;
  }
  INFINO_ASSERT_OK(WaitDone(store_->Delete("there/object")));
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put,
                              Wait(store_->PutIfMatch("there/object", Bytes("y"), version)));
  EXPECT_EQ(put.outcome, PutOutcome::kPreconditionFailed);
  EXPECT_THAT(Paths(*store_, ""), IsEmpty());
}

TEST_P(ObjectStoreConformance, GetIfChangedGivesOnlyNews) {
  ASSERT_EQ(Put(*store_, "current", "one"), PutOutcome::kWritten);
  const ObjectVersion one = VersionOf(*store_, "current");
  for (int i = 0; i < 3; ++i) {
    INFINO_ASSERT_OK_AND_ASSIGN(const std::optional<VersionedBytes> same,
                                Wait(store_->GetIfChanged("current", one)));
    EXPECT_FALSE(same.has_value());
  }
  ObjectVersion known = one;
  for (int i = 0; i < 20; ++i) {
    const std::string text = "version " + std::to_string(i);
    INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put,
                                Wait(store_->PutIfMatch("current", Bytes(text), known)));
    ASSERT_EQ(put.outcome, PutOutcome::kWritten);
    INFINO_ASSERT_OK_AND_ASSIGN(const std::optional<VersionedBytes> news,
                                Wait(store_->GetIfChanged("current", known)));
    ASSERT_TRUE(news.has_value());
    EXPECT_EQ(news->bytes->ToString(), text);
    EXPECT_EQ(news->version, put.version);
    known = put.version;
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const std::optional<VersionedBytes> other,
                              Wait(store_->GetIfChanged("current", ObjectVersion{.token = "no"})));
  EXPECT_TRUE(other.has_value());
}

TEST_P(ObjectStoreConformance, PutAllWritesEverythingThatIsAbsent) {
  ASSERT_EQ(Put(*store_, "t/b", "before"), PutOutcome::kWritten);
  std::vector<StagedObject> objects;
  for (const std::string path : {"t/a", "t/b", "t/deep/er/c", "d"}) {
    objects.push_back({.path = path, .bytes = Bytes("of " + path)});
  }
  EXPECT_THAT(Wait(store_->PutAllIfAbsent(objects)),
              HasValue(ElementsAre(PutOutcome::kWritten, PutOutcome::kPreconditionFailed,
                                   PutOutcome::kWritten, PutOutcome::kWritten)));
  EXPECT_EQ(Text(*store_, "t/b"), "before");
  EXPECT_EQ(Text(*store_, "t/deep/er/c"), "of t/deep/er/c");
  EXPECT_THAT(Paths(*store_, ""), ElementsAre("d", "t/a", "t/b", "t/deep/er/c"));
  EXPECT_THAT(Wait(store_->PutAllIfAbsent({})), HasValue(IsEmpty()));
}

TEST_P(ObjectStoreConformance, PutAllTakesHundreds) {
  std::vector<StagedObject> objects;
  for (int i = 0; i < 200; ++i) {
    objects.push_back({.path = "data/" + std::to_string(i), .bytes = Bytes(std::to_string(i))});
  }
  EXPECT_THAT(Wait(store_->PutAllIfAbsent(objects)),
              HasValue(testing::AllOf(testing::SizeIs(200), testing::Each(PutOutcome::kWritten))));
  EXPECT_EQ(Paths(*store_, "data/").size(), 200);
  EXPECT_EQ(Text(*store_, "data/137"), "137");
}

TEST_P(ObjectStoreConformance, AnUploadBecomesOneObjectOfAllItsParts) {
  const auto part = Bytes(RandomText(kUploadPartBytes, TestSeed()));
  const auto other = Bytes(RandomText(kUploadPartBytes, TestSeed() + 1));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto upload, Wait(store_->BeginUpload("new/folder/u")));
  // In any order, and one of them again.
  INFINO_ASSERT_OK(WaitDone(upload->PutPart(2, Bytes("end"))));
  const arrow::Future<> first = upload->PutPart(0, part);
  const arrow::Future<> second = upload->PutPart(1, other);
  INFINO_ASSERT_OK(WaitDone(first));
  INFINO_ASSERT_OK(WaitDone(second));
  INFINO_ASSERT_OK(WaitDone(upload->PutPart(1, other)));
  EXPECT_THAT(Wait(store_->Get("new/folder/u")), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(Paths(*store_, ""), IsEmpty());
  EXPECT_THAT(Wait(upload->Complete(3)), HasValue(PutOutcome::kWritten));
  EXPECT_TRUE(Text(*store_, "new/folder/u") == part->ToString() + other->ToString() + "end");
  INFINO_EXPECT_OK(WaitDone(upload->Abort()));
  EXPECT_THAT(Paths(*store_, ""), ElementsAre("new/folder/u"));
}

TEST_P(ObjectStoreConformance, AnUploadDoesNotReplaceAnObject) {
  INFINO_ASSERT_OK_AND_ASSIGN(const auto upload, Wait(store_->BeginUpload("t/u")));
  INFINO_ASSERT_OK(WaitDone(upload->PutPart(0, Bytes("second"))));
  ASSERT_EQ(Put(*store_, "t/u", "first"), PutOutcome::kWritten);
  EXPECT_THAT(Wait(upload->Complete(1)), HasValue(PutOutcome::kPreconditionFailed));
  EXPECT_EQ(Text(*store_, "t/u"), "first");
  EXPECT_THAT(Paths(*store_, ""), ElementsAre("t/u"));
}

TEST_P(ObjectStoreConformance, NothingIsLeftOfAnUploadThatWasGivenUp) {
  for (const bool aborts : {true, false}) {
    INFINO_ASSERT_OK_AND_ASSIGN(auto upload, Wait(store_->BeginUpload("t/u")));
    INFINO_ASSERT_OK(WaitDone(upload->PutPart(0, Bytes("x"))));
    if (aborts) {
      INFINO_ASSERT_OK(WaitDone(upload->Abort()));
      INFINO_EXPECT_OK(WaitDone(upload->Abort()));
      EXPECT_THAT(Wait(upload->Complete(1)), IsError(ErrorKind::kInvalidArgument));
    }
    upload.reset();
    EXPECT_THAT(Wait(store_->Get("t/u")), IsError(ErrorKind::kNotFound));
    EXPECT_THAT(Paths(*store_, ""), IsEmpty());
  }
  EXPECT_EQ(Put(*store_, "t/u", "y"), PutOutcome::kWritten);
}

TEST_P(ObjectStoreConformance, AnUploadOfOtherPartsThanItSaysIsInvalid) {
  INFINO_ASSERT_OK_AND_ASSIGN(const auto upload, Wait(store_->BeginUpload("u")));
  EXPECT_THAT(Wait(upload->Complete(0)), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(WaitDone(upload->PutPart(-1, Bytes("x"))), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(WaitDone(upload->PutPart(0, Bytes(""))), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(WaitDone(upload->PutPart(0, Bytes(std::string(kUploadPartBytes + 1, 'x')))),
              IsError(ErrorKind::kInvalidArgument));
  INFINO_ASSERT_OK(WaitDone(upload->PutPart(1, Bytes("end"))));
  EXPECT_THAT(Wait(upload->Complete(1)), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Wait(upload->Complete(2)), IsError(ErrorKind::kInvalidArgument));
  INFINO_ASSERT_OK(WaitDone(upload->PutPart(0, Bytes("short"))));
  EXPECT_THAT(Wait(upload->Complete(2)), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Paths(*store_, ""), IsEmpty());
}

TEST_P(ObjectStoreConformance, OfRacingUploadsExactlyOneWins) {
  constexpr int kWriters = 8;
  INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<WorkPool> pool, WorkPool::Make(kWriters));
  std::atomic<int> winners = 0;
  std::atomic<int64_t> winner = -1;
  INFINO_ASSERT_OK(ParallelFor(pool.get(), kWriters, [&](int64_t i) -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const auto upload, Wait(store_->BeginUpload("race/u")));
    ARROW_RETURN_NOT_OK(WaitDone(upload->PutPart(0, Bytes("by " + std::to_string(i)))));
    ARROW_ASSIGN_OR_RAISE(const PutOutcome outcome, Wait(upload->Complete(1)));
    if (outcome == PutOutcome::kWritten) {
      ++winners;
      winner = i;
    }
    return arrow::Status::OK();
  }));
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(Text(*store_, "race/u"), "by " + std::to_string(winner));
  EXPECT_THAT(Paths(*store_, ""), ElementsAre("race/u"));
}

TEST_P(ObjectStoreConformance, OfRacingCreatorsExactlyOneWins) {
  constexpr int kWriters = 16;
  INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<WorkPool> pool, WorkPool::Make(kWriters));
  for (int round = 0; round < 5; ++round) {
    const std::string path = "race" + std::to_string(round) + "/x";
    std::atomic<int> winners = 0;
    std::atomic<int64_t> winner = -1;
    INFINO_ASSERT_OK(ParallelFor(pool.get(), kWriters, [&](int64_t i) -> arrow::Status {
      ARROW_ASSIGN_OR_RAISE(const PutResult put,
                            Wait(store_->PutIfAbsent(path, Bytes("by " + std::to_string(i)))));
      if (put.outcome == PutOutcome::kWritten) {
        ++winners;
        winner = i;
      }
      return arrow::Status::OK();
    }));
    EXPECT_EQ(winners, 1);
    EXPECT_EQ(Text(*store_, path), "by " + std::to_string(winner));
  }
}

TEST_P(ObjectStoreConformance, OfRacingSwapsExactlyOneWins) {
  constexpr int kWriters = 16;
  INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<WorkPool> pool, WorkPool::Make(kWriters));
  ASSERT_EQ(Put(*store_, "t/current", "start"), PutOutcome::kWritten);
  for (int round = 0; round < 10; ++round) {
    const ObjectVersion before = VersionOf(*store_, "t/current");
    std::atomic<int> winners = 0;
    std::atomic<int64_t> winner = -1;
    INFINO_ASSERT_OK(ParallelFor(pool.get(), kWriters, [&](int64_t i) -> arrow::Status {
      const std::string text = std::to_string(round) + " by " + std::to_string(i);
      ARROW_ASSIGN_OR_RAISE(const PutResult put,
                            Wait(store_->PutIfMatch("t/current", Bytes(text), before)));
      if (put.outcome == PutOutcome::kWritten) {
        ++winners;
        winner = i;
      }
      return arrow::Status::OK();
    }));
    EXPECT_EQ(winners, 1);
    EXPECT_EQ(Text(*store_, "t/current"), std::to_string(round) + " by " + std::to_string(winner));
  }
}

TEST_P(ObjectStoreConformance, RacingIncrementsAllCount) {
  constexpr int kWriters = 8;
  constexpr int kEach = 10;
  INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<WorkPool> pool, WorkPool::Make(kWriters));
  ASSERT_EQ(Put(*store_, "count/current", "0"), PutOutcome::kWritten);
  INFINO_ASSERT_OK(ParallelFor(pool.get(), kWriters, [&](int64_t) -> arrow::Status {
    for (int done = 0; done < kEach;) {
      ARROW_ASSIGN_OR_RAISE(const VersionedBytes now, Wait(store_->Get("count/current")));
      const std::string next = std::to_string(std::stoi(now.bytes->ToString()) + 1);
      ARROW_ASSIGN_OR_RAISE(const PutResult put,
                            Wait(store_->PutIfMatch("count/current", Bytes(next), now.version)));
      if (put.outcome == PutOutcome::kWritten) ++done;
    }
    return arrow::Status::OK();
  }));
  EXPECT_EQ(Text(*store_, "count/current"), std::to_string(kWriters * kEach));
}

TEST_P(ObjectStoreConformance, AFolderMayBeEmptiedWhileOthersWriteIntoIt) {
  constexpr int kWriters = 6;
  INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<WorkPool> pool, WorkPool::Make(kWriters));
  INFINO_ASSERT_OK(ParallelFor(pool.get(), kWriters, [&](int64_t i) -> arrow::Status {
    for (int round = 0; round < 10; ++round) {
      const std::string path = "deep/folder/" + std::to_string(i);
      ARROW_ASSIGN_OR_RAISE(const PutResult put, Wait(store_->PutIfAbsent(path, Bytes("x"))));
      EXPECT_EQ(put.outcome, PutOutcome::kWritten);
      ARROW_RETURN_NOT_OK(Wait(store_->Get(path)).status());
      ARROW_RETURN_NOT_OK(WaitDone(store_->Delete(path)));
    }
    return arrow::Status::OK();
  }));
  EXPECT_THAT(Paths(*store_, ""), IsEmpty());
}

}  // namespace infino
