#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "infino/common/bytes.h"

namespace infino {

/// What is known of the integers or texts of one page.
struct PageBound {
  bool is_known = false;
  bool has_null = false;
  bool has_value = false;
  int64_t least = 0;  ///< Of the values; of texts, of their NumberOfPrefix.
  int64_t greatest = 0;

  void Add(int64_t number);
};

/// How many bytes of a text bounds are made of.
inline constexpr size_t kPrefixBytes = sizeof(uint64_t);

/// The first bytes of a text, zeros behind a shorter one, as a number: in the order of their bytes.
[[nodiscard]] int64_t NumberOfPrefix(ByteSpan text);

/// The bytes that NumberOfPrefix made a number of.
[[nodiscard]] std::array<char, kPrefixBytes> PrefixOfNumber(int64_t number);

/// The least and greatest integers or texts of pages, as far as scans have met them: a scan that
/// comes later leaves pages alone that a filter rules out. Holds a PageBound a page of the columns
/// that were met. Thread-safe.
class PageBounds {
 public:
  /// Of the pages of a column chunk, in their order; empty if none was met.
  [[nodiscard]] std::vector<PageBound> Of(int row_group, int leaf) const;

  /// Takes in one of `page_count` pages of a column chunk.
  void Note(int row_group, int leaf, size_t page_count, size_t page, const PageBound& bound);

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<int, int>, std::vector<PageBound>> chunks_;
};

}  // namespace infino
