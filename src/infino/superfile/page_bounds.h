#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace infino {

/// What is known of the integers of one page.
struct PageBound {
  bool is_known = false;
  bool has_null = false;
  bool has_value = false;
  int64_t least = 0;  ///< Of the values.
  int64_t greatest = 0;
};

/// The least and greatest integers of pages, as far as scans have met them: a scan that comes later
/// leaves pages alone that a filter rules out. Holds a PageBound a page of the columns that were
/// met. Thread-safe.
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
