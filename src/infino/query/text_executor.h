#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/table.h>

#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/row_selection.h"
#include "infino/search.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/supertable/snapshot.h"

namespace infino {

/// Runs `request` on one snapshot: prune, dictionary round over all superfiles, table-wide
/// statistics, postings with one shared floor, merge, rows of the winners. The result does not
/// depend on how the rows are spread over superfiles, nor on threads. Thread-safe; blocks in Wait.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> SearchText(
    const QueryEnvironment& environment, const Snapshot& snapshot, const std::string& folder,
    const TextSearchRequest& request);

/// All rows that match, in `_id` order, with score 0 where that is asked for. Thread-safe; blocks
/// in Wait.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> MatchTokens(
    const QueryEnvironment& environment, const Snapshot& snapshot, const std::string& folder,
    const MatchRequest& request);

/// All rows whose text is the request's, in `_id` order: those that have its words and its number
/// of tokens are read and compared, a batch at a time. Thread-safe; blocks in Wait.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> MatchExactly(
    const QueryEnvironment& environment, const Snapshot& snapshot, const std::string& folder,
    const ExactMatchRequest& request);

/// Rows that were found, in `_id` order, and the superfiles that they name by place.
struct MatchedRows {
  std::vector<Hit> hits;
  std::vector<std::shared_ptr<const SuperfileReader>> files;
};

/// The rows that MatchExactly would give, or nothing if more than `candidates_max` rows have the
/// words of the text. The request's projection is not looked at. Blocks in Wait.
[[nodiscard]] arrow::Result<std::optional<MatchedRows>> FindExactlyIfFew(
    const QueryContext& context, const ExactMatchRequest& request, uint64_t candidates_max);

/// How many rows MatchTokens would give; from the dictionaries alone where they know. Thread-safe;
/// blocks in Wait.
[[nodiscard]] arrow::Result<uint64_t> CountMatches(const QueryEnvironment& environment,
                                                   const Snapshot& snapshot,
                                                   const std::string& folder,
                                                   const CountRequest& request);

/// The rows that pass a filter. Thread-safe; blocks in Wait.
[[nodiscard]] arrow::Result<RowSelection> SelectRows(const QueryContext& context,
                                                     const TextFilter& filter);

}  // namespace infino
