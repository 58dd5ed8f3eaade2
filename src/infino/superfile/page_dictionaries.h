#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "infino/superfile/page_bounds.h"

namespace infino {

class PageDictionary;

/// The decoded dictionary pages of one superfile that fetches have met, so that they are read and
/// decoded once, and the bounds of pages that scans have met. Dictionaries that do not fit its
/// budget are not kept. Thread-safe.
class PageDictionaries {
 public:
  explicit PageDictionaries(int64_t budget_bytes) : budget_bytes_(budget_bytes) {}

  /// That of a column chunk, or null.
  [[nodiscard]] std::shared_ptr<const PageDictionary> Find(int row_group, int leaf) const;

  void Keep(int row_group, int leaf, std::shared_ptr<const PageDictionary> dictionary);

  [[nodiscard]] PageBounds& bounds() { return bounds_; }

  [[nodiscard]] int64_t budget_bytes() const { return budget_bytes_; }

 private:
  const int64_t budget_bytes_;
  mutable std::mutex mutex_;
  std::map<std::pair<int, int>, std::shared_ptr<const PageDictionary>> kept_;
  int64_t bytes_ = 0;
  PageBounds bounds_;
};

}  // namespace infino
