#include "infino/index/text/word_break.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <unicode/uchar.h>
#include <unicode/umachine.h>
#include <unicode/unorm2.h>
#include <unicode/urename.h>
#include <unicode/utf.h>

namespace infino::text {
namespace {

constexpr unsigned Bit(WordBreak value) {
  return 1U << static_cast<unsigned>(value);
}

constexpr unsigned kLetters = Bit(WordBreak::kLetter) | Bit(WordBreak::kHebrewLetter);
constexpr unsigned kLettersAndNumbers = kLetters | Bit(WordBreak::kNumeric);

// For each class, the classes that directly follow it within a word: WB5, WB8 to WB10, WB13 to
// WB13b. What needs more context than two characters is not here.
constexpr std::array<unsigned, 16> kJoins = [] {
  std::array<unsigned, 16> joins{};
  const auto at = [&joins](WordBreak value) -> unsigned& {
    return joins[static_cast<size_t>(value)];
  };
  const unsigned extend_num_let = Bit(WordBreak::kExtendNumLet);
  at(WordBreak::kLetter) = kLettersAndNumbers | extend_num_let;
  at(WordBreak::kHebrewLetter) = kLettersAndNumbers | extend_num_let;
  at(WordBreak::kNumeric) = kLettersAndNumbers | extend_num_let;
  at(WordBreak::kKatakana) = Bit(WordBreak::kKatakana) | extend_num_let;
  at(WordBreak::kExtendNumLet) = kLettersAndNumbers | Bit(WordBreak::kKatakana) | extend_num_let;
  return joins;
}();

constexpr bool IsIgnored(WordBreak value) {
  return value == WordBreak::kExtend || value == WordBreak::kZwj;
}

// The characters that may stand between `before` and another of the kind given by `after`: WB6,
// WB7, WB7b, WB7c, WB11, WB12. Zero: none.
constexpr unsigned AfterMiddle(WordBreak before, WordBreak middle) {
  const bool letter = (Bit(before) & kLetters) != 0;
  const bool number = before == WordBreak::kNumeric;
  switch (middle) {
    case WordBreak::kMidLetter:
      return letter ? kLetters : 0;
    case WordBreak::kMidNum:
      return number ? Bit(WordBreak::kNumeric) : 0;
    case WordBreak::kMidNumLet:
    case WordBreak::kSingleQuote:
      if (letter) return kLetters;
      return number ? Bit(WordBreak::kNumeric) : 0;
    case WordBreak::kDoubleQuote:
      return before == WordBreak::kHebrewLetter ? Bit(WordBreak::kHebrewLetter) : 0;
    default:
      return 0;
  }
}

// The class in Unicode 17 of what has another in Unicode 15, which older ICUs follow. So the ICU
// linked doesn't change the words of characters that both know.
std::optional<WordBreak> NewerWordBreakOf(UChar32 value) {
  constexpr UChar32 kCedilla = 0xB8;
  constexpr UChar32 kSyriacAbbreviationMark = 0x70F;
  constexpr UChar32 kThamDigitOne = 0x19DA;
  constexpr UChar32 kVerticalComma = 0xFE10;
  constexpr UChar32 kVerticalSemicolon = 0xFE14;
  if (value == kCedilla || value == kSyriacAbbreviationMark) return WordBreak::kLetter;
  if (value == kVerticalComma || value == kVerticalSemicolon) return WordBreak::kOther;
  if (value == kThamDigitOne ||
      u_hasBinaryProperty(value, UCHAR_PREPENDED_CONCATENATION_MARK) != 0) {
    return WordBreak::kNumeric;
  }
  return std::nullopt;
}

WordBreak WordBreakOf(UChar32 value) {
  if (const std::optional<WordBreak> newer = NewerWordBreakOf(value)) return *newer;
  const int32_t property = u_getIntPropertyValue(value, UCHAR_WORD_BREAK);
  // A narrow no-break space joins numbers, so it is not a blank although it is white space.
  if (property == U_WB_EXTENDNUMLET) return WordBreak::kExtendNumLet;
  if (u_isUWhiteSpace(value) != 0) return WordBreak::kBlank;
  switch (property) {
    case U_WB_ALETTER:
      return WordBreak::kLetter;
    case U_WB_HEBREW_LETTER:
      return WordBreak::kHebrewLetter;
    case U_WB_NUMERIC:
      return WordBreak::kNumeric;
    case U_WB_KATAKANA:
      return WordBreak::kKatakana;
    case U_WB_REGIONAL_INDICATOR:
      return WordBreak::kRegionalIndicator;
    case U_WB_MIDLETTER:
      return WordBreak::kMidLetter;
    case U_WB_MIDNUM:
      return WordBreak::kMidNum;
    case U_WB_MIDNUMLET:
      return WordBreak::kMidNumLet;
    case U_WB_SINGLE_QUOTE:
      return WordBreak::kSingleQuote;
    case U_WB_DOUBLE_QUOTE:
      return WordBreak::kDoubleQuote;
    case U_WB_EXTEND:
    case U_WB_FORMAT:
      return WordBreak::kExtend;
    case U_WB_ZWJ:
      return WordBreak::kZwj;
    case U_WB_CR:
    case U_WB_LF:
    case U_WB_NEWLINE:
    case U_WB_WSEGSPACE:
      return WordBreak::kBlank;
    default:
      return WordBreak::kOther;
  }
}

// Whether Unicode keeps the place of an unknown character for an ideograph or an emoji. Those that
// are newer than ICU are words too.
bool IsReservedForWords(UChar32 value) {
  constexpr UChar32 kIdeographsBegin = 0x20000;
  constexpr UChar32 kIdeographsEnd = 0x40000;
  if (u_charType(value) != U_UNASSIGNED || U_IS_UNICODE_NONCHAR(value)) return false;
  return (value >= kIdeographsBegin && value < kIdeographsEnd) ||
         u_hasBinaryProperty(value, UCHAR_EXTENDED_PICTOGRAPHIC) != 0;
}

// Combining letters of which Unicode says since version 16 that they are alphabetic.
bool IsCombiningLetter(UChar32 value) {
  return (value >= 0x363 && value <= 0x36F) || (value >= 0x1DD3 && value <= 0x1DE6);
}

bool MakesWord(UChar32 value) {
  return (U_GET_GC_MASK(value) & U_GC_N_MASK) != 0 ||
         u_hasBinaryProperty(value, UCHAR_ALPHABETIC) != 0 ||
         u_hasBinaryProperty(value, UCHAR_EMOJI_PRESENTATION) != 0 || IsCombiningLetter(value) ||
         IsReservedForWords(value);
}

bool MayCompose(UChar32 value) {
  return u_getIntPropertyValue(value, UCHAR_NFC_QUICK_CHECK) != UNORM_YES ||
         u_getCombiningClass(value) != 0;
}

}  // namespace

const WordBreaker& WordBreaker::Get() {
  static const WordBreaker kBreaker;
  return kBreaker;
}

WordBreaker::WordBreaker() {
  for (size_t value = 0; value < kTableSize; ++value) {
    table_[value] = LookUp(static_cast<char32_t>(value));
  }
}

CharTraits WordBreaker::LookUp(char32_t value) {
  if (value > 0x10FFFF) return {WordBreak::kBlank, 0};
  const auto code_point = static_cast<UChar32>(value);
  unsigned traits = 0;
  if (u_hasBinaryProperty(code_point, UCHAR_EXTENDED_PICTOGRAPHIC) != 0) traits |= kPictographic;
  if (MakesWord(code_point)) traits |= kMakesWord;
  if (MayCompose(code_point)) traits |= kMayCompose;
  if (u_tolower(code_point) != code_point) traits |= kHasLowerCase;
  return {WordBreakOf(code_point), traits};
}

// Where a segment stands: `offset` is its end so far, `last` the class of its last character that
// WB4 doesn't ignore.
struct WordBreaker::Cursor {
  std::string_view utf8;
  size_t offset = 0;
  unsigned traits = 0;
  WordBreak last = WordBreak::kOther;
  bool after_zwj = false;
  bool odd_indicators = false;

