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
#include "infino/superfile/value_counts.h"

namespace infino {

/// The bulky statistics of one superfile, for EncodeSummary.
struct SummarizedSuperfile {
  SuperfileId superfile;
  std::span<const TermFilter> filters;
  std::span<const ValueCounts> counts = {};
};

/// Where those of one superfile are; `summary` is 0 in all of them.
struct SummaryPlaces {
  std::vector<SummaryRef> term_filters;
  std::vector<SummaryRef> value_counts;
};

/// A summary object, and where in it everything is.
struct EncodedSummary {
  std::shared_ptr<arrow::Buffer> bytes;
  ObjectRef ref;

  std::vector<SummaryPlaces> places;  ///< Of each superfile given, in that order.
};

/// The summary object of one commit: an Arrow IPC stream whose rows are filters and behind them
/// counts, each ordered by column and then as given, uncompressed, so that one column's filters are
/// one range of bytes, and its counts another (docs/format/manifest.md, "Summary"). Nothing if
/// there are neither.
[[nodiscard]] arrow::Result<std::optional<EncodedSummary>> EncodeSummary(
    const CommitId& commit, std::span<const SummarizedSuperfile> superfiles);

}  // namespace infino
