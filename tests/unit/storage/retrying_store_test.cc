#include "infino/storage/retrying_store.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/util/future.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/log.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "support/faulty_store.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

using testing::ElementsAre;

constexpr Faults kFailBefore{.fail_before = 1};
constexpr Faults kLoseAnswer{.lose_answer = 1};
constexpr Faults kDelay{.delay_put = 1};

std::shared_ptr<arrow::Buffer> Bytes(std::string text) {
  return arrow::Buffer::FromString(std::move(text));
}

/// A store whose Get answers later, when the test says so.
class LateStore final : public ObjectStore {
 public:
  arrow::Future<VersionedBytes> Get(std::string_view /*path*/) override {
    gets.push_back(arrow::Future<VersionedBytes>::Make());
    asked.MarkFinished();
    return gets.back();
  }

  arrow::Future<std::optional<VersionedBytes>> GetIfChanged(std::string_view /*path*/,
                                                            const ObjectVersion&) override {
    return MakeError(ErrorKind::kInternal, "unused");
  }

  arrow::Future<std::shared_ptr<arrow::Buffer>> GetRange(std::string_view, ByteRange) override {
    return MakeError(ErrorKind::kInternal, "unused");
  }

  arrow::Future<ObjectInfo> Head(std::string_view) override {
    return MakeError(ErrorKind::kInternal, "unused");
  }

  arrow::Future<PutResult> PutIfAbsent(std::string_view, std::shared_ptr<arrow::Buffer>) override {
    return MakeError(ErrorKind::kInternal, "unused");
  }

  arrow::Future<std::vector<PutOutcome>> PutAllIfAbsent(std::vector<StagedObject>) override {
    return MakeError(ErrorKind::kInternal, "unused");
  }

  arrow::Future<std::shared_ptr<ObjectUpload>> BeginUpload(std::string_view) override {
    return MakeError(ErrorKind::kInternal, "unused");
  }

  arrow::Future<PutResult> PutIfMatch(std::string_view, std::shared_ptr<arrow::Buffer>,
                                      const ObjectVersion&) override {
    return MakeError(ErrorKind::kInternal, "unused");
  }

  arrow::Future<std::vector<ObjectInfo>> List(std::string_view) override {
    return MakeError(ErrorKind::kInternal, "unused");
  }

  arrow::Future<> Delete(std::string_view) override {
    return arrow::Future<>::MakeFinished(MakeError(ErrorKind::kInternal, "unused"));
  }

  std::vector<arrow::Future<VersionedBytes>> gets;
  arrow::Future<> asked = arrow::Future<>::Make();
};

class RetryingStoreTest : public testing::Test {
 protected:
  void SetUp() override { Wrap({}); }

  void Wrap(const RetryOptions& options) {
    auto made = MakeRetryingStore(faulty_, clock_, std::make_shared<Random>(TestSeed()), options);
    ASSERT_THAT(made, IsOk());
    store_ = *made;
  }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(0);
  std::shared_ptr<ObjectStore> memory_ = MakeMemoryStore(clock_);
  std::shared_ptr<FaultyStore> faulty_ =
      std::make_shared<FaultyStore>(memory_, TestSeed(), FaultPlan());
  std::shared_ptr<ObjectStore> store_;
};

TEST_F(RetryingStoreTest, EachRepetitionIsLogged) {
  std::vector<std::string> messages;
  SetLogSink([&](LogLevel level, std::string_view message) {
    EXPECT_EQ(level, LogLevel::kWarning);
    messages.emplace_back(message);
  });
  INFINO_ASSERT_OK(Wait(memory_->PutIfAbsent("a", Bytes("x"))));
  for (size_t call = 0; call < 2; ++call) faulty_->FailCall(call, kFailBefore);
  INFINO_EXPECT_OK(Wait(store_->Get("a")));
  SetLogSink(nullptr);
  ASSERT_EQ(messages.size(), 2);
  EXPECT_THAT(messages[0], testing::HasSubstr("attempt 1 of"));
  EXPECT_THAT(messages[1], testing::HasSubstr("attempt 2 of"));
  faulty_->FailCall(3, kFailBefore);
  INFINO_EXPECT_OK(Wait(store_->Get("a")));  // Nobody listens any more.
  EXPECT_EQ(messages.size(), 2);
}

