#pragma once

#include "infino/commit/commit.h"
#include "infino/commit/row_ids.h"
#include "infino/commit/table_writer.h"
#include "infino/options.h"
#include "infino/query/query_environment.h"
#include "infino/supertable/snapshot.h"

namespace infino {

/// Where a change of rows is made. Borrowed: all of it outlives the change. Nothing is null.
struct ChangeContext {
  const WriterEnvironment* environment = nullptr;
  const CommitTarget* target = nullptr;
  RowIdSource* ids = nullptr;
  const StopCondition* stop = nullptr;

  /// For a look at the table as it is in `snapshot`, which outlives it.
  [[nodiscard]] QueryContext On(const Snapshot& snapshot) const {
    return {&environment->querying, &snapshot, &target->folder, stop};
  }
};

}  // namespace infino
