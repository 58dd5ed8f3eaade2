#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "infino/common/bytes.h"
#include "infino/error.h"
#include "infino/index/text/analyzer.h"
#include "infino/index/text/query_parser.h"
#include "infino/index/text/text_query.h"
#include "infino/index_spec.h"
#include "infino/search.h"

// The first byte chooses the options, the rest is the query. A query is refused with
// kInvalidArgument or has exactly the terms that the analyzer finds in it, in order.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace text = infino::text;
  if (size == 0) return 0;
  static const auto kAnalyzer = text::Analyzer::Make({}).ValueOrDie();
  text::ParseOptions options;
  options.mode = (data[0] & 1) != 0 ? infino::MatchMode::kAnd : infino::MatchMode::kOr;
  options.has_positions = (data[0] & 2) != 0;
  if ((data[0] & 16) != 0) options.max_terms = 3;
  const std::string_view utf8 = infino::AsText({data + 1, size - 1});
  const auto query = text::ParseQuery(utf8, *kAnalyzer, options);
  if (!query.ok()) {
    if (!infino::IsError(query.status(), infino::ErrorKind::kInvalidArgument)) std::abort();
    return 0;
  }
  std::vector<std::string> terms;
  for (const text::TextClause& clause : query->clauses) {
    const auto clause_terms = query->TermsOf(clause);
    if (clause_terms.empty() || clause_terms.front().position != 0) std::abort();
    if ((clause.kind == text::ClauseKind::kPhrase) != (clause_terms.size() > 1)) std::abort();
    for (const text::ClauseTerm& term : clause_terms) terms.push_back(query->terms.at(term.term));
  }
  std::vector<std::string> expected;
  const auto keep = [&expected](text::Token token) { expected.emplace_back(token.text); };
  if (!kAnalyzer->Analyze(utf8, keep).ok() || terms != expected) std::abort();
  return 0;
}
