#include "infino/index/text/word_break.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/unistr.h>
#include <unicode/utypes.h>

#include "infino/common/random.h"
#include "support/seed.h"

namespace infino::text {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> SegmentsOf(std::string_view utf8) {
  std::vector<std::string> segments;
  for (size_t offset = 0; offset < utf8.size();) {
    const WordBreaker::Segment segment = WordBreaker::Get().Next(utf8, offset);
    segments.emplace_back(utf8.substr(offset, segment.end - offset));
    offset = segment.end;
  }
  return segments;
}

// What ICU's own rules give. Its root rules part words at colons, those for Finnish follow UAX #29.
std::vector<std::string> IcuSegmentsOf(const std::string& utf8) {
  UErrorCode code = U_ZERO_ERROR;
  static const std::unique_ptr<icu::BreakIterator> kIterator(
      icu::BreakIterator::createWordInstance(icu::Locale("fi"), code));
  const icu::UnicodeString text = icu::UnicodeString::fromUTF8(utf8);
  kIterator->setText(text);
  std::vector<std::string> segments;
  int32_t begin = kIterator->first();
  for (int32_t end = kIterator->next(); end != icu::BreakIterator::DONE; end = kIterator->next()) {
    segments.emplace_back();
    text.tempSubStringBetween(begin, end).toUTF8String(segments.back());
    begin = end;
  }
  return segments;
}

std::string RandomText(Random& random, const std::vector<std::string>& alphabet) {
  std::string text;
  for (uint64_t length = 1 + random.Below(24); length > 0; --length) {
    text += alphabet[random.Below(alphabet.size())];
  }
  return text;
}

TEST(WordBreaker, KeepsWhatIsOneWord) {
  for (const char* word :
       {"can't",    "O'Neil's",   "l’été",          "foo.bar",     "node.js",
        "foo:bar",  "b:a",        "U.S.A",          "wi_fi",       "snake_case_word",
        "x86_64",   "3.14",       "1,000",          "192.168.0.1", "v1.2",
        "2nd",      "abc123",     "camelCaseWord",  "co\u00ADop",  "__a__",
        "カタカナ", "한국어",     "שלום",           "צה\"ל",       "привет",
        "देवनागरी",  "1\u202F000", "e\u0301te\u0301"}) {
    EXPECT_THAT(SegmentsOf(word), ElementsAre(word));
  }
}

TEST(WordBreaker, KeepsAnEmojiSequenceTogether) {
  for (const char* emoji :
       {"👩‍👩‍👧", "🇩🇪", "1\uFE0F\u20E3", "👍🏽", "🏳️‍🌈"}) {
    EXPECT_THAT(SegmentsOf(emoji), ElementsAre(emoji));
  }
}

TEST(WordBreaker, Splits) {
  EXPECT_THAT(SegmentsOf("a-b"), ElementsAre("a", "-", "b"));
  EXPECT_THAT(SegmentsOf("x²"), ElementsAre("x", "²"));
  EXPECT_THAT(SegmentsOf("don''t"), ElementsAre("don", "'", "'", "t"));
  EXPECT_THAT(SegmentsOf("U.S.A."), ElementsAre("U.S.A", "."));
  EXPECT_THAT(SegmentsOf("a\u200Bb"), ElementsAre("a", "\u200B", "b"));
  EXPECT_THAT(SegmentsOf("a\u00A0b"), ElementsAre("a", "\u00A0", "b"));
  EXPECT_THAT(SegmentsOf("日本かな"), ElementsAre("日", "本", "か", "な"));
  EXPECT_THAT(SegmentsOf("ที่กำ"), ElementsAre("ที่", "ก", "ำ"));
  EXPECT_THAT(SegmentsOf("a😀b"), ElementsAre("a", "😀", "b"));
  EXPECT_THAT(SegmentsOf("🇩🇪🇫🇷🇮"), ElementsAre("🇩🇪", "🇫🇷", "🇮"));
}

TEST(WordBreaker, FollowsUnicode17AlsoWhereIcuIsOlder) {
  for (const char* word : {"\u0600\u0661\u0662", "x\u06DD9", "\u070F\u0729\u0721", "q\u070Fr",
                           "ab\u0890cd", "\U000110BD1", "a\u19DAb", "a\u00B8b"}) {
    EXPECT_THAT(SegmentsOf(word), ElementsAre(word));
  }
  EXPECT_THAT(SegmentsOf("1\uFE102"), ElementsAre("1", "\uFE10", "2"));
  EXPECT_THAT(SegmentsOf("1\uFE142"), ElementsAre("1", "\uFE14", "2"));
  EXPECT_NE(WordBreaker::Get().TraitsOf(U'\u0363').traits() & kMakesWord, 0U);
  EXPECT_EQ(WordBreaker::Get().TraitsOf(U'\u0362').traits() & kMakesWord, 0U);
}

TEST(WordBreaker, PartsBytesThatAreNotUtf8) {
  EXPECT_THAT(SegmentsOf("ab\xFF"
                         "cd"),
              ElementsAre("ab", "\xFF", "cd"));
  EXPECT_THAT(SegmentsOf("a\xE2\x82"), ElementsAre("a", "\xE2", "\x82"));
}

TEST(WordBreaker, PartsABlankFromItsMark) {
  EXPECT_THAT(SegmentsOf("a \u093Eb"), ElementsAre("a", " ", "\u093E", "b"));
}

// Without white space, and without the scripts and signs for which ICU has rules of its own: Han,
// kana, Hangul, Thai and their like, and the commercial at.
TEST(WordBreaker, AgreesWithIcuOnRandomText) {
  const std::vector<std::string> alphabet = {
      "a",      "B",      "é",      "Σ",      "ß",      "я",      "א",  "ב", "1",      "٣",     "_",
      "\u203F", ".",      "'",      "’",      ":",      "·",      ",",  ";", "\u066B", "\"",    "-",
      "#",      "²",      "\u0301", "\u00AD", "\u200D", "\uFE0F", "😀", "❤", "Ⓜ",      "🏽",    "🇩",
      "🇫",      "\u20E3", "क",      "ि",      "\u2060", "𝒜",      "𝟙",  "Ⅷ", "\u2024", "\uFF0E"};
  Random random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = RandomText(random, alphabet);
    ASSERT_EQ(SegmentsOf(text), IcuSegmentsOf(text)) << text;
  }
}

