#include "infino/superfile/page_dictionaries.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "infino/superfile/flat_pages.h"

namespace infino {

std::shared_ptr<const PageDictionary> PageDictionaries::Find(int row_group, int leaf) const {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find({row_group, leaf});
  return found == kept_.end() ? nullptr : found->second;
}

void PageDictionaries::Keep(int row_group, int leaf,
                            std::shared_ptr<const PageDictionary> dictionary) {
  const int64_t bytes = dictionary->memory_bytes();
  const std::lock_guard lock(mutex_);
  if (bytes > budget_bytes_ - bytes_) return;
  if (kept_.try_emplace({row_group, leaf}, std::move(dictionary)).second) bytes_ += bytes;
}

}  // namespace infino
