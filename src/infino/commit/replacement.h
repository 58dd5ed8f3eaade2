#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "infino/commit/change_context.h"
#include "infino/commit/commit.h"
#include "infino/commit/held_rows.h"
#include "infino/commit/marked_rows.h"
#include "infino/common/ids.h"
#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"

namespace infino {

/// Rows that take the place of others, under ids that are given.
struct Replacement {
  std::string operation;  ///< As the history shows it.
  MarkedRows marked;      ///< The rows that go.
  const HeldRows* rows = nullptr;
  std::shared_ptr<const std::vector<RowId>> ids;  ///< Of `rows`, ascending.
  std::chrono::nanoseconds started{};             ///< By Clock::Monotonic.

  /// Whether the change has to do with rows of superfiles that came after it was made.
  std::function<arrow::Result<bool>(const QueryContext& context,
                                    std::span<const SuperfileEntry* const> added)>
      concerns;
};

/// Builds superfiles of the new rows and publishes them together with the deletion of the others,
/// as one commit. kStartOver, with nothing published or left behind, if a commit that came first
/// has deleted one of the marked rows, added rows that concern the change, or changed the schema.
/// Fails as CommitChange, and as an append does for rows that don't fit the table.
[[nodiscard]] arrow::Result<CommitOutcome> CommitReplacement(const ChangeContext& context,
                                                             Replacement replacement);

/// Makes a change anew while it is to start over, until WriterEnvironment::commit_timeout_ms:
/// kConflict then.
[[nodiscard]] arrow::Result<CommitOutcome> StartOverUntilDone(
    const ChangeContext& context,
    const std::function<arrow::Result<CommitOutcome>(bool is_first)>& make);

}  // namespace infino
