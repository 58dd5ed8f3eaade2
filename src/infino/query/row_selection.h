#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"

namespace infino {

/// The rows of a snapshot that a search may return, by superfile: those that a keyword query or any
/// other predicate selects. Immutable once filled, then thread-safe.
class RowSelection {
 public:
  /// Sets the rows of one superfile; a superfile that is never set has none.
  void Set(const SuperfileId& superfile, DocFilter filter) {
    const auto count = static_cast<int64_t>(filter.pass_count());
    if (count > 0) files_.insert_or_assign(superfile, Selected{std::move(filter), count});
  }

  /// The rows of a superfile, or null if none was selected.
  [[nodiscard]] const DocFilter* Find(const SuperfileId& superfile) const {
    const auto found = files_.find(superfile);
    return found == files_.end() ? nullptr : &found->second.filter;
  }

  /// How many rows of a superfile were selected.
  [[nodiscard]] int64_t CountOf(const SuperfileId& superfile) const {
    const auto found = files_.find(superfile);
    return found == files_.end() ? 0 : found->second.count;
  }

  [[nodiscard]] bool empty() const { return files_.empty(); }

 private:
  struct Selected {
    DocFilter filter;
    int64_t count = 0;
  };

  std::unordered_map<SuperfileId, Selected, RandomIdHash> files_;
};

}  // namespace infino
