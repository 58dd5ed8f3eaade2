#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "infino/superfile/column_stats.h"

namespace infino {
namespace {

constexpr uint8_t kByteMax = 0xFF;
constexpr uint32_t kCodePointMax = 0x10FFFF;
constexpr uint32_t kSurrogatesBegin = 0xD800;
constexpr uint32_t kSurrogatesEnd = 0xE000;

bool IsContinuation(char byte) {
  return (static_cast<uint8_t>(byte) & 0xC0U) == 0x80;
}

/// Where the last character of `text` starts.
size_t LastCharacter(std::string_view text) {
  size_t start = text.size() - 1;
  while (start > 0 && text.size() - start < 4 && IsContinuation(text[start])) --start;
  return start;
}

std::string_view Cut(std::string_view value, bool is_text) {
  size_t length = std::min(value.size(), kBoundLengthMax);
  if (!is_text || length == value.size()) return value.substr(0, length);
  // Back to a byte that starts a character; text that is not UTF-8 may have none.
  size_t start = length;
  while (start > 0 && length - start < 4 && IsContinuation(value[start])) --start;
  if (!IsContinuation(value[start])) length = start;
  return value.substr(0, length);
}

/// The code point of the well-formed character `utf8`, or 0.
uint32_t Decode(std::string_view utf8) {
  const auto byte = [&](size_t i) { return uint32_t{static_cast<uint8_t>(utf8[i])}; };
  const auto tail = [&](size_t i) { return byte(i) & 0x3FU; };
  for (size_t i = 1; i < utf8.size(); ++i) {
    if (!IsContinuation(utf8[i])) return 0;
  }
  switch (utf8.size()) {
    case 1:
      return byte(0) < 0x80 ? byte(0) : 0;
    case 2:
      return (byte(0) & 0xE0U) == 0xC0 ? ((byte(0) & 0x1FU) << 6) | tail(1) : 0;
    case 3:
      return (byte(0) & 0xF0U) == 0xE0 ? ((byte(0) & 0x0FU) << 12) | (tail(1) << 6) | tail(2) : 0;
    case 4:
      return (byte(0) & 0xF8U) == 0xF0
                 ? ((byte(0) & 0x07U) << 18) | (tail(1) << 12) | (tail(2) << 6) | tail(3)
                 : 0;
    default:
      return 0;
  }
}

void AppendUtf8(uint32_t code_point, std::string& out) {
  const auto append = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    append(code_point);
  } else if (code_point < 0x800) {
    append(0xC0U | (code_point >> 6));
    append(0x80U | (code_point & 0x3FU));
  } else if (code_point < 0x10000) {
    append(0xE0U | (code_point >> 12));
    append(0x80U | ((code_point >> 6) & 0x3FU));
    append(0x80U | (code_point & 0x3FU));
  } else {
    append(0xF0U | (code_point >> 18));
    append(0x80U | ((code_point >> 12) & 0x3FU));
    append(0x80U | ((code_point >> 6) & 0x3FU));
    append(0x80U | (code_point & 0x3FU));
  }
}

/// Replaces the last character by the next one. False if there is none, or no character.
bool CountUpLastCharacter(std::string& text) {
  const size_t start = LastCharacter(text);
  uint32_t next = Decode(std::string_view(text).substr(start)) + 1;
  if (next == 1 && text.substr(start) != std::string_view("\0", 1)) return false;
  if (next == kSurrogatesBegin) next = kSurrogatesEnd;
  if (next > kCodePointMax) return false;
  text.resize(start);
  AppendUtf8(next, text);
  return true;
}

bool CountUpLastByte(std::string& bytes) {
  const auto last = static_cast<uint8_t>(bytes.back());
  if (last == kByteMax) return false;
  bytes.back() = static_cast<char>(last + 1);
  return true;
}

}  // namespace

StringBound LowerBoundOf(std::string_view value, bool is_text) {
  const std::string_view cut = Cut(value, is_text);
  return {.bound = std::string(cut), .exact = cut.size() == value.size()};
}

StringBound UpperBoundOf(std::string_view value, bool is_text) {
  std::string bound(Cut(value, is_text));
  if (bound.size() == value.size()) return {.bound = std::move(bound), .exact = true};
  for (; !bound.empty(); bound.resize(is_text ? LastCharacter(bound) : bound.size() - 1)) {
    std::string next = bound;
    const bool counted = is_text ? CountUpLastCharacter(next) : CountUpLastByte(next);
    // A character may grow when counted up, and text that is not UTF-8 may count up anyhow.
    if (counted && next.size() <= kBoundLengthMax && next > value) {
      return {.bound = std::move(next), .exact = false};
    }
  }
  return {.bound = {}, .exact = false};
}

}  // namespace infino
