#include "cli/vector_text.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino::cli {
namespace {

using ::testing::HasSubstr;
using Vectors = std::vector<std::vector<float>>;

TEST(VectorText, CommasAndBlanksSeparateNumbers) {
  const Vectors want = {{1.0F, -2.5F, 3e-4F}};
  for (const char* const text :
       {"1,-2.5,3e-4", "1 -2.5 3e-4", " 1 ,\t-2.5 , 3e-4\r\n", "[1, -2.5, 0.0003]",
        "[[1,-2.5,3e-4]]", "[1,\n -2.5,\n 3e-4\n]", "+1,-2.5,+3e-4", "1,-2.5,3e-4,"}) {
    EXPECT_THAT(ParseVectors(text), HasValue(want)) << text;
  }
}

TEST(VectorText, LinesAndBracketsMakeSeveralVectors) {
  const Vectors want = {{1.0F, 2.0F}, {3.0F}, {4.0F, 5.0F}};
  for (const char* const text : {"1 2\n3\n4 5", "1,2\r\n\r\n3\n\n4,5\n", "[1,2]\n[3]\n[4,5]",
                                 "[[1,2],[3],[4,5]]", "[\n[1,\n2],\n[3],[4,5]\n]", "1 2\n[3]4 5"}) {
    EXPECT_THAT(ParseVectors(text), HasValue(want)) << text;
  }
}

TEST(VectorText, WhatIsNoVectorSaysWhereAndWhy) {
  struct Case {
    const char* text;
    const char* message;
  };

  for (const Case& each :
       {Case{"", "no number"}, Case{" \n,[] ", "no number"},
        Case{"1 2\n3 x", "'x' is no number (number 2 of vector 2)"},
        Case{"1;2", "'1;2' is no number"}, Case{"1.2.3", "no number"}, Case{"0x10", "no number"},
        Case{"+-1", "no number"}, Case{"1e999", "out of range"}, Case{"-1e39", "out of range"},
        Case{"[1,2", "']'"}, Case{"1]", "'['"}, Case{"{\"v\":[1]}", "no number"}}) {
    const auto parsed = ParseVectors(each.text);
    ASSERT_FALSE(parsed.ok()) << each.text;
    EXPECT_THAT(parsed.status().message(), HasSubstr(each.message)) << each.text;
  }
}

TEST(VectorText, WhatIsTooSmallForAFloatIsZero) {
  EXPECT_THAT(ParseVectors("1e-60 -1e-400 1E-999"), HasValue(Vectors{{0.0F, 0.0F, 0.0F}}));
}

TEST(VectorText, NoTextMakesItFailOtherThanByAnError) {
  SCOPED_TRACE("seed " + std::to_string(TestSeed()));
  Random random(TestSeed());
  constexpr std::string_view kLetters = "[], \n01.-+eE\t\rxn";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (uint64_t i = random.Below(40); i > 0; --i) {
      text += kLetters[random.Below(kLetters.size())];
    }
    const auto parsed = ParseVectors(text);
    if (!parsed.ok()) continue;
    EXPECT_FALSE(parsed->empty()) << text;
    for (const std::vector<float>& vector : *parsed) EXPECT_FALSE(vector.empty()) << text;
  }
}

TEST(VectorText, AnArgumentIsItselfUnlessItNamesAFile) {
  EXPECT_THAT(ReadArgument("1,2"), HasValue("1,2"));
  EXPECT_THAT(ReadArgument(""), HasValue(""));
  const auto missing = ReadArgument("@/no/such/file");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.status().message(), HasSubstr("/no/such/file"));
}

}  // namespace
}  // namespace infino::cli
