#include "infino/storage/blob_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/storage/block_cache.h"
#include "infino/storage/local_store.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/metered_store.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "support/temporary_folder.h"

namespace infino {
namespace {

std::string PatternOf(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>((i * 7 + i / 256) % 251);
  return text;
}

class BlobReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto store = MakeMemoryStore(SystemClock());
    INFINO_ASSERT_OK(Wait(store->PutIfAbsent("blob", arrow::Buffer::FromString(text_))));
    source_ = {.store = MakeMeteredStore(store, meter_),
               .cache = std::make_shared<BlockCache>(1 << 20),
               .limits = {.hole_bytes = 16, .request_bytes = 4096}};
  }

  [[nodiscard]] BlobReader Reader() const {
    return {source_, "blob", static_cast<int64_t>(text_.size())};
  }

  const std::string text_ = PatternOf(20'000);
  std::shared_ptr<StoreMeter> meter_ = std::make_shared<StoreMeter>();
  BlobSource source_;
};

TEST_F(BlobReaderTest, RangesComeBackInTheirOrder) {
  const std::vector<ByteRange> ranges = {{5000, 10}, {0, 4}, {5005, 20}, {12, 0}, {19'990, 10}};
  INFINO_ASSERT_OK_AND_ASSIGN(const Buffers buffers, Wait(Reader().Read(ranges)));
  ASSERT_EQ(buffers.size(), ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(buffers[i]->ToString(), text_.substr(static_cast<size_t>(ranges[i].offset),
                                                   static_cast<size_t>(ranges[i].length)));
  }
  EXPECT_EQ(meter_->Snapshot().get_range, 3);
}

TEST_F(BlobReaderTest, WhatIsResidentIsNotFetchedAgain) {
  const BlobReader reader = Reader();
  EXPECT_FALSE(reader.TryRead(std::vector<ByteRange>{{100, 50}}).has_value());
  INFINO_ASSERT_OK(Wait(reader.Read({{100, 50}})));
  const std::optional<Buffers> warm = reader.TryRead(std::vector<ByteRange>{{110, 10}, {149, 1}});
  ASSERT_TRUE(warm.has_value());
  EXPECT_EQ(warm->at(0)->ToString(), text_.substr(110, 10));
  INFINO_ASSERT_OK(Wait(reader.Read({{120, 5}, {3000, 5}})));
  EXPECT_EQ(meter_->Snapshot().get_range, 2);
  EXPECT_EQ(meter_->Snapshot().bytes_read, 55);
}

TEST_F(BlobReaderTest, ARangePastTheSizeFailsBeforeAnyRequest) {
  const BlobReader reader = Reader();
  for (const ByteRange range :
       {ByteRange{20'000, 1}, ByteRange{-1, 1}, ByteRange{0, -1}, ByteRange{1, int64_t{1} << 62}}) {
    EXPECT_THAT(Wait(reader.Read({{0, 1}, range})), IsError(ErrorKind::kCorrupt));
    EXPECT_FALSE(reader.TryRead(std::vector{range}).has_value());
  }
  EXPECT_EQ(meter_->Snapshot().requests(), 0);
}

TEST_F(BlobReaderTest, AShorterOrMissingObjectIsAnError) {
  const BlobReader longer(source_, "blob", 30'000);
  EXPECT_THAT(Wait(longer.Read({{0, 10}, {25'000, 10}})), IsError(ErrorKind::kCorrupt));
  const BlobReader missing(source_, "missing", 30'000);
  EXPECT_THAT(Wait(missing.Read({{0, 10}})), IsError(ErrorKind::kNotFound));
}

TEST_F(BlobReaderTest, RandomReadsMatchTheBytes) {
  source_.cache = std::make_shared<BlockCache>(8000);
  const BlobReader reader = Reader();
  Random random(TestSeed());
  for (int round = 0; round < 500; ++round) {
    std::vector<ByteRange> ranges(1 + random.Below(6));
    for (ByteRange& range : ranges) {
      range.offset = static_cast<int64_t>(random.Below(text_.size()));
      range.length = static_cast<int64_t>(
          random.Below(std::min<size_t>(1500, text_.size() - static_cast<size_t>(range.offset))));
    }
    INFINO_ASSERT_OK_AND_ASSIGN(const Buffers buffers, Wait(reader.Read(ranges)));
    for (size_t i = 0; i < ranges.size(); ++i) {
      ASSERT_EQ(buffers[i]->ToString(), text_.substr(static_cast<size_t>(ranges[i].offset),
                                                     static_cast<size_t>(ranges[i].length)));
    }
  }
}

TEST_F(BlobReaderTest, TheReaderMayGoWhileItsReadIsUnderWay) {
  const TemporaryFolder folder;
  INFINO_ASSERT_OK_AND_ASSIGN(auto local, OpenLocalStore(folder.path()));
  constexpr int64_t kSize = 3 << 20;
  INFINO_ASSERT_OK(
      Wait(local->PutIfAbsent("big", arrow::Buffer::FromString(std::string(kSize, 'x')))));
  arrow::Future<Buffers> reading;
  {
    const BlobSource source{.store = std::move(local), .cache = std::make_shared<BlockCache>(100)};
    reading = BlobReader(source, "big", kSize).Read({{0, kSize}});
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const Buffers buffers, Wait(reading));
  EXPECT_EQ(buffers.at(0)->size(), kSize);
}

}  // namespace
}  // namespace infino
