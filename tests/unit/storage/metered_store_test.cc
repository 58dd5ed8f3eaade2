#include "infino/storage/metered_store.h"

#include <memory>
#include <string>

#include <arrow/buffer.h>
#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/storage/memory_store.h"
#include "support/matchers.h"

namespace infino {
namespace {

TEST(MeteredStore, EveryRequestAndByteIsCounted) {
  const auto meter = std::make_shared<StoreMeter>();
  const auto store = MakeMeteredStore(MakeMemoryStore(SystemClock()), meter);
  const auto bytes = [](const std::string& text) { return arrow::Buffer::FromString(text); };
  INFINO_ASSERT_OK_AND_ASSIGN(const PutResult put, Wait(store->PutIfAbsent("a", bytes("12345"))));
  INFINO_ASSERT_OK(Wait(store->PutAllIfAbsent(
      {{.path = "b", .bytes = bytes("67")}, {.path = "c", .bytes = bytes("8")}})));
  INFINO_ASSERT_OK(Wait(store->GetIfChanged("a", put.version)));
  INFINO_ASSERT_OK(Wait(store->GetIfChanged("a", {})));
  INFINO_ASSERT_OK(Wait(store->PutIfMatch("a", bytes("swapped"), put.version)));
  INFINO_ASSERT_OK(Wait(store->Get("a")));
  INFINO_ASSERT_OK(Wait(store->GetRange("a", {.offset = 1, .length = 3})));
  EXPECT_THAT(Wait(store->GetRange("a", {.offset = 1, .length = 30})),
              IsError(ErrorKind::kCorrupt));
  INFINO_ASSERT_OK(Wait(store->Head("a")));
  INFINO_ASSERT_OK(Wait(store->List("")));
  const StoreCounters before = meter->Snapshot();
  INFINO_ASSERT_OK(WaitDone(store->Delete("a")));
  const StoreCounters counters = meter->Snapshot();
  EXPECT_EQ(counters, (StoreCounters{.get = 1,
                                     .get_if_changed = 2,
                                     .get_range = 2,
                                     .head = 1,
                                     .put_if_absent = 3,
                                     .put_if_match = 1,
                                     .list = 1,
                                     .remove = 1,
                                     .bytes_read = 5 + 7 + 3,
                                     .bytes_written = 5 + 2 + 1 + 7}));
  EXPECT_EQ(counters.requests(), 12);
  EXPECT_EQ(counters.Since(before), (StoreCounters{.remove = 1}));
}

}  // namespace
}  // namespace infino