TEST_F(RetryingStoreTest, AFailedReadIsRepeatedAfterGrowingPauses) {
  INFINO_ASSERT_OK(Wait(memory_->PutIfAbsent("a", Bytes("x"))));
  for (size_t call = 0; call < 3; ++call) faulty_->FailCall(call, kFailBefore);
  INFINO_EXPECT_OK(Wait(store_->Get("a")));
  EXPECT_EQ(faulty_->call_count(), 4);
  // 50, 100 and 200 ms, each shortened by up to a half, in whole milliseconds.
  EXPECT_GE(clock_->UnixMs(), 25 + 50 + 100);
  EXPECT_LE(clock_->UnixMs(), 50 + 100 + 200);
}

TEST_F(RetryingStoreTest, TriesAreBounded) {
  Wrap({.tries_max = 4});
  faulty_->SetPlan(FaultPlan::Everywhere(kFailBefore));
  EXPECT_THAT(Wait(store_->Head("a")), IsError(ErrorKind::kUnavailable));
  EXPECT_EQ(faulty_->call_count(), 4);
}

TEST_F(RetryingStoreTest, NoTryStartsAfterTheDeadline) {
  Wrap({.tries_max = 1000, .first_delay_ms = 100, .longest_delay_ms = 100, .deadline_ms = 1000});
  faulty_->SetPlan(FaultPlan::Everywhere(kFailBefore));
  EXPECT_THAT(Wait(store_->List("")), IsError(ErrorKind::kUnavailable));
  EXPECT_LE(clock_->UnixMs(), 1000);
  EXPECT_GE(clock_->UnixMs(), 900);
}

TEST_F(RetryingStoreTest, OtherFailuresAreFinal) {
  EXPECT_THAT(Wait(store_->Get("absent")), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(Wait(store_->Get("../x")), IsError(ErrorKind::kInvalidArgument));
  EXPECT_EQ(faulty_->call_count(), 2);
  EXPECT_EQ(clock_->UnixMs(), 0);
}

TEST_F(RetryingStoreTest, ASwapIsNeverRepeated) {
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put, Wait(memory_->PutIfAbsent("p", Bytes("1"))));
  faulty_->FailCall(0, kFailBefore);
  EXPECT_THAT(Wait(store_->PutIfMatch("p", Bytes("2"), put.version)),
              IsError(ErrorKind::kUnavailable));
  EXPECT_EQ(faulty_->call_count(), 1);
}

TEST_F(RetryingStoreTest, APutWhoseAnswerWasLostIsKnownAgain) {
  faulty_->FailCall(0, kLoseAnswer);
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put, Wait(store_->PutIfAbsent("a", Bytes("x"))));
  EXPECT_EQ(put.outcome, PutOutcome::kWritten);
  INFINO_ASSERT_OK_AND_ASSIGN(const VersionedBytes got, Wait(memory_->Get("a")));
  EXPECT_EQ(put.version, got.version);
}

TEST_F(RetryingStoreTest, AnotherWritersObjectIsNotMistakenForOnesOwn) {
  INFINO_ASSERT_OK(Wait(memory_->PutIfAbsent("a", Bytes("theirs"))));
  faulty_->FailCall(0, kFailBefore);
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put, Wait(store_->PutIfAbsent("a", Bytes("mine"))));
  EXPECT_EQ(put.outcome, PutOutcome::kPreconditionFailed);
}

