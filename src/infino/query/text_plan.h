#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "infino/index/text/text_query.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/query/term_filter_cache.h"
#include "infino/search.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"

namespace infino {

/// BM25's two parameters.
struct Bm25Parameters {
  double k1 = 1.2;
  double b = 0.75;
};

/// A keyword query made ready: against which column, with which terms, in which superfiles.
struct TextPlan {
  int32_t field_id = 0;
  text::TextQuery query;

  /// The superfiles that may have something to say, in the order of the snapshot.
  std::vector<const SuperfileEntry*> entries;
};

/// What a query asks, before it is planned.
struct TextQuestion {
  const std::string& column;
  const std::string& text;
  MatchMode mode = MatchMode::kOr;

  /// Whether rows are scored: then superfiles that can't match but hold a term take part, for their
  /// document frequencies.
  bool ranked = false;

  /// Whether the text is the beginning of a word, and nothing else.
  bool is_prefix = false;
};

/// The column of that name. kInvalidArgument, listing the columns that could be meant, if it has no
/// keyword index.
[[nodiscard]] arrow::Result<const TableColumn*> FindTextColumn(const TableSchema& schema,
                                                               const std::string& name);

/// The parameters of a search: the request's, else the column's, else the defaults.
/// kInvalidArgument unless both or neither are given, k1 is finite and above 0, and b in [0, 1].
[[nodiscard]] arrow::Result<Bm25Parameters> ResolveBm25(const TextIndexOptions& column,
                                                        std::optional<double> k1,
                                                        std::optional<double> b);

/// Parses the question and prunes the snapshot's superfiles by what the manifest knows of their
/// terms, and by term filters (`filters` may be null) once more than a handful are left. The plan
/// points into the snapshot. Blocks in Wait.
[[nodiscard]] arrow::Result<TextPlan> PlanText(const TextQuestion& question,
                                               const Snapshot& snapshot, const std::string& folder,
                                               TermFilterCache* filters, const StopCondition& stop);

/// What a text that is looked for as a whole asks of the index: some of its words, all of which
/// must occur, and how many tokens it has.
struct ExactPlan {
  TextPlan text;
  uint32_t token_count = 0;
};

/// As PlanText, for the rows whose text is `value`. Fails as the analyzer does.
[[nodiscard]] arrow::Result<ExactPlan> PlanExact(const TableColumn& column,
                                                 const std::string& value, const Snapshot& snapshot,
                                                 const std::string& folder,
                                                 TermFilterCache* filters,
                                                 const StopCondition& stop);

}  // namespace infino
