#include "cli/display_text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "support/seed.h"

namespace infino::cli {
namespace {

class DisplayText : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { UseUtf8(); }
};

TEST_F(DisplayText, CountsColumnsOfATerminal) {
  EXPECT_EQ(DisplayWidth(""), 0U);
  EXPECT_EQ(DisplayWidth("abc"), 3U);
  EXPECT_EQ(DisplayWidth("é"), 1U);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1U);  // a combining accent
  EXPECT_EQ(DisplayWidth("検索"), 4U);
  EXPECT_EQ(DisplayWidth("한글"), 4U);
  EXPECT_EQ(DisplayWidth("🙂"), 2U);
  EXPECT_EQ(DisplayWidth("…"), 1U);
  EXPECT_EQ(DisplayWidth("\xff\xfe"), 2U);
}

TEST_F(DisplayText, CutsAtColumns) {
  EXPECT_EQ(OneLine("abcdef", 6), "abcdef");
  EXPECT_EQ(OneLine("abcdef", 5), "abcd…");
  EXPECT_EQ(OneLine("abcdef", 1), "…");
  EXPECT_EQ(OneLine("検索語", 6), "検索語");
  EXPECT_EQ(OneLine("検索語", 5), "検索…");
  EXPECT_EQ(OneLine("検索語", 4), "検…");  // 索 would leave no column for the ellipsis
  EXPECT_EQ(OneLine("abe\u0301", 3), "abe\u0301");
}

TEST_F(DisplayText, LeavesNothingThatCommandsTheTerminal) {
  EXPECT_EQ(OneLine("a\nb\tc", 10), "a b c");
  EXPECT_EQ(OneLine("\x1b[31mred\x7f", 20), " [31mred ");
  EXPECT_EQ(OneLine("\u009b31m", 10), " 31m");         // CSI as one character
  EXPECT_EQ(OneLine("a\u202eb\u2028c", 10), "a b c");  // right to left from here; a line end
  EXPECT_EQ(OneLine("\xc3", 10), "\uFFFD");
  EXPECT_EQ(OneLine("\xed\xa0\x80", 10), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(OneLine("\xc0\xaf", 10), "\uFFFD\uFFFD");            // a slash in two bytes
  EXPECT_EQ(OneLine("\xf4\x90\x80\x80z", 10), "\uFFFD\uFFFD\uFFFD\uFFFDz");
}

TEST_F(DisplayText, NeverTakesMoreColumnsThanGiven) {
  Random random(TestSeed());
  const std::vector<std::string> pieces = {"a",      "é",  "検",   "🙂",
                                           "\u0301", "\n", "\xff", "\xe6\xa4"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (uint64_t i = random.Below(12); i > 0; --i) text += pieces[random.Below(pieces.size())];
    const size_t width = 1 + random.Below(14);
    const std::string line = OneLine(text, width);
    EXPECT_LE(DisplayWidth(line), width) << text;
    EXPECT_EQ(line.find('\n'), std::string::npos);
    // What fits is whole; what doesn't leaves at most a column, where a wide character was cut.
    const bool fits = DisplayWidth(text) <= width && text.find('\n') == std::string::npos;
    EXPECT_TRUE(!fits || DisplayWidth(line) == DisplayWidth(text)) << text;
    EXPECT_EQ(DisplayWidth(Padded(line, width, random.Below(2) == 0)), width);
  }
}

TEST_F(DisplayText, PadsOnEitherSide) {
  EXPECT_EQ(Padded("検", 4, false), "検  ");
  EXPECT_EQ(Padded("検", 4, true), "  検");
  EXPECT_EQ(Padded("abc", 2, true), "abc");
}

}  // namespace
}  // namespace infino::cli
