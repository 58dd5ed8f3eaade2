#pragma once

#include <span>
#include <string>

#include <arrow/result.h>

#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"

namespace infino {

/// Finds the rows that a SQL predicate selects: what searches with a condition and changes by
/// predicate are built on. The SQL layer implements it, the catalog hands it in. Thread-safe.
class RowSelector {
 public:
  RowSelector() = default;
  virtual ~RowSelector() = default;
  RowSelector(const RowSelector&) = delete;
  RowSelector& operator=(const RowSelector&) = delete;
  RowSelector(RowSelector&&) = delete;
  RowSelector& operator=(RowSelector&&) = delete;

  /// The rows of `entries`, superfiles of the context's snapshot, that are not deleted and for
  /// which `predicate` is true (not null). The predicate is one boolean SQL expression over the
  /// stored columns and `_id`, without subqueries. kInvalidArgument for one that is not, also when
  /// there is no superfile. Blocks in Wait; not to be called on a pool thread.
  [[nodiscard]] virtual arrow::Result<RowSelection> SelectRows(
      const QueryContext& context, const std::string& predicate,
      std::span<const SuperfileEntry* const> entries) = 0;
};

}  // namespace infino
