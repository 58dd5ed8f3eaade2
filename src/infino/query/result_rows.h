#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/table.h>

#include "infino/common/ids.h"
#include "infino/common/work_pool.h"
#include "infino/options.h"
#include "infino/query/projection.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

/// A row that a query found.
struct Hit {
  RowId id;
  float score = 0.0F;
  uint32_t file = 0;  ///< Index of its superfile among those searched.
  DocId doc = 0;
};

/// Whether `left` comes before `right` in a ranked result: the higher score, then the lower `_id`.
[[nodiscard]] inline bool RanksBefore(const Hit& left, const Hit& right) {
  return left.score != right.score ? left.score > right.score : left.id < right.id;
}

/// The result for `hits`, in their order: one row each, columns as projected. Stored columns are
/// fetched from all superfiles in one wave; ids and scores alone need no read. Blocks in Wait.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> FetchRows(
    std::span<const Hit> hits, std::span<const std::shared_ptr<const SuperfileReader>> files,
    const Projection& projection, WorkPool* pool, const StopCondition& stop);

}  // namespace infino
