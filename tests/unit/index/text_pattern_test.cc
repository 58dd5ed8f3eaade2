#include "infino/index/text/text_pattern.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unicode/uchar.h>

#include "infino/common/random.h"
#include "infino/index/text/analyzer.h"
#include "infino/index/text/word_break.h"
#include "infino/index_spec.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino::text {

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
void PrintTo(const TermConstraint& constraint, std::ostream* out) {
  *out << (constraint.at_start ? "^" : "") << constraint.part << (constraint.at_end ? "$" : "");
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// `^` and `$` at the ends of pieces stand for the ends of the text, `|` between pieces.
TextPattern PatternOf(std::string_view written, bool any_case = false) {
  TextPattern pattern{.any_case = any_case};
  if (written.starts_with('^')) {
    pattern.at_start = true;
    written.remove_prefix(1);
  }
  if (written.ends_with('$')) {
    pattern.at_end = true;
    written.remove_suffix(1);
  }
  while (true) {
    const size_t bar = written.find('|');
    pattern.pieces.emplace_back(written.substr(0, bar));
    if (bar == std::string_view::npos) return pattern;
    written.remove_prefix(bar + 1);
  }
}

/// The constraints in short.
std::vector<std::string> Of(std::string_view written, bool has_stop_words = false) {
  std::vector<std::string> constraints;
  for (const TermConstraint& each : ConstraintsOf(PatternOf(written), has_stop_words)) {
    constraints.push_back((each.at_start ? "^" : "") + each.part + (each.at_end ? "$" : ""));
  }
  return constraints;
}

TEST(ConstraintsOf, LeavesOutTheCharacterThatAMarkMayFollow) {
  EXPECT_THAT(Of("django"), ElementsAre("djang"));
  EXPECT_THAT(Of("django$"), ElementsAre("django$"));
  EXPECT_THAT(Of("^django"), ElementsAre("^djang"));
  EXPECT_THAT(Of("^Django$"), ElementsAre("^django$"));
  EXPECT_THAT(Of("django|rest"), ElementsAre("djang", "res"));
  EXPECT_THAT(Of("a"), IsEmpty());
  EXPECT_THAT(Of(""), IsEmpty());
}

TEST(ConstraintsOf, KnowsWhereWordsBeginAndEnd) {
  EXPECT_THAT(Of("foo bar"), ElementsAre("foo$", "^ba"));
  EXPECT_THAT(Of(" bar "), ElementsAre("^bar$"));
  EXPECT_THAT(Of("(foo-bar)"), ElementsAre("^foo$", "^bar$"));
  EXPECT_THAT(Of("foo, bar"), ElementsAre("foo$", "^ba"));
  EXPECT_THAT(Of("^foo bar baz$"), ElementsAre("^foo$", "^bar$", "^baz$"));
}

TEST(ConstraintsOf, KnowsWhatJoinsWords) {
  EXPECT_THAT(Of(" node.js "), ElementsAre("^node.js$"));
  EXPECT_THAT(Of(" 3.14 "), ElementsAre("^3.14$"));
  EXPECT_THAT(Of(" don't "), ElementsAre("^don't$"));
  EXPECT_THAT(Of(" a.1 "), ElementsAre("^a$", "^1$"));
  EXPECT_THAT(Of(" a,b "), ElementsAre("^a$", "^b$"));
  EXPECT_THAT(Of(" snake_case "), ElementsAre("^snake_case$"));
  EXPECT_THAT(Of("foo."), ElementsAre("foo"));  // foo.bar
  EXPECT_THAT(Of(".foo "), ElementsAre("foo$"));
  EXPECT_THAT(Of("^.foo "), ElementsAre("^foo$"));
  EXPECT_THAT(Of("foo.$"), ElementsAre("foo$"));
}

TEST(ConstraintsOf, KnowsNothingOfOtherScripts) {
  EXPECT_THAT(Of("日本"), IsEmpty());
  EXPECT_THAT(Of("caf\u00E9 noir "), ElementsAre("ca", "^noir$"));
  EXPECT_THAT(Of("foo.\u00E9"), ElementsAre("foo"));
  EXPECT_THAT(Of("\u00E9.foo "), ElementsAre("foo$"));
  EXPECT_THAT(Of("___"), IsEmpty());
}

TEST(ConstraintsOf, DoesNotLookForStopWords) {
  EXPECT_THAT(Of(" the cat ", true), ElementsAre("^cat$"));
  EXPECT_THAT(Of("ther$", true), ElementsAre("ther$"));
  EXPECT_THAT(Of("hers", true), IsEmpty());  // "her", which is in "there"
  EXPECT_THAT(Of(" the cat "), ElementsAre("^the$", "^cat$"));
}

/// What texts are made of here: whatever joins, composes, changes length, or breaks words.
constexpr std::array<std::string_view, 56> kScraps{
    "a",      "B",      "i",      "I",          "s",      "k",      "K",      "7",
    "0",      "_",      " ",      " ",          "\t",     ".",      "'",      ",",
    ":",      ";",      "-",      "=",          "\"",     "the",    "Ther",   "their",
    "ab",     "foo",    "iI",     "3.1",        "\u0130", "\u0131", "\u00DF", "\u1E9E",
    "\u017F", "\u03A3", "\u03C3", "\u03C2",     "\u212A", "\u212B", "\u00E9", "\u00C5",
    "\u0301", "\u0307", "\u0308", "\u0338",     "\u0323", "\u200D", "\u00AD", "\u65E5",
    "\u3042", "\u30AB", "\u05D0", "\U0001F600", "\u0E01", "\uFF21", "\xFF",   "\u202F"};

std::string RandomText(Random& random) {
  std::string text;
  if (random.Below(12) == 0) {
    // Words that are cut.
    const std::string_view filling = random.Below(2) == 0 ? "x" : "\u0130";
    for (uint64_t i = 0, size = 100 + random.Below(420); i < size; ++i) text += filling;
  }
  const uint64_t size = random.Below(14);
  for (uint64_t i = 0; i < size; ++i) text += kScraps.at(random.Below(kScraps.size()));
  return text;
}

/// Each character in lower case by itself, as SQL does it.
std::string Lowered(std::string_view text) {
  std::string lowered;
  for (size_t offset = 0; offset < text.size();) {
    const DecodedChar decoded = DecodeChar(text, offset);
    if (decoded.value == DecodedChar::kNotUtf8) {
      lowered += text.substr(offset, 1);
    } else {
      const auto value = static_cast<char32_t>(u_tolower(static_cast<UChar32>(decoded.value)));
      if (value < 0x80) {
        lowered.push_back(static_cast<char>(value));
      } else {
        // Only where a character ends and whether it is ASCII matters.
        lowered += value == decoded.value ? text.substr(offset, decoded.size) : "\u00FF";
      }
    }
    offset += decoded.size;
  }
  return lowered;
}

/// A place where a character begins, or the end.
size_t RandomPlace(Random& random, std::string_view text, size_t from) {
  size_t at = from + random.Below(text.size() - from + 1);
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80) ++at;
  return at;
}

