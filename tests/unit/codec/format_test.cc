#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/codec/bloom_filter.h"
#include "infino/codec/fst_builder.h"
#include "infino/codec/row_bitmap.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "support/matchers.h"

namespace infino {
namespace {

/// The hexadecimal digits at the beginnings of the lines of the block that follows `title`: bytes
/// are in pairs of digits, and two spaces begin a remark.
std::string ExampleAfter(std::string_view title) {
  std::ifstream file(INFINO_FORMAT_DOCS "/primitives.md");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const size_t start = text.find("```\n", text.find(title));
  if (start == std::string::npos) return "no example";
  std::string digits;
  bool in_remark = false;
  for (size_t at = start + 4; at < text.size() && text[at] != '`'; ++at) {
    in_remark = text[at] != '\n' && (in_remark || text.compare(at, 2, "  ") == 0);
    if (!in_remark && text[at] != ' ' && text[at] != '\n') digits += text[at];
  }
  return digits;
}

TEST(PrimitivesDocument, ShowsATransducer) {
  FstBuilder builder;
  INFINO_ASSERT_OK(builder.Add("fox", 1));
  INFINO_ASSERT_OK(builder.Add("foxes", 5));
  INFINO_ASSERT_OK(builder.Add("hen", 6));
  INFINO_ASSERT_OK_AND_ASSIGN(const std::vector<uint8_t> bytes, builder.Finish());
  EXPECT_EQ(FormatHex(bytes), ExampleAfter("The transducer of"));
}

TEST(PrimitivesDocument, ShowsABloomFilter) {
  BloomFilterBuilder builder(1);
  builder.Add("fox");
  EXPECT_EQ(FormatHex(builder.Finish()), ExampleAfter("The Bloom filter of"));
}

TEST(PrimitivesDocument, ShowsADocumentSet) {
  EXPECT_EQ(FormatHex(RowBitmap::Of({1, 5, 70'000}).Serialize()),
            ExampleAfter("The document set of"));
}

}  // namespace
}  // namespace infino
