#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "duckdb/common/types/selection_vector.hpp"
#include "infino/index/doc_filter.h"

namespace infino::sql {

/// Which of some consecutive rows, counted from 0, are still in question. All are at first, and
/// that takes no memory. A plain value.
class RowMarks {
 public:
  explicit RowMarks(uint32_t row_count = 0) : row_count_(row_count) {}

  /// Whether none was taken away, for certain.
  [[nodiscard]] bool all() const { return words_.empty(); }

  /// Whether any from the first to before the second is left.
  [[nodiscard]] bool Any(uint32_t first, uint32_t end) const;

  /// Takes away those from the first to before the second.
  void Clear(uint32_t first, uint32_t end);

  /// Takes away those that are not among `live`, of which `first_doc` is the first.
  void Retain(const DocFilter& live, DocId first_doc);

  /// Leaves of those from `first` on, `length` of them, just the `count` that `selected` lists, as
  /// places from there. REQUIRES: first is a multiple of 64, and length is, unless it ends the
  /// rows.
  void Retain(uint32_t first, size_t length, const duckdb::SelectionVector& selected, size_t count);

  /// Lists the marked ones of such a stretch; returns how many there are. If all are, `selected`
  /// stays as it is.
  [[nodiscard]] size_t Select(uint32_t first, size_t length,
                              duckdb::SelectionVector& selected) const;

 private:
  void Materialize();

  uint32_t row_count_;
  std::vector<uint64_t> words_;
};

}  // namespace infino::sql
