#include "infino/storage/block_cache.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

using BufferFuture = arrow::Future<std::shared_ptr<arrow::Buffer>>;

/// The byte that object `name` has at `offset`.
char ByteAt(const std::string& name, int64_t offset) {
  return static_cast<char>((offset * 131 + offset / 251 + static_cast<int64_t>(name.size()) * 17) %
                           127);
}

std::shared_ptr<arrow::Buffer> Content(const std::string& name, ByteRange range) {
  std::string text(static_cast<size_t>(range.length), '\0');
  for (int64_t i = 0; i < range.length; ++i) {
    text[static_cast<size_t>(i)] = ByteAt(name, range.offset + i);
  }
  return arrow::Buffer::FromString(std::move(text));
}

std::shared_ptr<arrow::Buffer> Find(BlockCache& cache, const CacheKey& key, ByteRange range) {
  return cache.FindEach(key, std::vector{range}).at(0);
}

TEST(BlockCache, AnyRangeInsideAnEntryIsFoundWithoutACopy) {
  BlockCache cache(1000);
  const CacheKey key("a");
  const auto bytes = Content("a", {100, 50});
  cache.Insert(key, 100, bytes);
  EXPECT_EQ(Find(cache, key, {100, 50}), bytes);
  const auto slice = Find(cache, key, {110, 5});
  ASSERT_NE(slice, nullptr);
  EXPECT_EQ(slice->data(), bytes->data() + 10);
  EXPECT_EQ(slice->size(), 5);
  EXPECT_EQ(Find(cache, key, {99, 2}), nullptr);
  EXPECT_EQ(Find(cache, key, {149, 2}), nullptr);
  EXPECT_EQ(Find(cache, CacheKey("b"), {110, 5}), nullptr);
}

TEST(BlockCache, FindAllIsAllOrNothing) {
  BlockCache cache(1000);
  const CacheKey key("a");
  cache.Insert(key, 0, Content("a", {0, 10}));
  EXPECT_TRUE(cache.FindAll(key, std::vector<ByteRange>{{0, 3}, {5, 5}, {77, 0}}).has_value());
  EXPECT_FALSE(cache.FindAll(key, std::vector<ByteRange>{{0, 3}, {9, 2}}).has_value());
  EXPECT_TRUE(cache.FindAll(key, {}).has_value());
}

TEST(BlockCache, ALargerEntryTakesTheSmallerOnesIn) {
  BlockCache cache(1000);
  const CacheKey key("a");
  cache.Insert(key, 10, Content("a", {10, 10}));
  cache.Insert(key, 30, Content("a", {30, 10}));
  EXPECT_EQ(cache.size_bytes(), 20);
  cache.Insert(key, 0, Content("a", {0, 50}));
  EXPECT_EQ(cache.size_bytes(), 50);
  cache.Insert(key, 10, Content("a", {10, 10}));
  EXPECT_EQ(cache.size_bytes(), 50);
  EXPECT_NE(Find(cache, key, {5, 40}), nullptr);
}

TEST(BlockCache, TheLeastRecentlyUsedGoesFirst) {
  BlockCache cache(400);
  std::vector<CacheKey> keys;
  for (int i = 0; i < 5; ++i) keys.emplace_back("object " + std::to_string(i));
  for (size_t i = 0; i < 4; ++i) cache.Insert(keys[i], 0, Content("x", {0, 100}));
  EXPECT_NE(Find(cache, keys[0], {0, 1}), nullptr);
  cache.Insert(keys[4], 0, Content("x", {0, 100}));
  EXPECT_EQ(cache.size_bytes(), 400);
  EXPECT_NE(Find(cache, keys[0], {0, 1}), nullptr);
  EXPECT_EQ(Find(cache, keys[1], {0, 1}), nullptr);
  EXPECT_NE(Find(cache, keys[4], {0, 1}), nullptr);
  EXPECT_EQ(cache.counters().evicted, 1);
}

TEST(BlockCache, ARangeOverAQuarterOfTheBudgetIsNotKept) {
  BlockCache cache(400);
  const CacheKey key("a");
  cache.Insert(key, 0, Content("a", {0, 101}));
  EXPECT_EQ(cache.size_bytes(), 0);
  cache.Insert(key, 0, Content("a", {0, 100}));
  EXPECT_EQ(cache.size_bytes(), 100);
}

