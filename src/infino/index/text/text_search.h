#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/index/index_search.h"
#include "infino/index/shared_floor.h"
#include "infino/index/text/postings_cache.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/text_statistics.h"
#include "infino/index/top_k.h"

namespace infino::text {

enum class TextSearchMode : uint8_t {
  kRanked,    ///< The k best documents: TopDocs().
  kMatchAll,  ///< Every matching document: Matches().
  kCount,     ///< How many match: Count().
};

struct TextSearchOptions {
  TextSearchMode mode = TextSearchMode::kRanked;

  /// Ranked only; anything from 0 to 2^64 - 1.
  uint64_t k = 10;

  /// BM25's parameters; finite, k1 >= 0, 0 <= b <= 1.
  double k1 = 1.2;
  double b = 0.75;

  /// The floor that the query's searches share, or null. Outlives the search.
  SharedFloor* floor = nullptr;

  /// kMatchAll only: of the documents that match, only those of so many tokens. A query without
  /// clauses then matches all documents.
  std::optional<uint32_t> length = std::nullopt;

  /// What earlier searches found out, or null. Outlives the search.
  PostingsCache* cache = nullptr;

  /// Whether to skip what can't be among the k best. Changes the work, never the result.
  bool prune = true;
};

/// One keyword query on one text index.
///
/// Rounds, cold: at most 2. (1) dictionary blocks of the terms and prefixes; none if the dictionary
/// is inline or they lie outside its range. (2) postings of the terms that occur here, positions of
/// those in phrases, and the length array if a term with more than one block is scored; none if all
/// of that stands in the dictionary. A count of one term without a filter ends after (1), and so
/// does a search that can match nothing here. What `cache` knows is not read.
///
/// A ranked search pauses after (1): NextReads gives nothing. The executor then reads
/// document_frequencies() and expansions() of all superfiles, sums them up, and calls
/// SetStatistics, which goes on. If a prefix is a synonym it pauses once more, after (2), until all
/// superfiles' synonym_frequencies() are summed up and given to SetSynonymFrequencies. kMatchAll
/// and kCount run through. Single-threaded. Bytes that break the format are kCorrupt.
class TextSearch final : public IndexSearch {
  class Impl;

 public:
  /// `index`, `query`, `filter` (null: every document passes), the options' floor and cache outlive
  /// the search. kInvalidArgument for BM25 parameters out of range, and for a phrase on an index
  /// without positions.
  [[nodiscard]] static arrow::Result<std::unique_ptr<TextSearch>> Make(
      const TextIndexReader& index, const TextQuery& query, const DocFilter* filter,
      const TextSearchOptions& options);

  ~TextSearch() override;

  /// Works as far as it gets without further bytes. Call it before NextReads whenever something was
  /// given by a Set function; else it does nothing.
  [[nodiscard]] arrow::Status Resume();

  [[nodiscard]] std::vector<ByteRange> NextReads() override;
  [[nodiscard]] arrow::Status Feed(Buffers bytes) override;

  /// Whether the dictionary has been asked: the next four may be called, and in ranked mode
  /// SetStatistics once.
  [[nodiscard]] bool looked_up() const;

  /// In how many documents of this superfile each term of the query occurs. REQUIRES: looked_up().
  [[nodiscard]] std::span<const int64_t> document_frequencies() const;

  /// What each prefix clause stands for in this superfile, ascending. REQUIRES: looked_up().
  [[nodiscard]] std::span<const std::vector<ExpandedTerm>> expansions() const;

  /// Whether any document here may match, by the dictionary alone. If not, there may yet be
  /// synonyms whose frequencies the others need. REQUIRES: looked_up().
  [[nodiscard]] bool MayMatch() const;

  /// Gives the statistics of the table; Resume goes on. kInvalidArgument if they contradict
  /// themselves or this index. REQUIRES: ranked, looked_up(), not called before.
  [[nodiscard]] arrow::Status SetStatistics(const TextStatistics& statistics);

  /// Whether it pauses for SetSynonymFrequencies.
  [[nodiscard]] bool wants_synonym_frequencies() const;

  /// In how many documents of this superfile each prefix clause occurs that is a synonym; 0 for
  /// others. REQUIRES: wants_synonym_frequencies().
  [[nodiscard]] std::span<const int64_t> synonym_frequencies() const;

  /// Gives the sums of the whole table; Resume goes on. REQUIRES: wants_synonym_frequencies().
  [[nodiscard]] arrow::Status SetSynonymFrequencies(std::span<const int64_t> frequencies);

  /// No document here scores more than this; minus infinity if none can match, plus infinity while
  /// synonyms are open. A search whose bound is below the shared floor need not go on. REQUIRES:
  /// SetStatistics was called.
  [[nodiscard]] float UpperBound() const;

  /// Whether the search is complete, and the result of its mode may be asked for.
  [[nodiscard]] bool done() const;

  /// The best documents, best first, ties by lower DocId. REQUIRES: ranked, done().
  [[nodiscard]] std::span<const ScoredDoc> TopDocs() const;

  /// All matching documents, ascending. REQUIRES: kMatchAll, done().
  [[nodiscard]] std::span<const DocId> Matches() const;

  /// How many documents match. REQUIRES: kCount, done().
  [[nodiscard]] uint64_t Count() const;

  /// For Make, which alone can name an Impl.
  explicit TextSearch(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace infino::text
