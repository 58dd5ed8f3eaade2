#include "support/reference_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "infino/index/text/analyzer.h"
#include "infino/index_spec.h"
#include "infino/search.h"
#include "support/builders.h"

namespace infino {

std::string ReferenceQuery::Text() const {
  std::string text;
  for (const ReferenceClause& clause : clauses) {
    if (!text.empty()) text += ' ';
    if (clause.occur == ReferenceClause::Occur::kMust) text += '+';
    if (clause.occur == ReferenceClause::Occur::kMustNot) text += '-';
    text += clause.word;
  }
  return text;
}

ReferenceSearch::ReferenceSearch(std::span<const NullableText> texts,
                                 const TextIndexOptions& options) {
  const std::unique_ptr<text::Analyzer> analyzer = text::Analyzer::Make(options).ValueOrDie();
  for (const NullableText& text : texts) {
    Document& document = documents_.emplace_back();
    if (!text) continue;
    MustSucceed(analyzer->Analyze(*text, [&](text::Token token) {
      ++document.frequencies[std::string(token.text)];
      ++document.length;
    }));
    for (const auto& [word, frequency] : document.frequencies) ++document_frequencies_[word];
    rows_with_token_ += document.length > 0 ? 1 : 0;
    token_total_ += document.length;
  }
}

double ReferenceSearch::WeightOf(const std::string& word) const {
  const auto found = document_frequencies_.find(word);
  const double df = found == document_frequencies_.end() ? 0 : static_cast<double>(found->second);
  const auto n = static_cast<double>(rows_with_token_);
  return std::log(1 + (n - df + 0.5) / (df + 0.5));
}

bool ReferenceSearch::Matches(const Document& document, const ReferenceQuery& query) {
  using Occur = ReferenceClause::Occur;
  bool any_required = false;
  bool any_found = false;
  for (const ReferenceClause& clause : query.clauses) {
    const bool found = document.FrequencyOf(clause.word) > 0;
    if (clause.occur == Occur::kMustNot) {
      if (found) return false;
      continue;
    }
    const bool required = clause.occur == Occur::kMust || query.mode == MatchMode::kAnd;
    if (required && !found) return false;
    any_required = any_required || required;
    any_found = any_found || found;
  }
  return any_required || any_found;
}

std::vector<ReferenceHit> ReferenceSearch::Search(const ReferenceQuery& query, double k1,
                                                  double b) const {
  std::vector<double> weights;
  for (const ReferenceClause& clause : query.clauses) weights.push_back(WeightOf(clause.word));
  const double average = static_cast<double>(token_total_) / static_cast<double>(rows_with_token_);
  std::vector<ReferenceHit> hits;
  for (size_t row = 0; row < documents_.size(); ++row) {
    const Document& document = documents_[row];
    if (!Matches(document, query)) continue;
    double score = 0;
    for (size_t i = 0; i < query.clauses.size(); ++i) {
      if (query.clauses[i].occur == ReferenceClause::Occur::kMustNot) continue;
      const auto tf = static_cast<double>(document.FrequencyOf(query.clauses[i].word));
      if (tf == 0) continue;
      const auto length = static_cast<double>(document.length);
      score += weights[i] * tf / (tf + k1 * (1 - b + b * length / average));
    }
    hits.push_back({.row = static_cast<int64_t>(row), .score = static_cast<float>(score)});
  }
  std::ranges::sort(hits, [](const ReferenceHit& left, const ReferenceHit& right) {
    return left.score != right.score ? left.score > right.score : left.row < right.row;
  });
  return hits;
}

std::vector<int64_t> ReferenceSearch::Match(const ReferenceQuery& query) const {
  std::vector<int64_t> rows;
  for (size_t row = 0; row < documents_.size(); ++row) {
    if (Matches(documents_[row], query)) rows.push_back(static_cast<int64_t>(row));
  }
  return rows;
}

}  // namespace infino
