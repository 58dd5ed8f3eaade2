#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace infino::text {

/// More terms than this a prefix does not expand to: then it is scored as one synonym.
inline constexpr size_t kExpandedTermsMax = 4096;

/// A term that a prefix stands for, and in how many documents it occurs.
struct ExpandedTerm {
  std::string term{};
  int64_t document_frequency = 0;

  friend bool operator==(const ExpandedTerm&, const ExpandedTerm&) = default;
};

/// What a prefix stands for in the whole table.
struct PrefixStatistics {
  /// Ascending by term; each is scored by its own frequency. Empty for a synonym.
  std::vector<ExpandedTerm> terms{};

  /// Whether there are more than kExpandedTermsMax: then all of them count as one term, which
  /// occurs in a document as often as they do together.
  bool synonym = false;
};

/// What BM25 knows of the whole table: summed over all superfiles, deleted rows included.
struct TextStatistics {
  int64_t rows_with_token = 0;
  int64_t token_total = 0;

  /// One per term of TextQuery::terms, in that order. Those of prefixes don't matter.
  std::vector<int64_t> document_frequencies{};

  /// One per prefix clause, in query order.
  std::vector<PrefixStatistics> prefixes{};
};

}  // namespace infino::text
