#include "infino/common/checksum.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/content_hash.h"
#include "infino/error.h"
#include "support/matchers.h"

namespace infino {
namespace {

TEST(Crc32c, AgreesWithThePublishedVectors) {
  EXPECT_EQ(Crc32c(AsBytes("123456789")), 0xE3069283U);
  EXPECT_EQ(Crc32c({}), 0U);
  EXPECT_EQ(Crc32c(std::vector<uint8_t>(32, 0)), 0x8A9136AAU);
  EXPECT_EQ(Crc32c(std::vector<uint8_t>(32, 0xff)), 0x62A8AB43U);
}

TEST(Crc32c, ExtendingByPartsGivesTheWhole) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 300; ++i) bytes.push_back(static_cast<uint8_t>(i * 7));
  const ByteSpan all(bytes);
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    EXPECT_EQ(ExtendCrc32c(Crc32c(all.first(cut)), all.subspan(cut)), Crc32c(all));
  }
}

TEST(ContentHash, AgreesWithThePublishedVectorsOfBlake3) {
  EXPECT_EQ(Blake3({}).ToHex(), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  EXPECT_EQ(Blake3(AsBytes("abc")).ToHex(),
            "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
}

TEST(ContentHash, ParsesOnlyWhatItPrints) {
  const ContentHash hash = Blake3(AsBytes("x"));
  EXPECT_THAT(ContentHash::FromHex(hash.ToHex()), HasValue(hash));
  EXPECT_THAT(ContentHash::FromHex(hash.ToHex().substr(1)), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(ContentHash::FromHex(hash.ToHex() + "0"), IsError(ErrorKind::kCorrupt));
}

}  // namespace
}  // namespace infino
