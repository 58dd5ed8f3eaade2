#include "infino/index/text/analyzer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unicode/bytestream.h>
#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/unistr.h>
#include <unicode/utypes.h>

#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/text/word_break.h"
#include "infino/index_spec.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino::text {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::unique_ptr<Analyzer> AnalyzerOf(const TextIndexOptions& options = {}) {
  return Analyzer::Make(options).ValueOrDie();
}

TextIndexOptions StopWords(std::string name) {
  TextIndexOptions options;
  options.stopwords = std::move(name);
  return options;
}

TextIndexOptions Stemmed(std::string name) {
  TextIndexOptions options;
  options.stemmer = std::move(name);
  return options;
}

const Analyzer& Standard() {
  static const std::unique_ptr<Analyzer> kAnalyzer = AnalyzerOf();
  return *kAnalyzer;
}

std::vector<std::pair<std::string, uint32_t>> TokensOf(std::string_view text,
                                                       const Analyzer& analyzer) {
  std::vector<std::pair<std::string, uint32_t>> tokens;
  INFINO_EXPECT_OK(analyzer.Analyze(
      text, [&tokens](Token token) { tokens.emplace_back(token.text, token.position); }));
  return tokens;
}

std::vector<std::string> TermsOf(std::string_view text, const Analyzer& analyzer = Standard()) {
  std::vector<std::string> terms;
  for (auto& [term, position] : TokensOf(text, analyzer)) terms.push_back(std::move(term));
  return terms;
}

std::string ToNfc(const std::string& utf8) {
  UErrorCode code = U_ZERO_ERROR;
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  icu::Normalizer2::getNFCInstance(code)->normalizeUTF8(0, utf8, sink, nullptr, code);
  return result;
}

// The analyzer spelled out, slowly, with ICU's own functions and no fast path.
std::vector<std::string> SlowTermsOf(const std::string& text) {
  std::vector<std::string> terms;
  std::string valid;
  for (size_t offset = 0; offset < text.size();) {
    const DecodedChar decoded = DecodeChar(text, offset);
    valid += decoded.value == DecodedChar::kNotUtf8 ? "\n" : text.substr(offset, decoded.size);
    offset += decoded.size;
  }
  const std::string nfc = ToNfc(valid);
  for (size_t offset = 0; offset < nfc.size();) {
    const WordBreaker::Segment segment = WordBreaker::Get().Next(nfc, offset);
    if ((segment.traits & kMakesWord) != 0) {
      icu::UnicodeString word =
          icu::UnicodeString::fromUTF8(nfc.substr(offset, segment.end - offset));
      std::string lower;
      word.toLower(icu::Locale::getRoot()).toUTF8String(lower);
      terms.push_back(ToNfc(lower));
    }
    offset = segment.end;
  }
  return terms;
}

std::string RandomText(Random& random, const std::vector<std::string>& alphabet) {
  std::string text;
  for (uint64_t length = random.Below(30); length > 0; --length) {
    text += alphabet[random.Below(alphabet.size())];
  }
  return text;
}

const std::vector<std::string>& MixedAlphabet() {
  static const std::vector<std::string> kAlphabet = {
      "a",      "B",      "Z",      "é",      "É",      "Σ",      "σ",      "İ",      "ſ",
      "H",      "\u0331", "\u0301", "\u0323", "<",      "\u0338", "א",      "ב",      "\"",
      "1",      "2",      "_",      ".",      "'",      "’",      ":",      ",",      ";",
      " ",      " ",      "\n",     "\u00A0", "\u3000", "-",      "+",      "\u200D", "😀",
      "❤",      "🏽",     "🇩",      "日",     "か",     "ア",     "한",     "ก",      "ำ",
      "\u093E", "\u0308", "\xFF",   "\xE2",   "\x80",   "\u1100", "\u1161", "\u0344", "²"};
  return kAlphabet;
}

