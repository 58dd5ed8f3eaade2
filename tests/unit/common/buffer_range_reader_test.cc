#include "infino/common/buffer_range_reader.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/error.h"
#include "support/matchers.h"

namespace infino {
namespace {

std::shared_ptr<BufferRangeReader> ReaderOf(int count) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(i));
  return std::make_shared<BufferRangeReader>(ToBuffer(std::move(bytes)), "test bytes");
}

TEST(BufferRangeReader, ReturnsOneBufferForEachRangeInOrder) {
  const auto reader = ReaderOf(10);
  EXPECT_EQ(reader->size(), 10);
  INFINO_ASSERT_OK_AND_ASSIGN(
      const Buffers buffers,
      reader->Read({{.offset = 7, .length = 3}, {.offset = 0, .length = 2}, {.offset = 10}})
          .result());
  ASSERT_EQ(buffers.size(), 3U);
  EXPECT_EQ(buffers[0]->size(), 3);
  EXPECT_EQ(buffers[0]->data()[0], 7);
  EXPECT_EQ(buffers[1]->size(), 2);
  EXPECT_EQ(buffers[1]->data()[1], 1);
  EXPECT_EQ(buffers[2]->size(), 0);
}

TEST(BufferRangeReader, RejectsRangesOutsideAsCorrupt) {
  const auto reader = ReaderOf(10);
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  const std::vector<ByteRange> outside = {
      {.offset = 8, .length = 3},  {.offset = 11, .length = 0},    {.offset = -1, .length = 2},
      {.offset = 2, .length = -1}, {.offset = 1, .length = kHuge}, {.offset = kHuge, .length = 1}};
  for (const ByteRange& range : outside) {
    EXPECT_THAT(reader->Read({range}).result(), IsError(ErrorKind::kCorrupt));
    EXPECT_EQ(reader->TryRead(std::vector<ByteRange>{range}), std::nullopt);
  }
}

TEST(SubrangeReader, ReadsRelativeToItsPartAndNotBeyondIt) {
  const SubrangeReader part(ReaderOf(10), {.offset = 4, .length = 3});
  EXPECT_EQ(part.size(), 3);
  INFINO_ASSERT_OK_AND_ASSIGN(const Buffers buffers,
                              part.Read({{.offset = 1, .length = 2}}).result());
  EXPECT_EQ(buffers[0]->data()[0], 5);
  const auto resident = part.TryRead(std::vector<ByteRange>{{.offset = 0, .length = 3}});
  ASSERT_TRUE(resident.has_value());
  EXPECT_EQ(resident->front()->data()[0], 4);
  EXPECT_THAT(part.Read({{.offset = 2, .length = 2}}).result(), IsError(ErrorKind::kCorrupt));
  EXPECT_EQ(part.TryRead(std::vector<ByteRange>{{.offset = 2, .length = 2}}), std::nullopt);
}

}  // namespace
}  // namespace infino
