#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "infino/common/byte_range.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// A content-addressed object of the table, by name, with what is needed to check it.
struct ObjectRef {
  std::string name;  ///< Relative to the table's folder, as in "manifest/part-<blake3>.arrow".
  ContentHash hash;
  int64_t size_bytes = 0;

  friend bool operator==(const ObjectRef&, const ObjectRef&) = default;
};

/// Deleted rows of one superfile.
struct TombstonesRef {
  ObjectRef object;
  int64_t deleted_count = 0;

  friend bool operator==(const TombstonesRef&, const TombstonesRef&) = default;
};

/// Where the term filter, or the value counts, of one column of one superfile are: in a summary
/// object of the commit that wrote the superfile; one column's filters of a commit are one range,
/// and its counts another.
struct SummaryRef {
  int32_t field_id = 0;
  int32_t summary = 0;    ///< Index into ManifestPart::summaries.
  ByteRange place;        ///< Of the bytes in the summary object.
  uint32_t checksum = 0;  ///< crc32c of those bytes.

  friend bool operator==(const SummaryRef&, const SummaryRef&) = default;
};

/// One superfile of a version: at most about 600 bytes when encoded.
struct SuperfileEntry {
  SuperfileId id;
  int64_t size_bytes = 0;
  ByteRange open_section;
  ParquetFooter footer;
  ContentHash hash;
  int64_t row_count = 0;
  RowId min_id;
  RowId max_id;
  int32_t schema_id = 0;
  CommitId commit;  ///< That added it.
  std::vector<ColumnStats> columns;
  std::vector<TextColumnSummary> texts;
  std::vector<SummaryRef> term_filters;
  std::vector<SummaryRef> value_counts;
  std::optional<TombstonesRef> tombstones;

  [[nodiscard]] int64_t live_row_count() const {
    return row_count - (tombstones ? tombstones->deleted_count : 0);
  }
};

/// Sums over superfiles: of a part, and of the whole version.
struct TextColumnTotals {
  int32_t field_id = 0;
  int64_t rows_with_token = 0;
  int64_t token_total = 0;

  friend bool operator==(const TextColumnTotals&, const TextColumnTotals&) = default;
};

struct ManifestTotals {
  int64_t superfile_count = 0;
  int64_t row_count = 0;
  int64_t deleted_count = 0;
  int64_t size_bytes = 0;
  std::vector<TextColumnTotals> texts;

  [[nodiscard]] int64_t live_row_count() const { return row_count - deleted_count; }

  friend bool operator==(const ManifestTotals&, const ManifestTotals&) = default;
};

/// A slice of a version: entries in the order they were added. Immutable once written.
struct ManifestPart {
  CommitId commit;  ///< That wrote this object; keeps names of different commits apart.
  std::vector<ObjectRef> summaries;
  std::vector<SuperfileEntry> entries;
};

/// A part as the root names it.
struct PartRef {
  ObjectRef object;
  ManifestTotals totals;

  friend bool operator==(const PartRef&, const PartRef&) = default;
};

/// A list of reference points of a vector column, as the root names it.
struct PointsRef {
  int32_t field_id = 0;
  ObjectRef object;

  friend bool operator==(const PointsRef&, const PointsRef&) = default;
};

/// One line of the history that the root carries.
struct VersionInfo {
  uint64_t version = 0;
  int64_t unix_ms = 0;
  std::string operation;  ///< "create", "append", …
  CommitId commit;
  ObjectRef root;  ///< Empty for the version that carries this list.
  int64_t rows_added = 0;
  int64_t rows_removed = 0;

  friend bool operator==(const VersionInfo&, const VersionInfo&) = default;
};

/// A version of a table: everything reachable from it is immutable.
struct ManifestRoot {
  static constexpr size_t kVersionsMax = 64;

  uint64_t version = 0;
  CommitId commit;
  int64_t unix_ms = 0;
  TableSchema schema;
  ContentHash schema_hash;  ///< Of the schema and index spec as encoded.
  ManifestTotals totals;
  std::vector<PartRef> parts;
  std::vector<PointsRef> points;    ///< By field id, then in the order they were added.
  std::optional<ObjectRef> parent;  ///< The root of the version before.
  uint64_t oldest_openable_version = 1;
  std::vector<VersionInfo> versions;  ///< Newest first, at most kVersionsMax, this one included.
  std::vector<std::string> removed;   ///< Objects the version before named and this one does not.
  std::vector<ObjectRef> term_index_runs;  ///< Reserved; empty.
};

}  // namespace infino
