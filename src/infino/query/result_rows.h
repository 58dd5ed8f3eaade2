#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/table.h>

#include "infino/common/ids.h"
#include "infino/query/projection.h"
#include "infino/query/query_environment.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

/// A row that a query found.
struct Hit {
  RowId id;
  float score = 0.0F;
  uint32_t file = 0;  ///< Index of its superfile among those searched.
  DocId doc = 0;
  uint32_t query = 0;  ///< Which of several queries found it.
};

/// Whether `left` comes before `right` in a ranked result: the higher score, then the lower `_id`.
[[nodiscard]] inline bool RanksBefore(const Hit& left, const Hit& right) {
  return left.score != right.score ? left.score > right.score : left.id < right.id;
}

/// Leaves the k first of `hits` by `ranks_before`, in its order.
template <typename RanksBefore>
void KeepBest(std::vector<Hit>& hits, uint64_t k, const RanksBefore& ranks_before) {
  if (hits.size() > k) {
    const auto end = hits.begin() + static_cast<std::ptrdiff_t>(k);
    std::nth_element(hits.begin(), end, hits.end(), ranks_before);
    hits.erase(end, hits.end());
  }
  std::sort(hits.begin(), hits.end(), ranks_before);
}

/// The result for `hits`, in their order: one row each, columns as projected. Stored columns are
/// fetched from all superfiles in one wave, vectors from their indexes beside it in two; ids and
/// scores alone need no read. Blocks in Wait.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> FetchRows(
    std::span<const Hit> hits, std::span<const std::shared_ptr<const SuperfileReader>> files,
    const Projection& projection, const QueryContext& context);

}  // namespace infino