TEST(BlockCache, AFetchUnderWayIsSharedByThoseItContains) {
  BlockCache cache(1000);
  const CacheKey key("a");
  auto pending = BufferFuture::Make();
  int fetches = 0;
  const BlockCache::Fetch fetch = [&](ByteRange) {
    ++fetches;
    return pending;
  };
  const BufferFuture first = cache.GetOrFetch(key, {0, 100}, fetch);
  const BufferFuture second = cache.GetOrFetch(key, {20, 10}, fetch);
  EXPECT_EQ(fetches, 1);
  EXPECT_FALSE(second.is_finished());
  pending.MarkFinished(Content("a", {0, 100}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto part, Wait(second));
  EXPECT_TRUE(part->Equals(*Content("a", {20, 10})));
  INFINO_ASSERT_OK(Wait(first));
  INFINO_ASSERT_OK(Wait(cache.GetOrFetch(key, {50, 10}, fetch)));
  EXPECT_EQ(fetches, 1);
  EXPECT_EQ(cache.counters().joined, 1);
}

TEST(BlockCache, AFailedFetchIsToldToAllAndForgotten) {
  BlockCache cache(1000);
  const CacheKey key("a");
  auto pending = BufferFuture::Make();
  const BlockCache::Fetch failing = [&](ByteRange) { return pending; };
  const BufferFuture first = cache.GetOrFetch(key, {0, 100}, failing);
  const BufferFuture second = cache.GetOrFetch(key, {20, 10}, failing);
  pending.MarkFinished(MakeError(ErrorKind::kUnavailable, "down"));
  EXPECT_THAT(Wait(first), IsError(ErrorKind::kUnavailable));
  EXPECT_THAT(Wait(second), IsError(ErrorKind::kUnavailable));
  const BlockCache::Fetch good = [](ByteRange range) -> BufferFuture {
    return Content("a", range);
  };
  INFINO_EXPECT_OK(Wait(cache.GetOrFetch(key, {0, 100}, good)));
}

TEST(BlockCache, AShortAnswerIsCorruptAndNotKept) {
  BlockCache cache(1000);
  const CacheKey key("the object");
  const BlockCache::Fetch shorter = [](ByteRange range) -> BufferFuture {
    return Content("a", {range.offset, range.length - 1});
  };
  EXPECT_THAT(Wait(cache.GetOrFetch(key, {0, 100}, shorter)), IsError(ErrorKind::kCorrupt));
  EXPECT_EQ(cache.size_bytes(), 0);
}

TEST(BlockCache, AFetchMayOutliveTheCache) {
  auto pending = BufferFuture::Make();
  BufferFuture got;
  {
    BlockCache cache(1000);
    got = cache.GetOrFetch(CacheKey("a"), {0, 10}, [&](ByteRange) { return pending; });
  }
  pending.MarkFinished(Content("a", {0, 10}));
  INFINO_EXPECT_OK(Wait(got));
}

TEST(BlockCache, ThreadsAlwaysGetTheRightBytesWithinTheBudget) {
  constexpr int64_t kBudget = 20'000;
  BlockCache cache(kBudget);
  std::atomic<int64_t> fetches = 0;
  INFINO_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<WorkPool> pool, WorkPool::Make(4));
  INFINO_ASSERT_OK(ParallelFor(pool.get(), 8, [&](int64_t thread) -> arrow::Status {
    Random random(TestSeed() + static_cast<uint64_t>(thread));
    for (int i = 0; i < 3000; ++i) {
      const std::string name(1 + random.Below(20), 'o');
      const ByteRange range{.offset = static_cast<int64_t>(random.Below(3000)),
                            .length = 1 + static_cast<int64_t>(random.Below(500))};
      const BlockCache::Fetch fetch = [&](ByteRange wanted) -> BufferFuture {
        ++fetches;
        return Content(name, wanted);
      };
      ARROW_ASSIGN_OR_RAISE(const auto bytes, Wait(cache.GetOrFetch(CacheKey(name), range, fetch)));
      EXPECT_TRUE(bytes->Equals(*Content(name, range)));
    }
    return arrow::Status::OK();
  }));
  EXPECT_LE(cache.size_bytes(), kBudget);
  EXPECT_GT(cache.size_bytes(), kBudget / 2);
  const BlockCacheCounters counters = cache.counters();
  EXPECT_EQ(counters.misses, fetches);
  EXPECT_EQ(counters.hits + counters.misses + counters.joined, 8 * 3000);
  EXPECT_GT(counters.evicted, 0);
}

}  // namespace
}  // namespace infino
