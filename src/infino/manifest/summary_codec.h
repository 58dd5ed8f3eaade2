#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/common/ids.h"
#include "infino/manifest/manifest.h"
#include "infino/superfile/superfile_summary.h"

namespace infino {

/// The term filters of one superfile, for EncodeSummary.
struct SuperfileFilters {
  SuperfileId superfile;
  std::span<const TermFilter> filters;
};

/// A summary object, and where in it each filter is.
struct EncodedSummary {
  std::shared_ptr<arrow::Buffer> bytes;
  ObjectRef ref;

  /// One list for each superfile given, in that order; `summary` is 0 in all of them.
  std::vector<std::vector<TermFilterRef>> places;
};

/// The summary object of one commit: an Arrow IPC stream whose rows are filters, ordered by column
/// and then as given, uncompressed, so that one column's filters are one range of bytes
/// (docs/format/manifest.md, "Summary"). Nothing if there are no filters at all.
[[nodiscard]] arrow::Result<std::optional<EncodedSummary>> EncodeSummary(
    const CommitId& commit, std::span<const SuperfileFilters> superfiles);

}  // namespace infino
