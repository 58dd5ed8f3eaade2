#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace infino::text {

enum class ClauseKind : uint8_t {
  kTerm,    ///< One term.
  kPhrase,  ///< Two or more terms at given distances. Scores as one clause.
  kPrefix,  ///< All terms that begin with the one given.
};

enum class Occur : uint8_t {
  kShould,   ///< Adds to the score where it matches.
  kMust,     ///< Also has to match.
  kMustNot,  ///< Must not match; never scores.
};

/// One term of a clause. `term` is an ordinal in TextQuery::terms; `position` is the distance from
/// the clause's first term, so that a phrase keeps the gaps that stop words left.
struct ClauseTerm {
  uint32_t term = 0;
  uint32_t position = 0;

  friend bool operator==(const ClauseTerm&, const ClauseTerm&) = default;
};

/// One part of a query. Its terms are a stretch of TextQuery::clause_terms: exactly one for a term
/// or prefix, two or more for a phrase.
struct TextClause {
  ClauseKind kind = ClauseKind::kTerm;
  Occur occur = Occur::kShould;
  uint32_t terms_begin = 0;
  uint32_t terms_end = 0;

  friend bool operator==(const TextClause&, const TextClause&) = default;
};

/// A parsed keyword query over one column, a plain value.
///
/// A document matches when every kMust clause matches, no kMustNot clause does and, if there is no
/// kMust clause, at least one kShould clause does. Its score is the sum over all matching kShould
/// and kMust clauses in this order; a repeated word is a clause each time and counts each time.
/// Mode `and` is folded in: it makes every positive clause kMust.
///
/// A query without clauses matches nothing. Any other has at least one positive clause.
struct TextQuery {
  /// The distinct terms, in order of first use. A prefix's stem is one of them.
  std::vector<std::string> terms;

  std::vector<ClauseTerm> clause_terms;

  /// In query order.
  std::vector<TextClause> clauses;

  [[nodiscard]] bool empty() const { return clauses.empty(); }

  [[nodiscard]] std::span<const ClauseTerm> TermsOf(const TextClause& clause) const {
    return std::span(clause_terms)
        .subspan(clause.terms_begin, clause.terms_end - clause.terms_begin);
  }

  friend bool operator==(const TextQuery&, const TextQuery&) = default;
};

}  // namespace infino::text
