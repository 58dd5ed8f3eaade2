#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/row_bitmap.h"
#include "infino/common/ids.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/points_codec.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"
#include "infino/superfile/value_counts.h"

namespace infino {

/// A superfile that a change adds. Apply fills in `entry.commit`, `entry.term_filters`
/// and `entry.value_counts`.
struct NewSuperfile {
  SuperfileEntry entry;
  std::vector<TermFilter> filters;       ///< At most one a column.
  std::vector<ValueCounts> counts = {};  ///< At most one a column.
};

/// The rows of a superfile that are deleted once a change is made: all of them, also those that
/// were before.
struct NewTombstones {
  SuperfileId superfile;
  RowBitmap deleted;
};

/// An entry has statistics of so many columns at the most.
inline constexpr size_t kEntryColumnsMax = 32;

/// The entry of a superfile as it was built, with statistics of its first kEntryColumnsMax columns.
[[nodiscard]] SuperfileEntry MakeEntry(const SuperfileSummary& summary, int32_t schema_id);

/// What one commit does to a table, independent of the version it lands on: a plain value, applied
/// anew after each lost swap.
struct ManifestChange {
  std::string operation;            ///< As the history shows it: "append", "delete", …
  std::vector<NewSuperfile> added;  ///< Come after everything there is, in this order.
  std::vector<SuperfileId> removed;
  std::vector<NewTombstones> tombstones;  ///< At most one a superfile, of none that is removed.

  /// Lists of reference points that codes of added superfiles are made with. Those that the table
  /// has already are left out.
  std::vector<ReferencePoints> points;

  /// The schema from this version on, if it changes: its id is one more than the base's. Reference
  /// points of columns that it drops are dropped with them.
  std::optional<TableSchema> schema = std::nullopt;
};

/// Who commits, and when.
struct CommitStamp {
  CommitId commit;  ///< Kept across the retries of a commit.
  int64_t unix_ms = 0;
};

/// The version that a change is applied to. Borrowed: all of it outlives the call.
struct BaseVersion {
  const ManifestRoot* root = nullptr;
  ObjectRef root_object;  ///< Where `root` is stored, as the pointer names it.
  std::span<const std::shared_ptr<const ManifestPart>> parts;  ///< As root->parts.
  std::span<const ReferencePoints> points;                     ///< As root->points.
};

/// An object to be staged, with its name by content.
struct NamedObject {
  ObjectRef ref;
  std::shared_ptr<arrow::Buffer> bytes;
};

/// A version that is ready to be staged and published.
struct NextVersion {
  ManifestRoot root;
  ObjectRef root_object;
  std::shared_ptr<arrow::Buffer> root_bytes;
  std::vector<std::shared_ptr<const ManifestPart>> parts;  ///< As root.parts.
  std::vector<ReferencePoints> points;                     ///< As root.points.

  /// Every object but superfiles that the version names and the base does not: summary, points,
  /// tombstones, parts, and the root as the last one. Their names carry the commit id through their
  /// content, so a name that is taken is this commit's own object from an earlier try: success.
  std::vector<NamedObject> objects;
};

/// Version 1 of a table: no rows.
[[nodiscard]] arrow::Result<NextVersion> FirstVersion(const TableSchema& schema,
                                                      const CommitStamp& stamp);

/// The version after `base` with `change` made. Pure: equal arguments give equal bytes.
///
/// Writes few bytes whatever the table's size: the new entries go into one small part, which
/// absorbs the newest parts while it stays under kSmallPartBytes; parts that are full are merged
/// once there are kMergeCount of them or enough for a large one (docs/format/manifest.md, "The
/// parts log"). A removal rewrites the parts that held the removed superfiles, a deletion of rows
/// those with their superfiles' entries.
///
/// kConflict if a superfile to be removed, or to lose rows, is not there (another commit removed
/// it), or a column
/// would have more lists of reference points than codes can name; kInvalidArgument if one to be
/// added is already there, tombstones have rows that a superfile has not or add none to those it
/// has, reference points are of a column that never was one of vectors, a schema does not follow
/// the base's, or a sum does not fit 64 bits.
[[nodiscard]] arrow::Result<NextVersion> Apply(const BaseVersion& base,
                                               const ManifestChange& change,
                                               const CommitStamp& stamp);

/// A superfile that this commit wrote and the store acknowledged.
struct WrittenSuperfile {
  SuperfileId id;
  int64_t size_bytes = 0;
};

/// The last check before a swap: kInternal unless counts add up, the version follows `base` (null:
/// is the first), and every object that `next` names is among next.objects or `written`, with the
/// length written, or is named by the base.
[[nodiscard]] arrow::Status Verify(const BaseVersion* base, const NextVersion& next,
                                   std::span<const WrittenSuperfile> written);

}  // namespace infino
