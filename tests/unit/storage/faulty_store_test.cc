#include "support/faulty_store.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

std::shared_ptr<arrow::Buffer> Bytes(std::string text) {
  return arrow::Buffer::FromString(std::move(text));
}

class FaultyStoreTest : public testing::Test {
 protected:
  std::shared_ptr<ObjectStore> memory_ = MakeMemoryStore(std::make_shared<ManualClock>(1));
  FaultyStore store_{memory_, TestSeed(), FaultPlan()};
};

TEST_F(FaultyStoreTest, FailBeforeHasNoEffect) {
  store_.FailCall(0, {.fail_before = 1});
  EXPECT_THAT(Wait(store_.PutIfAbsent("a", Bytes("x"))), IsError(ErrorKind::kUnavailable));
  EXPECT_THAT(Wait(memory_->Get("a")), IsError(ErrorKind::kNotFound));
}

TEST_F(FaultyStoreTest, LoseAnswerHasItsEffect) {
  store_.FailCall(0, {.lose_answer = 1});
  EXPECT_THAT(Wait(store_.PutIfAbsent("a", Bytes("x"))), IsError(ErrorKind::kUnavailable));
  INFINO_EXPECT_OK(Wait(memory_->Get("a")));
}

TEST_F(FaultyStoreTest, ADelayedPutLandsLaterUnderItsCondition) {
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult one, Wait(store_.PutIfAbsent("p", Bytes("1"))));
  store_.FailCall(1, {.delay_put = 1});
  EXPECT_THAT(Wait(store_.PutIfMatch("p", Bytes("2"), one.version)),
              IsError(ErrorKind::kUnavailable));
  EXPECT_EQ(store_.pending_puts(), 1);
  INFINO_ASSERT_OK_AND_ASSIGN(const VersionedBytes before, Wait(memory_->Get("p")));
  EXPECT_EQ(before.bytes->ToString(), "1");
  EXPECT_EQ(store_.Settle(), 1);
  INFINO_ASSERT_OK_AND_ASSIGN(const VersionedBytes after, Wait(memory_->Get("p")));
  EXPECT_EQ(after.bytes->ToString(), "2");
}

TEST_F(FaultyStoreTest, AnEchoDeniesItsOwnEffect) {
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult one, Wait(store_.PutIfAbsent("p", Bytes("1"))));
  store_.FailCall(1, {.echo = 1});
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult two,
                              Wait(store_.PutIfMatch("p", Bytes("2"), one.version)));
  EXPECT_EQ(two.outcome, PutOutcome::kPreconditionFailed);
  INFINO_ASSERT_OK_AND_ASSIGN(const VersionedBytes after, Wait(memory_->Get("p")));
  EXPECT_EQ(after.bytes->ToString(), "2");
}

std::vector<std::string> TraceOf(uint64_t seed) {
  FaultyStore store(MakeMemoryStore(std::make_shared<ManualClock>(1)), seed,
                    FaultPlan::Everywhere(
                        {.fail_before = 0.1, .lose_answer = 0.1, .delay_put = 0.2, .echo = 0.1}));
  for (int i = 0; i < 100; ++i) {
    const std::string path = std::to_string(i % 10);
    EXPECT_TRUE(store.PutIfAbsent(path, Bytes(path)).is_finished());
    EXPECT_TRUE(store.Get(path).is_finished());
    EXPECT_TRUE(store.Delete(path).is_finished());
  }
  std::vector<std::string> trace = store.Trace();
  trace.push_back("pending " + std::to_string(store.pending_puts()));
  return trace;
}

TEST_F(FaultyStoreTest, OneSeedGivesOneTrace) {
  EXPECT_EQ(TraceOf(1), TraceOf(1));
  EXPECT_NE(TraceOf(1), TraceOf(2));
}

class AssertingStoreTest : public testing::Test {
 protected:
  std::vector<std::string> breaches_;
  AssertingStore store_{MakeMemoryStore(std::make_shared<ManualClock>(1)), nullptr,
                        [this](const std::string& breach) { breaches_.push_back(breach); }};
};

TEST_F(AssertingStoreTest, GoodCallersAreLeftAlone) {
  INFINO_ASSERT_OK(Wait(store_.PutIfAbsent("data/x", Bytes("1"))));
  INFINO_ASSERT_OK(Wait(store_.PutIfAbsent("data/x", Bytes("1"))));
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult one,
                              Wait(store_.PutIfAbsent("t/current", Bytes("1"))));
  for (int i = 0; i < 2; ++i) {
    INFINO_ASSERT_OK(Wait(store_.PutIfMatch("t/current", Bytes("2"), one.version)));
  }
  INFINO_ASSERT_OK(Wait(store_.GetRange("data/x", {.offset = 0, .length = 1})));
  EXPECT_THAT(breaches_, testing::IsEmpty());
}

TEST_F(AssertingStoreTest, EveryBreachIsReported) {
  INFINO_ASSERT_OK(Wait(store_.PutIfAbsent("data/x", Bytes("1"))));
  INFINO_ASSERT_OK(Wait(store_.PutAllIfAbsent({{.path = "data/x", .bytes = Bytes("2")}})));
  EXPECT_EQ(breaches_.size(), 1);
  INFINO_ASSERT_OK(Wait(store_.PutIfMatch("data/x", Bytes("2"), {})));
  EXPECT_EQ(breaches_.size(), 2);
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult one,
                              Wait(store_.PutIfAbsent("t/current", Bytes("1"))));
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult two,
                              Wait(store_.PutIfMatch("t/current", Bytes("2"), one.version)));
  INFINO_ASSERT_OK(Wait(store_.PutIfMatch("t/current", Bytes("1"), two.version)));
  EXPECT_EQ(breaches_.size(), 3);
  EXPECT_FALSE(Wait(store_.GetRange("data/x", {.offset = -1, .length = 1})).ok());
  EXPECT_EQ(breaches_.size(), 4);
}

}  // namespace
}  // namespace infino
