#include "infino/common/bytes.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/error.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

using ::testing::HasSubstr;

TEST(Bytes, EverythingWrittenIsReadBack) {
  ByteWriter writer;
  writer.WriteU8(0xab);
  writer.WriteU16(0x1234);
  writer.WriteU32(0xdeadbeef);
  writer.WriteU64(0x0123456789abcdefULL);
  writer.WriteF64(-0.5);
  writer.WriteString("word");
  writer.PatchU32(3, 7);
  ByteReader reader(writer.bytes(), "test");
  EXPECT_THAT(reader.ReadU8(), HasValue(0xab));
  EXPECT_THAT(reader.ReadU16(), HasValue(0x1234));
  EXPECT_THAT(reader.ReadU32(), HasValue(7U));
  EXPECT_THAT(reader.ReadU64(), HasValue(0x0123456789abcdefULL));
  EXPECT_THAT(reader.ReadF64(), HasValue(-0.5));
  EXPECT_THAT(reader.ReadString(), HasValue("word"));
  EXPECT_TRUE(reader.AtEnd());
}

TEST(Bytes, NumbersAreLittleEndian) {
  ByteWriter writer;
  writer.WriteU32(0x04030201);
  EXPECT_EQ(writer.Take(), (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(writer.size(), 0U);
}

TEST(Bytes, VarintsOfEveryLengthAreReadBack) {
  Random random(TestSeed());
  for (int bits = 0; bits <= 64; ++bits) {
    for (int round = 0; round < 20; ++round) {
      const uint64_t value = bits == 0 ? 0 : random.Next() >> (64 - bits);
      ByteWriter writer;
      writer.WriteVarint(value);
      ByteReader reader(writer.bytes(), "test");
      EXPECT_THAT(reader.ReadVarint(), HasValue(value));
      EXPECT_TRUE(reader.AtEnd());
    }
  }
}

TEST(Bytes, VarintOverSixtyFourBitsIsCorrupt) {
  const std::vector<uint8_t> largest = {255, 255, 255, 255, 255, 255, 255, 255, 255, 1};
  EXPECT_THAT(ByteReader(largest, "test").ReadVarint(),
              HasValue(std::numeric_limits<uint64_t>::max()));
  std::vector<uint8_t> too_large = largest;
  too_large.back() = 2;
  EXPECT_THAT(ByteReader(too_large, "test").ReadVarint(), IsError(ErrorKind::kCorrupt));
  const std::vector<uint8_t> too_long(11, 0x80);
  EXPECT_THAT(ByteReader(too_long, "test").ReadVarint(), IsError(ErrorKind::kCorrupt));
}

TEST(Bytes, FailedReadKeepsThePositionAndNamesObjectAndOffset) {
  const std::vector<uint8_t> bytes = {1, 200, 1, 0x80};
  ByteReader reader(bytes, "the object");
  ASSERT_THAT(reader.ReadU8(), HasValue(1));
  EXPECT_THAT(reader.ReadU32(), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(reader.ReadU64(), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(reader.ReadF64(), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(reader.ReadVarint(199), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(reader.ReadString(), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(reader.ReadBytes(4), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(reader.ReadBytes(std::numeric_limits<uint64_t>::max()), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(reader.Seek(5), IsError(ErrorKind::kCorrupt));
  EXPECT_EQ(reader.offset(), 1U);
  EXPECT_THAT(reader.ReadVarint(200), HasValue(200U));
  const arrow::Status status = reader.ReadVarint().status();
  EXPECT_THAT(status.message(), HasSubstr("the object"));
  EXPECT_THAT(status.message(), HasSubstr("offset=3"));
  INFINO_EXPECT_OK(reader.Seek(4));
  EXPECT_TRUE(reader.AtEnd());
}

TEST(Bytes, ViewsAndBuffersShareMemory) {
  const std::string_view text = "abc";
  EXPECT_EQ(AsText(AsBytes(text)).data(), text.data());
  std::vector<uint8_t> bytes = {1, 2, 3};
  const uint8_t* data = bytes.data();
  const auto buffer = ToBuffer(std::move(bytes));
  EXPECT_EQ(buffer->data(), data);
  EXPECT_EQ(buffer->size(), 3);
}

TEST(Bytes, LoadsAreUnaligned) {
  const std::vector<uint8_t> bytes = {0, 1, 2, 3, 4, 5, 6, 7, 0x88};
  EXPECT_EQ(LoadU16(bytes.data() + 1), 0x0201);
  EXPECT_EQ(LoadU32(bytes.data() + 1), 0x04030201U);
  EXPECT_EQ(LoadU64(bytes.data() + 1), 0x8807060504030201ULL);
}

}  // namespace
}  // namespace infino
