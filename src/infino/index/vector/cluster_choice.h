#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {

/// How much a search is to find, and at what cost.
struct RecallOptions {
  /// The share of the nearest rows that is to be found, on average over queries that are
  /// distributed like the rows. Above 0, at most 1; 1: every row is compared.
  double target_recall = 0.99;

  /// If set, rows near just so many reference points are looked at, whatever the recall.
  std::optional<uint32_t> nprobe = std::nullopt;

  uint64_t k = 10;

  /// Up to so many passing rows, over all files, are all scanned. Unset: as many as take a fraction
  /// of a millisecond, or, where less recall will do, as it takes to choose clusters.
  std::optional<int64_t> scan_all_rows_max = std::nullopt;
};

/// One file of a search.
struct SearchedIndex {
  const VectorIndexReader* index = nullptr;
  int64_t passing_rows = 0;  ///< Rows that the filter lets pass; all without one.
};

/// How many standard deviations of error the estimates of such a search are given, PreparedQuery's
/// confidence: of one that looks at all clusters, or one that chooses some.
[[nodiscard]] double ConfidenceFor(double target_recall, bool scans_all);

/// Whether such a search compares every row: VectorSearchOptions::exact.
[[nodiscard]] bool IsExact(const RecallOptions& options);

/// kInvalidArgument for a recall out of range and an nprobe of 0.
[[nodiscard]] arrow::Status CheckRecallOptions(const RecallOptions& options);

/// Whether such a search of those files looks at all of their clusters, whatever the query.
[[nodiscard]] bool ScansAll(std::span<const SearchedIndex> files, const RecallOptions& options);

/// Chooses which clusters of each file are scanned for `queries` together: VectorSearchOptions::
/// clusters, nothing for all. Clusters of all files are ranked together, by the distance of their
/// reference points; the largest fraction that any file's recall curve asks for counts. Files too
/// small to have a curve follow the others, unless they have most of the rows.
///
/// With a filter that keeps less than half of the rows all are scanned: it may keep those of far
/// clusters alone. A search that finds fewer than k rows although more pass was unlucky, and is to
/// be repeated with all.
///
/// kInvalidArgument as CheckRecallOptions, and for a space that lacks a list.
[[nodiscard]] arrow::Result<std::vector<std::optional<std::vector<uint32_t>>>> ChooseClusters(
    const VectorSpace& space, std::span<const PreparedQuery> queries,
    std::span<const SearchedIndex> files, const RecallOptions& options);

}  // namespace infino::vector
