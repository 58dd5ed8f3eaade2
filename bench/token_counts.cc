// The terms that the analyzer makes of texts on standard input, each of which a NUL ends: one line
// a term, after the number of texts that have it.
//
//   token_counts [stopwords] [stemmer] < texts

#include <cstddef>
#include <cstdio>
#include <iostream>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "infino/index/text/analyzer.h"
#include "infino/index_spec.h"

int main(int count, char** values) {
  namespace text = infino::text;
  infino::TextIndexOptions options;
  for (const std::string_view argument : std::span(values, static_cast<size_t>(count)).subspan(1)) {
    (argument == "stemmer" ? options.stemmer : options.stopwords) = "english";
  }
  const auto analyzer = text::Analyzer::Make(options).ValueOrDie();
  std::map<std::string, size_t> texts_with;
  std::set<std::string> terms;
  for (std::string utf8; std::getline(std::cin, utf8, '\0');) {
    terms.clear();
    const auto keep = [&terms](text::Token token) { terms.emplace(token.text); };
    if (!analyzer->Analyze(utf8, keep).ok()) return 1;
    for (const std::string& term : terms) ++texts_with[term];
  }
  for (const auto& [term, texts] : texts_with) std::printf("%zu %s\n", texts, term.c_str());
  return 0;
}
