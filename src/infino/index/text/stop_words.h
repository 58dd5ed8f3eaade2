#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace infino::text {

/// The English stop words, those of Lucene.
inline constexpr std::array<std::string_view, 33> kEnglishStopWords{
    "a",   "an",    "and",  "are",   "as",    "at",   "be",   "but", "by",  "for",  "if",
    "in",  "into",  "is",   "it",    "no",    "not",  "of",   "on",  "or",  "such", "that",
    "the", "their", "then", "there", "these", "they", "this", "to",  "was", "will", "with"};

namespace internal {

inline constexpr size_t kStopWordLengthMax = 5;

/// A short ASCII word as a number that orders like the word.
constexpr uint64_t Pack(std::string_view word) {
  uint64_t packed = 0;
  for (size_t i = 0; i < sizeof(packed); ++i) {
    packed = (packed << 8U) | (i < word.size() ? static_cast<unsigned char>(word[i]) : 0U);
  }
  return packed;
}

inline constexpr auto kPackedStopWords = [] {
  std::array<uint64_t, kEnglishStopWords.size()> packed{};
  std::transform(kEnglishStopWords.begin(), kEnglishStopWords.end(), packed.begin(), Pack);
  std::sort(packed.begin(), packed.end());
  return packed;
}();

}  // namespace internal

inline bool IsStopWord(std::string_view word) {
  return word.size() <= internal::kStopWordLengthMax &&
         std::binary_search(internal::kPackedStopWords.begin(), internal::kPackedStopWords.end(),
                            internal::Pack(word));
}

}  // namespace infino::text
