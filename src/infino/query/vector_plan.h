#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "infino/index/vector/cluster_choice.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_space.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/query/tombstones.h"
#include "infino/query/vector_run.h"
#include "infino/search.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// What a nearest-neighbour search asks, before it is planned.
struct VectorQuestion {
  std::string column;
  std::span<const std::vector<float>> queries;
  uint64_t k = 0;
  VectorEffort effort;
};

/// A nearest-neighbour search made ready: against which column, how thoroughly, in which files.
struct VectorPlan {
  /// Null while the table has no rows.
  std::shared_ptr<const vector::VectorSpace> space;
  vector::RecallOptions recall;
  std::vector<std::shared_ptr<const SuperfileReader>> files;  ///< Hits name them by their places.
  std::vector<VectorFile> searched;                           ///< As `files`.
  Tombstones tombstones;                                      ///< Where no selection is given.

  /// Whether every query looks at all of the files' clusters.
  [[nodiscard]] bool ScansAll() const;

  /// Makes queries ready, one after the other.
  [[nodiscard]] arrow::Result<std::vector<vector::PreparedQuery>> Prepare(
      std::span<const std::vector<float>> queries) const;
};

/// Checks the question and opens the superfiles that have rows of `selection`, none of which are
/// deleted, and which outlives the plan; null: all rows that are not deleted. kInvalidArgument,
/// saying what there is, for a column without a vector index, a query of another dimension or with
/// a number that is not finite, and an effort out of range. Blocks in Wait.
[[nodiscard]] arrow::Result<VectorPlan> PlanVectors(const QueryContext& context,
                                                    const VectorQuestion& question,
                                                    const RowSelection* selection);

}  // namespace infino
