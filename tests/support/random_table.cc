#include "support/random_table.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "infino/common/random.h"
#include "infino/search.h"
#include "support/builders.h"
#include "support/reference_search.h"

namespace infino {
namespace {

constexpr std::array<std::string_view, 12> kSyllables = {"ka", "lo", "mi", "ra", "tu", "se",
                                                         "na", "vi", "po", "dé", "жа", "δο"};

/// Between two words: never joins or splits tokens.
constexpr std::array<std::string_view, 8> kSeparators = {" ",  " ",   " ",  ", ",
                                                         ". ", " - ", "; ", " (x) "};

template <size_t kCount>
std::string_view Pick(Random& random, const std::array<std::string_view, kCount>& from) {
  return from[random.Below(kCount)];
}

bool Happens(Random& random, double share) {
  return random.Unit() < share;
}

/// The first letter as a capital, if it is an ASCII one.
std::string Capitalised(std::string word) {
  if (word.front() >= 'a' && word.front() <= 'z') {
    word.front() = static_cast<char>(word.front() - 'a' + 'A');
  }
  return word;
}

std::string RandomText(Random& random, const RandomTextOptions& options) {
  constexpr double kCapitals = 0.15;
  const double shape = random.Unit();
  const auto count =
      1 + static_cast<size_t>(shape * shape * static_cast<double>(options.words_max - 1));
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    std::string word = WordOf(RandomRank(random, options.vocabulary));
    text += Happens(random, kCapitals) ? Capitalised(std::move(word)) : word;
    text += Pick(random, kSeparators);
  }
  return text;
}

}  // namespace

std::string WordOf(size_t rank) {
  std::string word;
  size_t rest = rank;
  do {
    word += kSyllables[rest % kSyllables.size()];
    rest /= kSyllables.size();
  } while (rest > 0);
  return word + std::to_string(rank % 7);
}

size_t RandomRank(Random& random, size_t count) {
  // Inverse of Zipf's distribution with exponent 1, near enough.
  const double rank = std::exp(random.Unit() * std::log(static_cast<double>(count) + 1)) - 1;
  return std::min(static_cast<size_t>(rank), count - 1);
}

std::vector<NullableText> RandomTexts(Random& random, const RandomTextOptions& options) {
  static constexpr std::array<std::string_view, 4> kBlanks = {"", "   ", "... !", "_"};
  std::vector<NullableText> texts;
  texts.reserve(options.row_count);
  for (size_t i = 0; i < options.row_count; ++i) {
    if (Happens(random, options.null_share)) {
      texts.emplace_back();
    } else if (Happens(random, options.empty_share)) {
      texts.emplace_back(std::string(Pick(random, kBlanks)));
    } else {
      texts.emplace_back(RandomText(random, options));
    }
  }
  return texts;
}

ReferenceQuery RandomQuery(Random& random, size_t vocabulary, size_t clauses_max) {
  using Occur = ReferenceClause::Occur;
  constexpr double kAbsent = 0.03;
  constexpr double kRepeat = 0.1;
  constexpr double kMust = 0.12;
  constexpr double kMustNot = 0.12;
  constexpr double kAnd = 0.3;
  ReferenceQuery query;
  query.mode = Happens(random, kAnd) ? MatchMode::kAnd : MatchMode::kOr;
  const size_t count = 1 + random.Below(clauses_max);
  for (size_t i = 0; i < count; ++i) {
    ReferenceClause clause;
    if (Happens(random, kRepeat) && !query.clauses.empty()) {
      clause.word = query.clauses[random.Below(query.clauses.size())].word;
    } else if (Happens(random, kAbsent)) {
      clause.word = "absent" + std::to_string(random.Below(100));
    } else {
      // Half as in texts, half any word, so that rare ones come up.
      clause.word =
          WordOf(Happens(random, 0.5) ? RandomRank(random, vocabulary) : random.Below(vocabulary));
    }
    if (Happens(random, kMust)) clause.occur = Occur::kMust;
    if (i > 0 && Happens(random, kMustNot)) clause.occur = Occur::kMustNot;
    query.clauses.push_back(std::move(clause));
  }
  return query;
}

}  // namespace infino
