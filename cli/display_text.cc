#include "cli/display_text.h"

#include <array>
#include <clocale>
#include <cstddef>
#include <cstdint>
#include <cwchar>
#include <string>
#include <string_view>

namespace infino::cli {

namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr std::string_view kEllipsis = "…";

/// Takes one character off the front of `text`: kReplacement for a byte that begins none.
char32_t TakeCharacter(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  // Length, by the first byte, and the least value that needs it.
  const size_t size = first < 0x80U ? 1 : first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : 2;
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  char32_t character = size == 1 ? first : first & (0x7FU >> size);
  bool is_valid = size <= text.size() && (size == 1 || first >= 0xC2U) && first < 0xF5U;
  for (size_t i = 1; is_valid && i < size; ++i) {
    is_valid = (byte(i) & 0xC0U) == 0x80U;
    character = (character << 6U) | (byte(i) & 0x3FU);
  }
  const bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
  if (!is_valid || character < kLeast.at(size) || character > 0x10FFFF || is_surrogate) {
    text.remove_prefix(1);
    return kReplacement;
  }
  text.remove_prefix(size);
  return character;
}

/// C0, delete and C1; also what turns the direction of the text behind it.
bool IsControl(char32_t character) {
  return character < 0x20 || (character >= 0x7F && character < 0xA0) ||
         (character >= 0x2028 && character <= 0x202E) ||
         (character >= 0x2066 && character <= 0x2069);
}

size_t WidthOf(char32_t character) {
  // A character that the C library doesn't know takes most likely one.
  const int width = wcwidth(static_cast<wchar_t>(character));
  return width < 0 ? 1 : static_cast<size_t>(width);
}

}  // namespace

void UseUtf8() {
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) {  // NOLINT(concurrency-mt-unsafe): no thread
    static_cast<void>(std::setlocale(LC_CTYPE, ""));     // NOLINT(concurrency-mt-unsafe)
  }
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) width += WidthOf(TakeCharacter(text));
  return width;
}

std::string OneLine(std::string_view text, size_t width) {
  std::string line;
  size_t taken = 0;
  size_t cut_size = 0;  // of what leaves a column for the ellipsis
  while (!text.empty()) {
    std::string_view rest = text;
    char32_t character = TakeCharacter(rest);
    std::string_view bytes = text.substr(0, text.size() - rest.size());
    if (IsControl(character)) {
      character = ' ';
      bytes = " ";
    } else if (character == kReplacement) {
      bytes = "\uFFFD";
    }
    taken += WidthOf(character);
    if (taken > width) return line.substr(0, cut_size) + std::string(kEllipsis);
    line += bytes;
    if (taken < width) cut_size = line.size();
    text = rest;
  }
  return line;
}

std::string Padded(const std::string& text, size_t width, bool right) {
  const size_t have = DisplayWidth(text);
  const std::string space(width > have ? width - have : 0, ' ');
  return right ? space + text : text + space;
}

}  // namespace infino::cli
