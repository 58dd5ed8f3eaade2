#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/clause_cursor.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/posting_union.h"
#include "infino/index/text/postings_cache.h"
#include "infino/index/text/query_terms.h"
#include "infino/index/text/score_kernel.h"
#include "infino/index/text/scored_list.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/text_statistics.h"

namespace infino::text {

/// The clauses of one query on one index: which terms each needs, and what it matches. A term's
/// postings are walked as they are; what a phrase or a prefix matches is worked out beforehand.
/// Single-threaded.
class QueryClauses {
 public:
  /// All outlive it; `cache` may be null.
  QueryClauses(const TextIndexReader& index, const TextQuery& query, PostingsCache* cache);

  // The lookup: one round.

  [[nodiscard]] arrow::Status PlanLookup(std::vector<ByteRange>& reads);
  [[nodiscard]] arrow::Status TakeBlocks(const Buffers& bytes);

  // Afterwards.

  [[nodiscard]] int64_t document_frequency(uint32_t term) const {
    return terms_.document_frequency(term);
  }

  /// By prefix clause.
  [[nodiscard]] const std::vector<std::vector<ExpandedTerm>>& expansions() const {
    return expansions_;
  }

  /// Whether any document matches the clause, as far as the dictionary knows.
  [[nodiscard]] bool MayMatch(const TextClause& clause) const;

  /// How the clauses are scored: the weight of each term of the query, and of each expanded one.
  /// False if the statistics contradict themselves or this index.
  [[nodiscard]] bool SetScoring(const Bm25& bm25, const TextStatistics& statistics);

  /// Whether it is a prefix of too many terms, some of which occur here. REQUIRES: SetScoring was
  /// called.
  [[nodiscard]] bool IsSynonym(const TextClause& clause) const {
    return clause.kind == ClauseKind::kPrefix && PrefixOf(clause).synonym && MayMatch(clause);
  }

  [[nodiscard]] bool has_synonyms() const {
    return std::ranges::any_of(
        prefixes_, [](const Prefix& prefix) { return prefix.synonym && prefix.term_count > 0; });
  }

  /// What a clause can score at most. REQUIRES: SetScoring was called; MayMatch(clause).
  [[nodiscard]] double BoundOf(const TextClause& clause) const;

  /// Says that only the k best documents by the query's only clause are wanted. What a phrase
  /// matches then need not be complete. REQUIRES: SetScoring was called, and every document passes.
  void WantBest(uint64_t k) { best_wanted_ = k; }

  // The postings: one round.

  /// `wanted` has one entry a clause. The lengths of documents are read if scoring needs them, or
  /// if `lengths` says so.
  [[nodiscard]] arrow::Status PlanPostings(const std::vector<bool>& wanted, bool lengths,
                                           std::vector<ByteRange>& reads);

  /// Null if they were not read.
  [[nodiscard]] const DocLengths* lengths() const { return terms_.lengths(); }

  /// Also works out what phrases and prefixes match.
  [[nodiscard]] arrow::Status TakePostings(Buffers bytes);

  /// In how many documents each prefix clause occurs that is a synonym; 0 for the others.
  [[nodiscard]] const std::vector<int64_t>& synonym_frequencies() const {
    return synonym_frequencies_;
  }

  /// Scores the synonyms, given what synonym_frequencies() comes to in the whole table.
  void ScoreSynonyms(std::span<const int64_t> frequencies);

  /// A cursor over what the clause matches, or nothing if that is no document. REQUIRES: the clause
  /// was wanted.
  [[nodiscard]] std::optional<ClauseCursor> Open(const TextClause& clause);

  /// The postings of a clause that is a term of at most one block, else null.
  [[nodiscard]] const TermPostings* SmallPostings(const TextClause& clause) const;

  /// Adds what the documents of a clause that is a term score. REQUIRES: MayMatch(clause).
  [[nodiscard]] arrow::Status AddTo(PostingUnion& scores, const TextClause& clause);

  /// What the clause adds to the score of `doc`, found anew; 0 if it does not match.
  [[nodiscard]] arrow::Result<double> ScoreOf(const TextClause& clause, DocId doc);

 private:
  [[nodiscard]] double WeightOf(const TextClause& clause) const {
    return weights_[FirstTerm(clause)];
  }

  struct Prefix {
    uint32_t clause = 0;
    uint32_t first_term = 0;  // of its terms in terms_, which follow each other
    uint32_t term_count = 0;
    bool synonym = false;
    std::vector<double> weights;  // by term; empty unless ranked
    std::vector<ByteRange> blocks;
  };

  [[nodiscard]] uint32_t FirstTerm(const TextClause& clause) const {
    return query_->clause_terms[clause.terms_begin].term;
  }

  [[nodiscard]] uint32_t OrdinalOf(const TextClause& clause) const {
    return static_cast<uint32_t>(&clause - query_->clauses.data());
  }

  [[nodiscard]] const Prefix& PrefixOf(const TextClause& clause) const;
  [[nodiscard]] double PhraseWeight(const TextClause& clause) const;
  [[nodiscard]] arrow::Status Expand(Prefix& prefix, ByteSpan block,
                                     std::vector<ExpandedTerm>& expansion);
  [[nodiscard]] arrow::Status MatchPhrase(const TextClause& clause);
  [[nodiscard]] arrow::Status MatchPrefix(const Prefix& prefix);
  [[nodiscard]] const LengthNorms* norms();
  [[nodiscard]] std::vector<double> Score(const std::vector<DocId>& docs,
                                          std::span<const double> frequencies, double weight);

  const TextIndexReader* index_;
  const TextQuery* query_;
  QueryTerms terms_;
  std::deque<std::string> expanded_;  // the names of terms that prefixes added
  std::vector<Prefix> prefixes_;
  std::vector<std::vector<ExpandedTerm>> expansions_;
  size_t lookup_count_ = 0;  // of the reads of the lookup: those before the prefixes'

  bool ranked_ = false;
  Bm25 bm25_;
  int64_t row_total_ = 0;
  std::vector<double> weights_;  // by term of the query
  std::optional<LengthNorms> norms_;
  ScoreScratch scratch_;

  std::optional<uint64_t> best_wanted_;
  std::vector<bool> wanted_;
  std::vector<std::shared_ptr<const ScoredList>> lists_;  // by clause
  std::vector<int64_t> synonym_frequencies_;
  std::vector<std::vector<DocId>> synonym_docs_;  // by prefix, until they are scored
  std::vector<std::vector<double>> synonym_counts_;
};

}  // namespace infino::text
