#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "infino/common/random.h"
#include "support/builders.h"
#include "support/reference_search.h"

namespace infino {

/// What random texts look like.
struct RandomTextOptions {
  size_t row_count = 1000;
  size_t vocabulary = 300;  ///< Words; the commonest ones take most of the text, as in languages.
  size_t words_max = 60;    ///< Of a text; most are much shorter.
  double null_share = 0.02;
  double empty_share = 0.02;  ///< Also white space or punctuation only.
};

/// The word of that rank, the commonest first: one token of the standard analyzer, already in the
/// form that is indexed. Some are not ASCII.
[[nodiscard]] std::string WordOf(size_t rank);

/// A rank below `count`, small ones much more often.
[[nodiscard]] size_t RandomRank(Random& random, size_t count);

/// Texts with what real ones have: capitals, punctuation, numbers, repetitions, nulls, blanks.
[[nodiscard]] std::vector<NullableText> RandomTexts(Random& random,
                                                    const RandomTextOptions& options);

/// A query over such texts: one to `clauses_max` words, some repeated, some absent from the table,
/// some with a sign, in either mode. At least one is asked for.
[[nodiscard]] ReferenceQuery RandomQuery(Random& random, size_t vocabulary, size_t clauses_max);

}  // namespace infino
