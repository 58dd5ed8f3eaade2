#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/text/clause_cursor.h"
#include "infino/index/text/postings_cursor.h"
#include "infino/index/text/score_kernel.h"
#include "infino/index/text/term_postings.h"

namespace infino::text {

/// Adds up a value for each document over the postings of many terms, in the order in which the
/// terms are given. Sorts what it collected, or, where that is much, keeps an array of all
/// documents and takes 8 bytes a row. Single-threaded.
class PostingUnion {
 public:
  /// `posting_count`: about how many postings will be added.
  PostingUnion(uint32_t row_count, uint64_t posting_count);

  /// Adds what each document scores. `norms` may be null, as in ClauseCursor.
  [[nodiscard]] arrow::Status AddScores(PostingsCursor& postings, const TermScoring& scoring,
                                        const LengthNorms* norms, ScoreScratch& scratch);

  /// Adds each document's frequency.
  [[nodiscard]] arrow::Status AddFrequencies(PostingsCursor& postings);

  /// The documents, ascending, and their values. Used once, last.
  [[nodiscard]] std::pair<std::vector<DocId>, std::vector<double>> Finish();

 private:
  void Add(std::span<const DocId> docs, std::span<const double> values);

  // Dense.
  std::vector<double> sums_;
  std::vector<uint64_t> bits_;

  // Sparse.
  std::vector<std::pair<DocId, double>> pairs_;
};

}  // namespace infino::text
