#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/manifest/manifest.h"

namespace infino {

/// A part absorbs the newest ones while the result stays under this.
inline constexpr int64_t kSmallPartBytes = int64_t{16} << 10;

/// From this size on, a part is only rewritten when superfiles in it are removed.
inline constexpr int64_t kLargePartBytes = int64_t{64} << 10;

/// Parts over this are split.
inline constexpr int64_t kPartBytesMax = int64_t{128} << 10;

/// So many full parts that are not yet large become one.
inline constexpr size_t kMergeCount = 8;

/// A part of a version that is being made. `bytes` is null if the part is one of the base's.
struct LoggedPart {
  PartRef ref;
  std::shared_ptr<const ManifestPart> part;
  std::shared_ptr<arrow::Buffer> bytes;
};

/// The parts of a version, oldest first, as a log that keeps both the bytes a commit writes and the
/// number of parts small: docs/format/manifest.md, "The parts log". Pure computing.
class PartsLog {
 public:
  /// Starts from the parts of a version; `commit` writes what changes.
  PartsLog(const ManifestRoot& root, std::span<const std::shared_ptr<const ManifestPart>> parts,
           const CommitId& commit);

  /// Takes superfiles out and rewrites the parts that held them. How many were found is returned.
  [[nodiscard]] arrow::Result<size_t> Remove(
      const std::unordered_set<SuperfileId, RandomIdHash>& ids);

  /// Gives superfiles other tombstones and rewrites the parts with their entries. The tombstones
  /// they had are returned, one for each that was found. kInvalidArgument if the new ones are of
  /// no more rows, or of more than there are.
  [[nodiscard]] arrow::Result<std::vector<std::optional<TombstonesRef>>> SetTombstones(
      const std::unordered_map<SuperfileId, TombstonesRef, RandomIdHash>& tombstones);

  /// Adds entries behind all others; `added.commit` is ignored.
  [[nodiscard]] arrow::Status Append(ManifestPart added);

  [[nodiscard]] const std::vector<LoggedPart>& parts() const { return parts_; }

 private:
  /// Encodes `part`, in pieces of at most kPartBytesMax, behind `out`.
  [[nodiscard]] arrow::Status Write(ManifestPart part, std::vector<LoggedPart>* out) const;

  /// Merges the full parts before the open one, if there are enough.
  [[nodiscard]] arrow::Status MergeFull();

  CommitId commit_;
  std::vector<LoggedPart> parts_;
};

/// Adds the entries of `from` behind those of `to`, and the summaries they use.
void AppendEntries(const ManifestPart& from, ManifestPart* to);

}  // namespace infino
