// The example of docs/format/superfile.md is what the code writes and reads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/superfile/open_section.h"
#include "support/matchers.h"

namespace infino {
namespace {

/// The hexadecimal digits of the indented lines behind "## Example": two spaces begin a remark.
std::string ExampleOf(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::istringstream lines(text.substr(std::min(text.find("## Example"), text.size())));
  std::string digits;
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kIndent = "    ";
    if (!line.starts_with(kIndent)) continue;
    line = line.substr(kIndent.size());
    for (const char c : line.substr(0, line.find("  "))) {
      if (c != ' ') digits += c;
    }
  }
  return digits;
}

TEST(SuperfileDocument, ShowsAnOpenSection) {
  const std::string digits = ExampleOf(INFINO_FORMAT_DOCS "/superfile.md");
  std::vector<uint8_t> bytes(digits.size() / 2);
  INFINO_ASSERT_OK(ParseHex(digits, bytes));
  INFINO_ASSERT_OK_AND_ASSIGN(
      const OpenSection section,
      ParseOpenSection(bytes, {.offset = 400, .length = static_cast<int64_t>(bytes.size())},
                       "example"));
  EXPECT_EQ(section.row_count, 9);
  EXPECT_EQ(section.body_length, 300);
  ASSERT_EQ(section.regions.size(), 1U);
  EXPECT_EQ(section.regions[0].kind, RegionKind::kText);
  EXPECT_EQ(section.regions[0].field_id, 3);
  EXPECT_EQ(section.regions[0].place, (ByteRange{.offset = 300, .length = 100}));
  EXPECT_EQ(section.regions[0].checksum, 11U);
  ASSERT_EQ(section.parts.size(), 1U);
  EXPECT_EQ(FormatHex(section.parts[0].bytes), "010203");
  ByteWriter out;
  EncodeOpenSection(section, out);
  EXPECT_EQ(FormatHex(out.bytes()), digits);
}

}  // namespace
}  // namespace infino
