#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "infino/common/bytes.h"

/// Words of ASCII text, which need no properties of Unicode: eight bytes at a time while all are
/// letters, digits or underscores, and a table for the rest.
namespace infino::text::internal {

enum AsciiTrait : uint8_t {
  kAsciiLetter = 1,
  kAsciiDigit = 2,
  kAsciiJoiner = 4,  ///< The underscore.
  kAsciiUpper = 8,   ///< Beside kAsciiLetter.
  kBetweenLetters = 16,
  kBetweenDigits = 32,
  kNotAscii = 64,
  kAsciiBlank = 128,
};

inline constexpr unsigned kAsciiWord = kAsciiLetter | kAsciiDigit | kAsciiJoiner;
inline constexpr unsigned kAsciiBetween = kBetweenLetters | kBetweenDigits;

inline constexpr std::array<uint8_t, 256> kAsciiTraits = [] {
  std::array<uint8_t, 256> table{};
  const auto at = [&table](char byte) -> uint8_t& {
    return table[static_cast<unsigned char>(byte)];
  };
  for (char byte = 'a'; byte <= 'z'; ++byte) at(byte) = kAsciiLetter;
  for (char byte = 'A'; byte <= 'Z'; ++byte) at(byte) = kAsciiLetter | kAsciiUpper;
  for (char byte = '0'; byte <= '9'; ++byte) at(byte) = kAsciiDigit;
  for (const char byte : {' ', '\t', '\n', '\v', '\f', '\r'}) at(byte) = kAsciiBlank;
  at('_') = kAsciiJoiner;
  at(':') = kBetweenLetters;
  at('.') = at('\'') = kBetweenLetters | kBetweenDigits;
  at(',') = at(';') = kBetweenDigits;
  for (size_t byte = 0x80; byte < table.size(); ++byte) table[byte] = kNotAscii;
  return table;
}();

inline unsigned AsciiTraitsOf(uint8_t byte) {
  return kAsciiTraits[byte];
}

inline char ToLowerAscii(char byte) {
  return (AsciiTraitsOf(static_cast<uint8_t>(byte)) & kAsciiUpper) != 0
             ? static_cast<char>(byte + ('a' - 'A'))
             : byte;
}

/// Whether `middle`, next to `before` and `after`, is inside a word.
inline bool JoinsAscii(unsigned before, unsigned middle, unsigned after) {
  return ((middle & kBetweenLetters) != 0 && (before & after & kAsciiLetter) != 0) ||
         ((middle & kBetweenDigits) != 0 && (before & after & kAsciiDigit) != 0);
}

/// The kinds of eight bytes, a bit 7 for each byte that is of the kind.
struct AsciiKinds {
  static constexpr uint64_t kOnes = 0x0101010101010101;
  static constexpr uint64_t kHighs = 0x8080808080808080;

  explicit AsciiKinds(uint64_t bytes) {
    const uint64_t ascii = bytes & ~kHighs;
    const uint64_t letters = Between(ascii | (0x20 * kOnes), 'a', 'z');
    const uint64_t digits = Between(ascii, '0', '9');
    const uint64_t joiners = Between(ascii, '_', '_');
    const uint64_t valid = ~bytes & kHighs;
    letters_or_digits = (letters | digits) & valid;
    words = letters_or_digits | (joiners & valid);
    uppers = letters & ~(ascii << 2U) & valid;
  }

  uint64_t letters_or_digits;
  uint64_t words;
  uint64_t uppers;

 private:
  // For bytes below 0x80.
  static constexpr uint64_t Between(uint64_t bytes, char low, char high) {
    const uint64_t at_least = bytes + (0x80 - static_cast<uint64_t>(low)) * kOnes;
    const uint64_t above = bytes + (0x7F - static_cast<uint64_t>(high)) * kOnes;
    return at_least & ~above & kHighs;
  }
};

struct AsciiWord {
  size_t end = 0;
  bool makes_word = false;  ///< Has a letter or a digit, not underscores only.
  bool has_upper = false;
  bool undecided = false;  ///< What follows isn't ASCII and may go on with the word.
};

/// Extends `word` over letters, digits and underscores.
inline void SkipWordBytes(ByteSpan text, AsciiWord& word) {
  size_t end = word.end;
  uint64_t word_makers = 0;
  uint64_t uppers = 0;
  uint64_t others = 0;
  while (text.size() - end >= sizeof(uint64_t)) {
    const AsciiKinds kinds(LoadU64(text.data() + end));
    others = ~kinds.words & AsciiKinds::kHighs;
    // The bits below the first byte of another kind; all when there is none.
    const uint64_t before = (others & (~others + 1)) - 1;
    word_makers |= kinds.letters_or_digits & before;
    uppers |= kinds.uppers & before;
    if (others != 0) {
      end += static_cast<size_t>(std::countr_zero(others)) / 8;
      break;
    }
    end += sizeof(uint64_t);
  }
  for (; others == 0 && end < text.size(); ++end) {
    const unsigned traits = AsciiTraitsOf(text[end]);
    if ((traits & kAsciiWord) == 0) break;
    word_makers |= traits & (kAsciiLetter | kAsciiDigit);
    uppers |= traits & kAsciiUpper;
  }
  word.end = end;
  word.makes_word |= word_makers != 0;
  word.has_upper |= uppers != 0;
}

/// The word whose first byte, a letter, digit or underscore, is at `begin`.
inline AsciiWord FindAsciiWord(ByteSpan text, size_t begin) {
  AsciiWord word{.end = begin};
  while (true) {
    SkipWordBytes(text, word);
    if (word.end == text.size()) return word;
    const unsigned traits = AsciiTraitsOf(text[word.end]);
    if ((traits & (kNotAscii | kAsciiBetween)) == 0) return word;
    const unsigned next = word.end + 1 < text.size() ? AsciiTraitsOf(text[word.end + 1]) : 0U;
    if (((traits | next) & kNotAscii) != 0) {
      word.undecided = true;
      return word;
    }
    if (!JoinsAscii(AsciiTraitsOf(text[word.end - 1]), traits, next)) return word;
    ++word.end;
  }
}

}  // namespace infino::text::internal