  void Take(DecodedChar decoded, CharTraits char_traits) {
    offset += decoded.size;
    traits |= char_traits.traits();
    const WordBreak word_break = char_traits.word_break();
    after_zwj = word_break == WordBreak::kZwj;
    if (IsIgnored(word_break)) return;
    last = word_break;
    odd_indicators = word_break == WordBreak::kRegionalIndicator && !odd_indicators;
  }
};

WordBreaker::Segment WordBreaker::Next(std::string_view utf8, size_t begin) const {
  Cursor cursor{.utf8 = utf8, .offset = begin};
  const DecodedChar first = DecodeChar(utf8, begin);
  const CharTraits first_traits = TraitsOf(first.value);
  cursor.Take(first, first_traits);
  if (first_traits.word_break() == WordBreak::kBlank) return {.end = cursor.offset, .traits = 0};
  while (cursor.offset < utf8.size()) {
    const DecodedChar decoded = DecodeChar(utf8, cursor.offset);
    const CharTraits traits = TraitsOf(decoded.value);
    const WordBreak word_break = traits.word_break();
    const bool joins =
        IsIgnored(word_break) ||                                                 // WB4
        (kJoins[static_cast<size_t>(cursor.last)] & Bit(word_break)) != 0 ||     // WB5 to 13b
        (cursor.after_zwj && (traits.traits() & kPictographic) != 0) ||          // WB3c
        (cursor.odd_indicators && word_break == WordBreak::kRegionalIndicator);  // WB15, WB16
    if (joins) {
      cursor.Take(decoded, traits);
    } else if (!JoinAcrossMiddle(cursor, word_break)) {
      break;
    }
  }
  return {.end = cursor.offset, .traits = cursor.traits};
}

// Takes the character in the middle of a word, which is next, together with the one after it.
bool WordBreaker::JoinAcrossMiddle(Cursor& cursor, WordBreak middle) const {
  const unsigned wanted = AfterMiddle(cursor.last, middle);
  if (wanted == 0) return false;
  Cursor ahead = cursor;
  DecodedChar decoded = DecodeChar(ahead.utf8, ahead.offset);
  CharTraits traits = TraitsOf(decoded.value);
  do {
    ahead.Take(decoded, traits);
    decoded = DecodeChar(ahead.utf8, ahead.offset);
    traits = TraitsOf(decoded.value);
  } while (IsIgnored(traits.word_break()));
  if ((Bit(traits.word_break()) & wanted) != 0) {
    ahead.Take(decoded, traits);
    cursor = ahead;
    return true;
  }
  // WB7a: a Hebrew letter keeps its geresh also at the end of the word.
  if (cursor.last != WordBreak::kHebrewLetter || middle != WordBreak::kSingleQuote) return false;
  cursor = ahead;
  return true;
}

}  // namespace infino::text
