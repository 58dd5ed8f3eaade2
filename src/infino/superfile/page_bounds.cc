#include "infino/superfile/page_bounds.h"

#include <cstddef>
#include <mutex>
#include <vector>

namespace infino {

std::vector<PageBound> PageBounds::Of(int row_group, int leaf) const {
  const std::lock_guard lock(mutex_);
  const auto found = chunks_.find({row_group, leaf});
  return found == chunks_.end() ? std::vector<PageBound>() : found->second;
}

void PageBounds::Note(int row_group, int leaf, size_t page_count, size_t page,
                      const PageBound& bound) {
  const std::lock_guard lock(mutex_);
  std::vector<PageBound>& pages = chunks_[{row_group, leaf}];
  pages.resize(page_count);
  pages[page] = bound;
}

}  // namespace infino
