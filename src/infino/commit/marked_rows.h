#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/row_bitmap.h"
#include "infino/common/ids.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/supertable/snapshot.h"

namespace infino {

/// The rows that a change is about to delete, at one version of the table, and their way to a newer
/// one. Used by one thread.
class MarkedRows {
 public:
  /// Starts without rows at the version of `base`.
  explicit MarkedRows(std::shared_ptr<const Snapshot> base) : base_(std::move(base)) {}

  /// Marks rows of the version, none of them deleted.
  void Add(const RowSelection& rows);

  /// What a newer version means for marked rows.
  struct Moved {
    bool lost_rows = false;       ///< Marked rows were deleted or moved; they are marked no more.
    bool changed_schema = false;  ///< Predicates may mean something else.

    /// The superfiles with rows that came since: of them nothing is known. Live as long as the
    /// newer snapshot.
    std::vector<const SuperfileEntry*> added = {};
  };

  /// Goes on to a newer version: `context` has it, and outlives the call. Blocks in Wait.
  [[nodiscard]] arrow::Result<Moved> Follow(const QueryContext& context,
                                            std::shared_ptr<const Snapshot> newer);

  /// The tombstones that delete the marked rows of the version beside those it has: one set for
  /// each superfile with marked rows. `context` has the version. Blocks in Wait.
  [[nodiscard]] arrow::Result<std::vector<NewTombstones>> NextTombstones(
      const QueryContext& context) const;

  [[nodiscard]] uint64_t count() const;

  /// The version.
  [[nodiscard]] const std::shared_ptr<const Snapshot>& base() const { return base_; }

 private:
  [[nodiscard]] std::vector<const SuperfileEntry*> MarkedEntries() const;

  std::shared_ptr<const Snapshot> base_;
  std::map<SuperfileId, RowBitmap> rows_;
};

}  // namespace infino