TEST(Analyzer, KeepsOneTokenWhole) {
  for (const auto& [text, term] :
       std::vector<std::pair<std::string, std::string>>{{"can't", "can't"},
                                                        {"O'Neil's", "o'neil's"},
                                                        {"l’été", "l’été"},
                                                        {"a'b'c", "a'b'c"},
                                                        {"foo.bar", "foo.bar"},
                                                        {"node.js", "node.js"},
                                                        {"foo:bar", "foo:bar"},
                                                        {"b:a", "b:a"},
                                                        {"U.S.A.", "u.s.a"},
                                                        {"wi_fi", "wi_fi"},
                                                        {"snake_case_word", "snake_case_word"},
                                                        {"x86_64", "x86_64"},
                                                        {"3.14", "3.14"},
                                                        {"1,000", "1,000"},
                                                        {"1;2", "1;2"},
                                                        {"192.168.0.1", "192.168.0.1"},
                                                        {"v1.2", "v1.2"},
                                                        {"2nd", "2nd"},
                                                        {"abc123", "abc123"},
                                                        {"camelCaseWord", "camelcaseword"},
                                                        {"co\u00ADop", "co\u00ADop"},
                                                        {"__a__", "__a__"},
                                                        {"C++", "c"},
                                                        {"カタカナ", "カタカナ"},
                                                        {"한국어", "한국어"},
                                                        {"שלום", "שלום"},
                                                        {"مرحبا", "مرحبا"},
                                                        {"Привет", "привет"},
                                                        {"देवनागरी", "देवनागरी"},
                                                        {"צה\"ל", "צה\"ל"}}) {
    EXPECT_THAT(TermsOf(text), ElementsAre(term)) << text;
    EXPECT_THAT(TermsOf(" " + text + " "), ElementsAre(term)) << text;
  }
}