/// Pieces cut out of `text`, which so fits.
TextPattern CutOut(Random& random, std::string_view text, bool any_case) {
  TextPattern pattern{.any_case = any_case};
  size_t at = random.Below(3) == 0 ? 0 : RandomPlace(random, text, 0);
  pattern.at_start = at == 0 && random.Below(2) == 0;
  for (uint64_t pieces = 1 + random.Below(3); pieces > 0; --pieces) {
    const size_t end = random.Below(3) == 0 ? text.size() : RandomPlace(random, text, at);
    pattern.pieces.emplace_back(text.substr(at, end - at));
    pattern.at_end = end == text.size() && random.Below(2) == 0;
    if (pattern.at_end) break;
    at = RandomPlace(random, text, end);
  }
  return pattern;
}

TEST(ConstraintsOf, HoldForATermOfEveryTextThatFits) {
  Random random(TestSeed());
  TextIndexOptions with_stop_words;
  with_stop_words.stopwords = "english";
  const std::array<std::unique_ptr<Analyzer>, 2> analyzers{
      Analyzer::Make({}).ValueOrDie(), Analyzer::Make(with_stop_words).ValueOrDie()};
  size_t told = 0;
  for (int i = 0; i < 60000; ++i) {
    const std::string text = RandomText(random);
    const bool any_case = random.Below(2) == 0;
    const bool has_stop_words = random.Below(2) == 0;
    const TextPattern pattern = CutOut(random, any_case ? Lowered(text) : text, any_case);
    std::vector<std::string> terms;
    INFINO_ASSERT_OK(analyzers.at(has_stop_words ? 1 : 0)->Analyze(text, [&](Token token) {
      terms.emplace_back(token.text);
    }));
    for (const TermConstraint& constraint : ConstraintsOf(pattern, has_stop_words)) {
      ++told;
      ASSERT_TRUE(std::ranges::any_of(
          terms, [&](const std::string& term) { return Fits(constraint, term); }))
          << ::testing::PrintToString(constraint) << " of '" << text << "', terms "
          << ::testing::PrintToString(terms) << ", pieces "
          << ::testing::PrintToString(pattern.pieces);
    }
  }
  EXPECT_GT(told, 20000U);
}

TEST(Fits, IsAskedOfUnusualTerms) {
  const TermConstraint is_is{.part = "is", .at_start = true, .at_end = true, .any_case = true};
  EXPECT_TRUE(Fits(is_is, "i\u0307s"));
  EXPECT_TRUE(IsUnusual("i\u0307s"));
  TermConstraint cut{.part = "abc"};
  const std::string begins(Analyzer::kTokenLengthMax - 2, 'x');
  EXPECT_TRUE(Fits(cut, begins + "ab"));
  EXPECT_FALSE(Fits(cut, begins + "bc"));
  EXPECT_FALSE(Fits(cut, "xab"));
  EXPECT_TRUE(IsUnusual(begins + "ab"));
}

}  // namespace
}  // namespace infino::text
