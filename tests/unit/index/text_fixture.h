#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/index/doc_filter.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/text_search.h"
#include "infino/index/top_k.h"
#include "infino/index_spec.h"

namespace infino::text {

/// Ends the process with the message of a failure.
void Check(const arrow::Status& status);

/// Rows of lower-case ASCII words with single blanks between them; nothing is a null.
using Corpus = std::vector<std::optional<std::string>>;

struct CorpusShape {
  uint32_t rows = 1000;
  uint32_t vocabulary = 300;
  uint32_t length_min = 0;
  uint32_t length_max = 40;
  double null_share = 0.02;
  double skew = 1.0;  ///< 0: all words equally likely; 1: as in natural text.
};

[[nodiscard]] std::string WordOfRank(uint32_t rank);

/// Draws ranks below `count`, low ones more often.
[[nodiscard]] uint32_t DrawRank(Random& random, uint32_t count, double skew);
[[nodiscard]] Corpus RandomCorpus(Random& random, const CorpusShape& shape);
[[nodiscard]] std::vector<std::string> WordsOf(std::string_view text);

struct BuiltIndex {
  FinishedTextIndex finished;
  std::shared_ptr<arrow::Buffer> blob;
  std::shared_ptr<const TextIndexReader> reader;
  std::vector<std::string> visited;  ///< Terms that Finish named.
};

[[nodiscard]] BuiltIndex Build(const Corpus& corpus, const TextIndexOptions& options = {});

/// A query as `word +word -word pre* a_phrase`, without an analyzer. In mode and, clauses are
/// kMust.
[[nodiscard]] TextQuery QueryOf(std::string_view text, bool all = false);

/// One to `clauses_max` clauses, some signed, some repeated, some of absent words.
[[nodiscard]] TextQuery RandomQuery(Random& random, uint32_t vocabulary, uint32_t clauses_max);

/// The same with phrases, some of them words that stand together in the corpus, and prefixes.
[[nodiscard]] TextQuery RandomRichQuery(Random& random, const Corpus& corpus, uint32_t vocabulary,
                                        uint32_t clauses_max);

/// How a search went.
struct Rounds {
  int rounds = 0;
  int64_t ranges = 0;
  int64_t bytes = 0;
};

/// Feeds `search` from `blob` until it wants no more.
arrow::Status Drive(TextSearch& search, const arrow::Buffer& blob, Rounds* rounds = nullptr);

/// The statistics of the indexes together, whose searches have looked up.
[[nodiscard]] TextStatistics Sum(std::span<const BuiltIndex> indexes,
                                 std::span<const std::unique_ptr<TextSearch>> searches);

/// A ranked search over one index with its own statistics.
[[nodiscard]] arrow::Result<std::vector<ScoredDoc>> Rank(const BuiltIndex& index,
                                                         const TextQuery& query,
                                                         const TextSearchOptions& options,
                                                         const DocFilter* filter = nullptr,
                                                         Rounds* rounds = nullptr);
[[nodiscard]] arrow::Result<std::vector<DocId>> MatchAll(const BuiltIndex& index,
                                                         const TextQuery& query,
                                                         const DocFilter* filter = nullptr);
[[nodiscard]] arrow::Result<uint64_t> CountAll(const BuiltIndex& index, const TextQuery& query,
                                               const DocFilter* filter = nullptr,
                                               Rounds* rounds = nullptr);

/// A corpus dealt out to several superfiles, in order.
struct Split {
  std::vector<BuiltIndex> indexes;
  std::vector<DocId> first_docs;
};

[[nodiscard]] Split SplitUp(Random& random, const Corpus& corpus, size_t count,
                            const TextIndexOptions& options);

/// Searches all superfiles as an executor does, in any order, and merges what they found.
[[nodiscard]] std::vector<ScoredDoc> RankSplit(const Split& split, const TextQuery& query,
                                               TextSearchOptions options, Random& random);

/// Keyword search as in the textbook.
class Oracle {
 public:
  explicit Oracle(const Corpus& corpus);

  /// Each document's terms by place; an empty one is the place of a word that the analyzer removed.
  explicit Oracle(std::vector<std::vector<std::string>> words);

  [[nodiscard]] std::vector<ScoredDoc> Rank(const TextQuery& query, double k1, double b, uint64_t k,
                                            const DocFilter* filter = nullptr) const;
  [[nodiscard]] std::vector<DocId> Match(const TextQuery& query,
                                         const DocFilter* filter = nullptr) const;

  [[nodiscard]] const std::map<std::string, std::map<DocId, uint32_t>>& postings() const {
    return postings_;
  }

  [[nodiscard]] uint32_t LengthOf(DocId doc) const { return lengths_[doc]; }

  [[nodiscard]] int64_t rows_with_token() const { return rows_with_token_; }

  [[nodiscard]] int64_t token_total() const { return token_total_; }

 private:
  [[nodiscard]] uint32_t FrequencyOf(const std::string& term, DocId doc) const;
  [[nodiscard]] uint32_t PhraseFrequency(const TextQuery& query, const TextClause& clause,
                                         DocId doc) const;
  [[nodiscard]] bool ClauseMatches(const TextQuery& query, const TextClause& clause,
                                   DocId doc) const;
  [[nodiscard]] double ClauseScore(const TextQuery& query, const TextClause& clause, DocId doc,
                                   double k1, double b) const;
  [[nodiscard]] double Weight(double document_frequency) const;

  /// What a prefix stands for.
  struct Expansion {
    size_t term_count = 0;
    size_t document_count = 0;
  };

  [[nodiscard]] const Expansion& ExpansionOf(const std::string& stem) const;
  [[nodiscard]] bool Matches(const TextQuery& query, DocId doc) const;

  std::map<std::string, std::map<DocId, uint32_t>> postings_;
  std::vector<std::vector<std::string>> words_;
  mutable std::map<std::string, Expansion> expansions_;
  std::vector<uint32_t> lengths_;
  int64_t rows_with_token_ = 0;
  int64_t token_total_ = 0;
};

}  // namespace infino::text
