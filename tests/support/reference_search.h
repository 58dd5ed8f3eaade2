#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "infino/index_spec.h"
#include "infino/search.h"
#include "support/builders.h"

namespace infino {

/// One word of a query.
struct ReferenceClause {
  enum class Occur : uint8_t { kShould, kMust, kMustNot };

  std::string word;  ///< A token of the analyzer, in the form that is indexed.
  Occur occur = Occur::kShould;
};

struct ReferenceQuery {
  std::vector<ReferenceClause> clauses;
  MatchMode mode = MatchMode::kOr;

  /// The query as a person types it.
  [[nodiscard]] std::string Text() const;
};

struct ReferenceHit {
  int64_t row = 0;
  float score = 0.0F;

  friend bool operator==(const ReferenceHit&, const ReferenceHit&) = default;
};

/// Keyword search as the textbook has it: every text's tokens in a map, every score summed over the
/// clauses. Slow, and right. What the engine finds must be exactly this, at every k, whatever the
/// layout.
class ReferenceSearch {
 public:
  /// The rows are numbered from 0. `options` tell the analyzer.
  ReferenceSearch(std::span<const NullableText> texts, const TextIndexOptions& options);

  /// All rows that match, best first, equal scores by row.
  [[nodiscard]] std::vector<ReferenceHit> Search(const ReferenceQuery& query, double k1 = 1.2,
                                                 double b = 0.75) const;

  /// All rows that match, ascending.
  [[nodiscard]] std::vector<int64_t> Match(const ReferenceQuery& query) const;

 private:
  struct Document {
    std::map<std::string, int64_t> frequencies;
    int64_t length = 0;

    [[nodiscard]] int64_t FrequencyOf(const std::string& word) const {
      const auto found = frequencies.find(word);
      return found == frequencies.end() ? 0 : found->second;
    }
  };

  [[nodiscard]] static bool Matches(const Document& document, const ReferenceQuery& query);
  [[nodiscard]] double WeightOf(const std::string& word) const;

  std::vector<Document> documents_;
  std::map<std::string, int64_t> document_frequencies_;
  int64_t rows_with_token_ = 0;
  int64_t token_total_ = 0;
};

}  // namespace infino
