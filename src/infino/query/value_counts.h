#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include <arrow/result.h>

#include "infino/common/ids.h"
#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"

namespace infino {

/// How often each value of a column occurs among rows that are not deleted. Values are encoded as
/// in ValueCount, for the type that the table declares.
struct LiveValueCounts {
  std::map<std::string, int64_t> values;  ///< Positive.
  int64_t null_count = 0;
};

/// Those of one superfile, and the tombstones that they are less of: none if that is empty.
struct SuperfileValueCounts {
  std::string tombstones;
  std::shared_ptr<const LiveValueCounts> counts;
};

/// The counts of a column in a version. Immutable.
struct ColumnValueCounts {
  std::unordered_map<SuperfileId, SuperfileValueCounts, RandomIdHash> by_superfile;
  LiveValueCounts total;

  /// About what they take in memory.
  [[nodiscard]] int64_t size_bytes() const;
};

/// Whether the manifest, and few rows beside it, tell how often each value of a column occurs:
/// superfiles have counts of it, or one value only, or not the column; rows have to be read where
/// they are deleted or a superfile is small and has no counts, and of those there are few.
[[nodiscard]] bool CanCountValues(const Snapshot& snapshot, const TableColumn& column);

/// The counts of a column in the context's snapshot. What `known` (may be null) has of a superfile
/// is taken from there, the rest is read: summaries in one round, deleted rows in two more.
/// kCorrupt if an object is missing or damaged, or counts are not those of their superfile's rows.
/// Blocks in Wait. REQUIRES: CanCountValues.
[[nodiscard]] arrow::Result<std::shared_ptr<const ColumnValueCounts>> CountValues(
    const QueryContext& context, ObjectStore& store, const TableColumn& column,
    const ColumnValueCounts* known);

}  // namespace infino
