#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace infino::text {

/// What a term is looked up by. Views the term's bytes past the first 8.
struct TermKey {
  uint64_t prefix =
      0;  ///< The first 8 bytes as one big-endian number, zeros behind a shorter term.
  uint32_t hash = 0;
  uint16_t length = 0;  ///< In bytes.
  std::string_view rest;
};

inline constexpr size_t kTermPrefixSize = 8;

namespace internal {

/// N bytes as a little-endian number. Inlines to one load.
template <typename Number>
Number LoadNumber(const char* at) {
  std::array<char, sizeof(Number)> bytes;
  std::copy_n(at, sizeof(Number), bytes.begin());
  const auto value = std::bit_cast<Number>(bytes);
  if constexpr (std::endian::native == std::endian::little) return value;
  Number swapped = 0;
  for (size_t i = 0; i < sizeof(Number); ++i) {
    swapped |= static_cast<Number>((value >> (8 * i)) & 0xFF) << (8 * (sizeof(Number) - 1 - i));
  }
  return swapped;
}

/// The first 8 bytes as a little-endian number, zeros behind a shorter term. Loads that overlap
/// agree about the bytes they share.
inline uint64_t LoadPrefix(std::string_view term) {
  const size_t size = term.size();
  const char* at = term.data();
  if (size >= kTermPrefixSize) return LoadNumber<uint64_t>(at);
  if (size >= 4) {
    return LoadNumber<uint32_t>(at) |
           (static_cast<uint64_t>(LoadNumber<uint32_t>(at + size - 4)) << (8 * (size - 4)));
  }
  const auto byte = [at](size_t i) {
    return static_cast<uint64_t>(static_cast<uint8_t>(at[i])) << (8 * i);
  };
  return byte(0) | byte(size / 2) | byte(size - 1);
}

inline uint64_t Mix(uint64_t hash) {
  hash ^= hash >> 32;
  hash *= 0xD6E8FEB86659FD93;
  hash ^= hash >> 32;
  return hash;
}

inline uint32_t HashTerm(std::string_view term, uint64_t prefix) {
  uint64_t hash = (prefix ^ (term.size() << 56)) * 0x9E3779B97F4A7C15;
  for (size_t at = kTermPrefixSize; at < term.size(); at += kTermPrefixSize) {
    hash = Mix(hash) ^ LoadPrefix(term.substr(at, kTermPrefixSize));
    hash *= 0x9E3779B97F4A7C15;
  }
  return static_cast<uint32_t>(Mix(hash) >> 16);
}

}  // namespace internal

/// REQUIRES: 0 < term.size() <= kTermLengthMax.
[[nodiscard]] inline TermKey MakeTermKey(std::string_view term) {
  const uint64_t prefix = internal::LoadPrefix(term);
  return {.prefix = __builtin_bswap64(prefix),
          .hash = internal::HashTerm(term, prefix),
          .length = static_cast<uint16_t>(term.size()),
          .rest = term.substr(std::min(term.size(), kTermPrefixSize))};
}

}  // namespace infino::text
