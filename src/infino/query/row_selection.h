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

  /// How many rows were selected in all.
  [[nodiscard]] int64_t row_count() const {
    int64_t count = 0;
    for (const auto& [id, selected] : files_) count += selected.count;
    return count;
  }

  /// Calls `visit` with each superfile that has selected rows, and those rows, in any order.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [id, selected] : files_) visit(id, selected.filter);
  }

  /// The rows that are in both.
  [[nodiscard]] RowSelection And(const RowSelection& other) const {
    RowSelection both;
    for (const auto& [id, selected] : files_) {
      const DocFilter* const filter = other.Find(id);
      if (filter == nullptr) continue;
      DocFilter kept = selected.filter;
      kept.Retain(*filter);
      both.Set(id, std::move(kept));
    }
    return both;
  }

 private:
  struct Selected {
    DocFilter filter;
    int64_t count = 0;
  };

  std::unordered_map<SuperfileId, Selected, RandomIdHash> files_;
};

}  // namespace infino