TEST_F(RetryingStoreTest, EqualBytesOfAnotherCountOnlyAfterAnUnclearAnswer) {
  INFINO_ASSERT_OK(Wait(memory_->PutIfAbsent("a", Bytes("same"))));
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put, Wait(store_->PutIfAbsent("a", Bytes("same"))));
  EXPECT_EQ(put.outcome, PutOutcome::kPreconditionFailed);
  EXPECT_EQ(faulty_->call_count(), 1);
}

TEST_F(RetryingStoreTest, TheReadBackIsRepeatedToo) {
  faulty_->FailCall(0, kLoseAnswer);
  faulty_->FailCall(2, kFailBefore);
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put, Wait(store_->PutIfAbsent("a", Bytes("x"))));
  EXPECT_EQ(put.outcome, PutOutcome::kWritten);
}

TEST_F(RetryingStoreTest, ALatePutThatLandsBeforeTheRetryIsOnesOwn) {
  faulty_->FailCall(0, kDelay);
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put, Wait(store_->PutIfAbsent("a", Bytes("x"))));
  EXPECT_EQ(put.outcome, PutOutcome::kWritten);
  faulty_->Settle();
  INFINO_ASSERT_OK_AND_ASSIGN(const VersionedBytes got, Wait(memory_->Get("a")));
  EXPECT_EQ(got.version, put.version);
}

TEST_F(RetryingStoreTest, PutAllSettlesEachObjectByItself) {
  INFINO_ASSERT_OK(Wait(memory_->PutIfAbsent("b", Bytes("theirs"))));
  faulty_->FailCall(0, kLoseAnswer);
  EXPECT_THAT(Wait(store_->PutAllIfAbsent({{.path = "a", .bytes = Bytes("1")},
                                           {.path = "b", .bytes = Bytes("2")},
                                           {.path = "c", .bytes = Bytes("3")}})),
              HasValue(ElementsAre(PutOutcome::kWritten, PutOutcome::kPreconditionFailed,
                                   PutOutcome::kWritten)));
}

TEST_F(RetryingStoreTest, AStormOfFaultsLosesNothing) {
  Wrap({.tries_max = 200, .first_delay_ms = 1, .longest_delay_ms = 5, .deadline_ms = 1'000'000});
  faulty_->SetPlan(
      FaultPlan::Everywhere({.fail_before = 0.2, .lose_answer = 0.2, .delay_put = 0.2}));
  for (int i = 0; i < 200; ++i) {
    const std::string text = std::to_string(i);
    INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put,
                                Wait(store_->PutIfAbsent("o/" + text, Bytes(text))));
    EXPECT_EQ(put.outcome, PutOutcome::kWritten);
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const auto infos, Wait(store_->List("o/")));
  EXPECT_EQ(infos.size(), 200);
}

TEST_F(RetryingStoreTest, AnAnswerThatFailsLaterIsFollowedByAnotherTry) {
  const auto late = std::make_shared<LateStore>();
  INFINO_ASSERT_OK_AND_ASSIGN(
      store_, MakeRetryingStore(late, clock_, std::make_shared<Random>(TestSeed())));
  const arrow::Future<VersionedBytes> got = store_->Get("a");
  ASSERT_EQ(late->gets.size(), 1);
  const arrow::Future<VersionedBytes> first = late->gets.front();
  late->asked = arrow::Future<>::Make();
  const arrow::Future<> asked_again = late->asked;
  arrow::Future<VersionedBytes>(first).MarkFinished(MakeError(ErrorKind::kUnavailable, "down"));
  INFINO_ASSERT_OK(WaitDone(asked_again));
  EXPECT_FALSE(got.is_finished());
  // Touched by the store's thread before it told us.
  late->gets.back().MarkFinished(VersionedBytes{.bytes = Bytes("x"), .version = {}});
  INFINO_ASSERT_OK_AND_ASSIGN(const VersionedBytes answer, Wait(got));
  EXPECT_EQ(answer.bytes->ToString(), "x");
  EXPECT_GT(clock_->UnixMs(), 0);
}

}  // namespace
}  // namespace infino
