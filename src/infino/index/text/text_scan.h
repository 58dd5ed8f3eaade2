#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/index/shared_floor.h"
#include "infino/index/text/clause_cursor.h"
#include "infino/index/text/match_scan.h"
#include "infino/index/text/query_clauses.h"
#include "infino/index/text/ranked_scan.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_query.h"
#include "infino/index/top_k.h"

namespace infino::text {

/// The last step of a search: finds the documents of one superfile once the postings of a query are
/// there. Single-threaded; one call, once.
class TextScan {
 public:
  struct Ranking {
    uint64_t k = 10;
    bool prune = true;
    SharedFloor* floor = nullptr;  ///< May be null.
  };

  /// All outlive the scan; `filter` may be null. `clauses` have their postings.
  TextScan(const TextIndexReader& index, const TextQuery& query, QueryClauses& clauses,
           const DocFilter* filter)
      : index_(&index), query_(&query), clauses_(&clauses), filter_(filter) {}

  /// Offers `top` every document that may be one of the k best, ascending, with its exact score.
  [[nodiscard]] arrow::Status Rank(const Ranking& ranking, TopK& top);

  // `wanted` says by clause whether it was wanted of `clauses`.

  /// Appends all documents that match, ascending.
  [[nodiscard]] arrow::Status Match(const std::vector<bool>& wanted, std::vector<DocId>& matches);

  /// The same, of those that have so many tokens; without clauses that is all that counts.
  [[nodiscard]] arrow::Status MatchOfLength(const std::vector<bool>& wanted, uint32_t length,
                                            std::vector<DocId>& matches);

  [[nodiscard]] arrow::Result<uint64_t> Count(const std::vector<bool>& wanted);

 private:
  /// By term, and whether it counts for or against a document.
  [[nodiscard]] uint64_t TermKey(const TextClause& clause) const {
    return uint64_t{query_->clause_terms[clause.terms_begin].term} * 2 +
           (clause.occur == Occur::kMustNot ? 1 : 0);
  }

  [[nodiscard]] uint32_t row_count() const {
    return static_cast<uint32_t>(index_->summary().row_count);
  }

  [[nodiscard]] arrow::Status FoldSmall(std::vector<bool>& folded);
  [[nodiscard]] arrow::Result<std::vector<RankClause>> RankClauses();
  [[nodiscard]] arrow::Result<float> ExactScore(DocId doc);
  [[nodiscard]] std::vector<MatchClause> MatchClauses(const std::vector<bool>& wanted);

  const TextIndexReader* index_;
  const TextQuery* query_;
  QueryClauses* clauses_;
  const DocFilter* filter_;
  std::vector<ClauseCursor> cursors_;  // reserved before, so that they stay where they are
};

}  // namespace infino::text