TEST(Analyzer, Splits) {
  EXPECT_THAT(TermsOf("well-known"), ElementsAre("well", "known"));
  EXPECT_THAT(TermsOf("a/b\\c#d&e+f–g—h"), ElementsAre("a", "b", "c", "d", "e", "f", "g", "h"));
  EXPECT_THAT(TermsOf("john.doe@example.com"), ElementsAre("john.doe", "example.com"));
  EXPECT_THAT(TermsOf("a\u200Bb\u00A0c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(TermsOf("x²"), ElementsAre("x", "²"));
  EXPECT_THAT(TermsOf("don''t"), ElementsAre("don", "t"));
  EXPECT_THAT(TermsOf("1.a a.1 3,a a,b"), ElementsAre("1", "a", "a", "1", "3", "a", "a", "b"));
  EXPECT_THAT(TermsOf("日本 かな"), ElementsAre("日", "本", "か", "な"));
  EXPECT_THAT(TermsOf("カナかな"), ElementsAre("カナ", "か", "な"));
  EXPECT_THAT(TermsOf("ภาษา"), ElementsAre("ภ", "า", "ษ", "า"));
}

TEST(Analyzer, MakesEachEmojiSequenceAToken) {
  EXPECT_THAT(TermsOf("a😀b"), ElementsAre("a", "😀", "b"));
  EXPECT_THAT(TermsOf("😀😀"), ElementsAre("😀", "😀"));
  EXPECT_THAT(TermsOf("👩‍👩‍👧👍🏽"), ElementsAre("👩‍👩‍👧", "👍🏽"));
  EXPECT_THAT(TermsOf("🇩🇪🇫🇷"), ElementsAre("🇩🇪", "🇫🇷"));
  EXPECT_THAT(TermsOf("1\uFE0F\u20E3"), ElementsAre("1\uFE0F\u20E3"));
  EXPECT_THAT(TermsOf("✂a"), ElementsAre("a"));
}

// Unicode 16 has the first two; nothing was at the other places when this was written.
TEST(Analyzer, TakesEmojiAndIdeographsThatAreNewerThanIcu) {
  for (const char* word : {"\U0001FAE9", "\U0002EBF0", "\U0001F8D0", "\U0003F000"}) {
    EXPECT_THAT(TermsOf(std::string("a") + word + "b"), ElementsAre("a", word, "b"));
  }
  for (const char* none : {"\uFFFF", "\U0002FFFF", "\U000E0FFF", "\u0378"}) {
    EXPECT_THAT(TermsOf(none), IsEmpty());
  }
}

TEST(Analyzer, DropsWhatHasNoLetterDigitOrEmoji) {
  for (const char* text : {"", " ", "_", "___", "...", "-", "\u0301", "©", "♠", "∑", "€", "\u200D",
                           "\xFF\xFE", "'", "\"\"", "—"}) {
    EXPECT_THAT(TermsOf(text), IsEmpty()) << text;
  }
}

TEST(Analyzer, LowerCasesByTheFullRulesOfTheRootLocale) {
  EXPECT_THAT(TermsOf("İ"), ElementsAre("i\u0307"));
  EXPECT_THAT(TermsOf("ΟΔΟΣ ΣΟΣ Σ ΑΣ1"), ElementsAre("οδος", "σος", "σ", "ας1"));
  EXPECT_THAT(TermsOf("ΟΔΟΣ·Α ΟΔΟΣ''Α"), ElementsAre("οδοσ·α", "οδος", "α"));
  EXPECT_THAT(TermsOf("Straße STRASSE ẞ"), ElementsAre("straße", "strasse", "ß"));
  EXPECT_THAT(TermsOf("ſ ﬁ Ａ Ⅷ ① ½"), ElementsAre("ſ", "ﬁ", "ａ", "ⅷ", "①", "½"));
}

TEST(Analyzer, GivesComposedAndDecomposedSpellingsTheSameToken) {
  EXPECT_THAT(TermsOf("caf\u00E9 cafe\u0301 CAFE\u0301"), ElementsAre("café", "café", "café"));
  EXPECT_THAT(TermsOf("q\u0323\u0307 q\u0307\u0323"),
              ElementsAre("q\u0323\u0307", "q\u0323\u0307"));
  EXPECT_THAT(TermsOf("\u1100\u1161"), ElementsAre("가"));
  EXPECT_THAT(TermsOf("H\u0331 \u1E96"), ElementsAre("\u1E96", "\u1E96"));
}

TEST(Analyzer, TreatsBytesThatAreNotUtf8AsBlanks) {
  EXPECT_THAT(TermsOf("ab\xFF"
                      "cd\xC3"),
              ElementsAre("ab", "cd"));
  EXPECT_THAT(TermsOf("é\xE2\x82é"), ElementsAre("é", "é"));
  EXPECT_THAT(TermsOf("\xED\xA0\x80x"), ElementsAre("x"));
  EXPECT_THAT(TermsOf("-\xFF"), IsEmpty());
}

TEST(Analyzer, ChopsLongWords) {
  std::vector<size_t> sizes;
  for (const std::string& term : TermsOf(std::string(1000, 'x'))) sizes.push_back(term.size());
  EXPECT_THAT(sizes, ElementsAre(255, 255, 255, 235));
  EXPECT_EQ(TermsOf(std::string(1000, 'X')), TermsOf(std::string(1000, 'x')));
  EXPECT_EQ(TermsOf(std::string(40'000, 'x')).size(), 157U);
  EXPECT_EQ(TermsOf(std::string(255, 'x')).size(), 1U);

  std::string accented;
  for (int i = 0; i < 256; ++i) accented += "É";
  const std::vector<std::string> pieces = TermsOf(accented);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].size(), 510U);
  EXPECT_EQ(pieces[1], "é");
  EXPECT_THAT(TokensOf(accented + " a", Standard()),
              ElementsAre(Pair(pieces[0], 0), Pair("é", 1), Pair("a", 2)));

  // Code points are counted after lower-casing.
  std::string dotted;
  for (int i = 0; i < 128; ++i) dotted += "İ";
  EXPECT_EQ(TermsOf(dotted).size(), 2U);
}

TEST(Analyzer, LeavesThePositionsOfStopWordsEmpty) {
  const auto analyzer = AnalyzerOf(StopWords("english"));
  EXPECT_THAT(TokensOf("The Lord of the Rings", *analyzer),
              ElementsAre(Pair("lord", 1), Pair("rings", 4)));
  EXPECT_THAT(
      TermsOf("a an and are as at be but by for if in into is it no not of on or such that the "
              "their then there these they this to was will with",
              *analyzer),
      IsEmpty());
  EXPECT_THAT(TermsOf("I we an' ab theirs he", *analyzer),
              ElementsAre("i", "we", "ab", "theirs", "he"));
}

TEST(Analyzer, StemsEnglish) {
  const auto analyzer = AnalyzerOf(Stemmed("english"));
  EXPECT_THAT(
      TermsOf("running runs easily fairly flies fly dying die skies connections", *analyzer),
      ElementsAre("run", "run", "easili", "fair", "fli", "fli", "die", "die", "sky", "connect"));
  EXPECT_THAT(TermsOf("news inning outing exceed proceed", *analyzer),
              ElementsAre("news", "inning", "outing", "exceed", "proceed"));
  EXPECT_THAT(TermsOf("café's 日 😀 RUNNING", *analyzer), ElementsAre("café", "日", "😀", "run"));
  EXPECT_NE(TermsOf("generous", *analyzer), TermsOf("generic", *analyzer));
}

TEST(Analyzer, RemovesStopWordsBeforeItStems) {
  TextIndexOptions options = StopWords("english");
  options.stemmer = "english";
  const auto analyzer = AnalyzerOf(options);
  // "being" becomes the stop word "be", and "ins" becomes "in"; they stay.
  EXPECT_THAT(TokensOf("the being ins it", *analyzer), ElementsAre(Pair("be", 1), Pair("in", 2)));
}

TEST(Analyzer, NamesWhatItDoesNotKnow) {
  const auto message_of = [](const TextIndexOptions& options) {
    const auto result = Analyzer::Make(options);
    EXPECT_THAT(result, IsError(ErrorKind::kInvalidArgument));
    return result.status().ToString();
  };
  TextIndexOptions options;
  options.analyzer = "Standard";
  EXPECT_THAT(message_of(options),
              AllOf(HasSubstr("analyzer 'Standard'"), HasSubstr("accepted: 'standard'")));
  EXPECT_THAT(message_of(StopWords("german")), HasSubstr("stopwords 'german'"));
  EXPECT_THAT(message_of(Stemmed("german")), HasSubstr("stemmer 'german'"));
  EXPECT_THAT(message_of(Stemmed("")), HasSubstr("accepted: 'english'"));
}

TEST(Analyzer, EqualsItsSlowSpecificationOnRandomText) {
  Random random(TestSeed());
  for (int i = 0; i < 30'000; ++i) {
    const std::string text = RandomText(random, MixedAlphabet());
    ASSERT_EQ(TermsOf(text), SlowTermsOf(text)) << text;
  }
}

TEST(Analyzer, GivesATokenThatIsAnalysedToItself) {
  Random random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    for (const std::string& term : TermsOf(RandomText(random, MixedAlphabet()))) {
      ASSERT_THAT(TermsOf(term), ElementsAre(term));
    }
  }
}

TEST(Analyzer, GivesTheTokensOfEachPartThatBlanksSeparate) {
  Random random(TestSeed());
  for (int i = 0; i < 10'000; ++i) {
    const std::string left = RandomText(random, MixedAlphabet());
    const std::string right = RandomText(random, MixedAlphabet());
    std::vector<std::string> expected = TermsOf(left);
    for (std::string& term : TermsOf(right)) expected.push_back(std::move(term));
    ASSERT_EQ(TermsOf(left + " " + right), expected) << left << "|" << right;
  }
}

TEST(Analyzer, SaysWhetherAWordIsBesideTheEdge) {
  EXPECT_TRUE(Standard().StartsWithWord("fox dog"));
  EXPECT_TRUE(Standard().StartsWithWord("_x"));
  EXPECT_TRUE(Standard().StartsWithWord("😀"));
  for (const char* text : {"", "-x", " x", "\"x", "(x", "\xFFx"}) {
    EXPECT_FALSE(Standard().StartsWithWord(text)) << text;
  }
  EXPECT_EQ(Standard().LastWord("fox-dog"), 4U);
  EXPECT_EQ(Standard().LastWord("fox"), 0U);
  EXPECT_EQ(Standard().LastWord("a日"), 1U);
  for (const char* text : {"", "C++", "x ", "can'", "x\xFF"}) {
    EXPECT_EQ(Standard().LastWord(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace infino::text
