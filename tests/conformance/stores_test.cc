#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "conformance/object_store_conformance.h"
#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/storage/local_store.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/metered_store.h"
#include "infino/storage/object_store.h"
#include "infino/storage/retrying_store.h"
#include "support/faulty_store.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

constexpr int64_t kStartMs = 1'700'000'000'000;

std::shared_ptr<ObjectStore> Memory(const std::string& /*folder*/) {
  return MakeMemoryStore(std::make_shared<ManualClock>(kStartMs));
}

std::shared_ptr<ObjectStore> Local(const std::string& folder) {
  const auto opened = OpenLocalStore(folder);
  EXPECT_THAT(opened, IsOk());
  return opened.ValueOr(nullptr);
}

std::shared_ptr<ObjectStore> Metered(std::shared_ptr<ObjectStore> store) {
  return MakeMeteredStore(std::move(store), std::make_shared<StoreMeter>());
}

std::shared_ptr<ObjectStore> Retrying(std::shared_ptr<ObjectStore> store,
                                      const RetryOptions& options = {}) {
  const auto made = MakeRetryingStore(std::move(store), std::make_shared<ManualClock>(kStartMs),
                                      std::make_shared<Random>(TestSeed()), options);
  EXPECT_THAT(made, IsOk());
  return made.ValueOr(nullptr);
}

/// Retries over a store that fails often must look like one that never does. Swaps, which are not
/// repeated, don't fail here; nor do late puts, which a deletion can't undo.
std::shared_ptr<ObjectStore> RetryingOverFaulty(const std::string& folder) {
  FaultPlan plan = FaultPlan::Everywhere({.fail_before = 0.2, .lose_answer = 0.2});
  plan.Set(StoreOp::kPutIfMatch, {});
  return Retrying(std::make_shared<FaultyStore>(Memory(folder), TestSeed(), plan),
                  {.tries_max = 100, .first_delay_ms = 1, .deadline_ms = 1'000'000'000});
}

INSTANTIATE_TEST_SUITE_P(
    Stores, ObjectStoreConformance,
    testing::Values(
        StoreCase{.name = "Memory", .make = Memory}, StoreCase{.name = "Local", .make = Local},
        StoreCase{.name = "MeteredMemory",
                  .make = [](const std::string& folder) { return Metered(Memory(folder)); }},
        StoreCase{.name = "MeteredLocal",
                  .make = [](const std::string& folder) { return Metered(Local(folder)); }},
        StoreCase{.name = "RetryingMemory",
                  .make = [](const std::string& folder) { return Retrying(Memory(folder)); }},
        StoreCase{.name = "RetryingLocal",
                  .make = [](const std::string& folder) { return Retrying(Local(folder)); }},
        StoreCase{.name = "FaultlessFaulty",
                  .make =
                      [](const std::string& folder) {
                        return std::make_shared<FaultyStore>(Memory(folder), TestSeed(),
                                                             FaultPlan());
                      }},
        StoreCase{.name = "RetryingOverFaulty", .make = RetryingOverFaulty},
        StoreCase{.name = "Asserting",
                  .make =
                      [](const std::string& folder) {
                        return std::make_shared<AssertingStore>(
                            Memory(folder), nullptr, [](const std::string& /*breach*/) {});
                      }}),
    [](const testing::TestParamInfo<StoreCase>& one) { return one.param.name; });

}  // namespace
}  // namespace infino