TEST(WordBreaker, NeedsNoMoreThanABoundaryToStartFrom) {
  const std::vector<std::string> alphabet = {"a",      "א",  "1", ".",  "'", "\"", "\u0301",
                                             "\u200D", "😀", "🇩", "ア", "_", " ",  "\xFF"};
  Random random(TestSeed());
  for (int i = 0; i < 5'000; ++i) {
    const std::string text = RandomText(random, alphabet);
    const std::vector<std::string> segments = SegmentsOf(text);
    std::string rest = text;
    for (size_t first = 0; first < segments.size(); ++first) {
      ASSERT_EQ(SegmentsOf(rest),
                std::vector(segments.begin() + static_cast<ptrdiff_t>(first), segments.end()))
          << text;
      rest.erase(0, segments[first].size());
    }
  }
}

TEST(DecodeChar, ReadsEachCharacterAndRefusesAllElse) {
  for (char32_t value = 0; value <= 0x110000; ++value) {
    std::string bytes;
    if (value < 0x80) {
      bytes = {static_cast<char>(value)};
    } else if (value < 0x800) {
      bytes = {static_cast<char>(0xC0U | (value >> 6U)), static_cast<char>(0x80U | (value & 63U))};
    } else if (value < 0x10000) {
      bytes = {static_cast<char>(0xE0U | (value >> 12U)),
               static_cast<char>(0x80U | ((value >> 6U) & 63U)),
               static_cast<char>(0x80U | (value & 63U))};
    } else {
      bytes = {static_cast<char>(0xF0U | (value >> 18U)),
               static_cast<char>(0x80U | ((value >> 12U) & 63U)),
               static_cast<char>(0x80U | ((value >> 6U) & 63U)),
               static_cast<char>(0x80U | (value & 63U))};
    }
    const DecodedChar decoded = DecodeChar(bytes, 0);
    const bool valid = value < 0x110000 && (value < 0xD800 || value > 0xDFFF);
    ASSERT_EQ(decoded.value, valid ? value : DecodedChar::kNotUtf8) << static_cast<uint32_t>(value);
    ASSERT_EQ(decoded.size, valid ? bytes.size() : 1U);
    for (size_t length = 1; length < bytes.size(); ++length) {
      ASSERT_EQ(DecodeChar(std::string_view(bytes).substr(0, length), 0).size, 1U);
    }
  }
  EXPECT_EQ(DecodeChar("", 0).size, 0U);
  EXPECT_EQ(DecodeChar("\xC0\x80", 0).value, DecodedChar::kNotUtf8);
  EXPECT_EQ(DecodeChar("\xE0\x80\x80", 0).value, DecodedChar::kNotUtf8);
  EXPECT_EQ(DecodeChar("\xF0\x80\x80\x80", 0).value, DecodedChar::kNotUtf8);
}

}  // namespace
}  // namespace infino::text
