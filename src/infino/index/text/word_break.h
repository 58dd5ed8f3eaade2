#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace infino::text {

/// The Word_Break property of UAX #29. The classes that only tell kinds of white space and line
/// ends apart are one here, kBlank, because nothing ever joins a word across them.
enum class WordBreak : uint8_t {
  kOther,
  kBlank,
  kLetter,
  kHebrewLetter,
  kNumeric,
  kKatakana,
  kExtendNumLet,
  kRegionalIndicator,
  kMidLetter,
  kMidNum,
  kMidNumLet,
  kSingleQuote,
  kDoubleQuote,
  kExtend,  ///< Extend and Format: both belong to the character before them.
  kZwj,
};

/// What splitting, normalising and case mapping have to know about a character, or about all the
/// characters of a word together.
enum CharTrait : uint16_t {
  kPictographic = 1 << 4,  ///< Extended_Pictographic.
  kMakesWord = 1 << 5,     ///< A letter, a number or an emoji: a word has at least one.
  kMayCompose = 1 << 6,    ///< Text without such characters is in NFC.
  kHasLowerCase = 1 << 7,  ///< Lower-casing may change it.
  kTraitMask = 0xFFF0,
};

/// The traits of one character, its WordBreak in the lowest four bits.
class CharTraits {
 public:
  constexpr CharTraits() = default;

  constexpr CharTraits(WordBreak word_break, unsigned traits)
      : bits_(static_cast<uint16_t>(static_cast<unsigned>(word_break) | traits)) {}

  [[nodiscard]] constexpr WordBreak word_break() const {
    return static_cast<WordBreak>(bits_ & 0x0F);
  }

  [[nodiscard]] constexpr unsigned traits() const { return bits_ & unsigned{kTraitMask}; }

 private:
  uint16_t bits_ = 0;
};

/// One character of a text. `size` is its length in bytes; 0 at the end of the text. A byte that is
/// not UTF-8 is kNotUtf8 and one byte long.
struct DecodedChar {
  static constexpr char32_t kNotUtf8 = 0xFFFFFFFF;

  char32_t value = kNotUtf8;
  uint32_t size = 0;
};

namespace internal {

/// The value of a continuation byte, or 0x40 and more for any other.
constexpr uint32_t Continuation(char byte) {
  return static_cast<uint32_t>(static_cast<unsigned char>(byte)) ^ 0x80U;
}

}  // namespace internal

/// The character at `offset`. Strict: overlong forms, surrogates and values over U+10FFFF are not
/// UTF-8.
[[nodiscard]] inline DecodedChar DecodeChar(std::string_view utf8, size_t offset) {
  if (offset >= utf8.size()) return {};
  constexpr DecodedChar kBad{.value = DecodedChar::kNotUtf8, .size = 1};
  const uint32_t lead = static_cast<unsigned char>(utf8[offset]);
  if (lead < 0x80) return {.value = lead, .size = 1};
  if (lead < 0xC2 || lead > 0xF4) return kBad;
  const size_t left = utf8.size() - offset;
  if (left < 2) return kBad;
  const uint32_t second = internal::Continuation(utf8[offset + 1]);
  if (lead < 0xE0) {
    if (second > 0x3F) return kBad;
    return {.value = ((lead & 0x1FU) << 6U) | second, .size = 2};
  }
  if (left < 3) return kBad;
  const uint32_t third = internal::Continuation(utf8[offset + 2]);
  if ((second | third) > 0x3F) return kBad;
  if (lead < 0xF0) {
    const uint32_t value = ((lead & 0x0FU) << 12U) | (second << 6U) | third;
    if (value < 0x800 || (value >= 0xD800 && value < 0xE000)) return kBad;
    return {.value = value, .size = 3};
  }
  if (left < 4) return kBad;
  const uint32_t fourth = internal::Continuation(utf8[offset + 3]);
  const uint32_t value = ((lead & 0x07U) << 18U) | (second << 12U) | (third << 6U) | fourth;
  if (fourth > 0x3F || value < 0x10000 || value > 0x10FFFF) return kBad;
  return {.value = value, .size = 4};
}

/// Splits text into the segments of UAX #29 (default rules, no dictionaries, the classes of Unicode
/// 17 for the characters that the ICU linked knows). Two differences: each white-space character is
/// a segment by itself, also before a combining mark, which then begins one, and so is each byte
/// that is not UTF-8.
///
/// Immutable and thread-safe. There is one, made at first use in some milliseconds.
class WordBreaker {
 public:
  struct Segment {
    size_t end = 0;       ///< Offset of the byte after it.
    unsigned traits = 0;  ///< CharTrait of all its characters together.
  };

  static const WordBreaker& Get();

  WordBreaker(const WordBreaker&) = delete;
  WordBreaker& operator=(const WordBreaker&) = delete;
  WordBreaker(WordBreaker&&) = delete;
  WordBreaker& operator=(WordBreaker&&) = delete;

  /// The segment that begins at `begin`, which is the text's first byte, its last segment's end, or
  /// any other place that is known to be a boundary. REQUIRES: begin < utf8.size().
  [[nodiscard]] Segment Next(std::string_view utf8, size_t begin) const;

  /// The traits of `value`. kNotUtf8 is a blank.
  [[nodiscard]] CharTraits TraitsOf(char32_t value) const {
    return value < table_.size() ? table_[value] : LookUp(value);
  }

 private:
  struct Cursor;

  // The planes 0 and 1: all but rare ideographs.
  static constexpr size_t kTableSize = 0x20000;

  WordBreaker();
  ~WordBreaker() = default;

  static CharTraits LookUp(char32_t value);

  bool JoinAcrossMiddle(Cursor& cursor, WordBreak middle) const;

  std::array<CharTraits, kTableSize> table_;
};

}  // namespace infino::text
