#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "infino/index/text/text_pattern.h"
#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

/// A pattern that the texts of a column with a keyword index have to fit.
struct ColumnPattern {
  int32_t field_id = 0;
  text::TextPattern pattern;
};

/// Rows among which all are that fit some patterns, most of which do.
struct PatternCandidates {
  RowSelection rows;
  int64_t row_count = 0;  ///< Of rows.

  /// The superfiles asked, opened, as the entries.
  std::vector<std::shared_ptr<const SuperfileReader>> files;
};

/// The rows of `entries`, superfiles of the context's snapshot, that are not deleted and may fit
/// all of `patterns`, by the keyword indexes. Whoever wants those that do fit compares their texts.
/// Nothing where the indexes do not narrow them down in any superfile. In a superfile that is older
/// than a column, and so has nulls only, there are none. Thread-safe; blocks in Wait.
[[nodiscard]] arrow::Result<std::optional<PatternCandidates>> CandidatesOf(
    const QueryContext& context, std::span<const ColumnPattern> patterns,
    std::span<const SuperfileEntry* const> entries);

}  // namespace infino
