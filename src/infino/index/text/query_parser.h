#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/result.h>

#include "infino/index/text/analyzer.h"
#include "infino/index/text/text_query.h"
#include "infino/search.h"

namespace infino::text {

struct ParseOptions {
  MatchMode mode = MatchMode::kOr;

  /// Whether the column's index keeps positions, which phrases need.
  bool has_positions = false;

  /// Named in errors.
  std::string column;

  /// The most distinct terms.
  uint32_t max_terms = 65'536;

  /// The most clauses, a phrase counting once for each of its words.
  uint32_t max_clauses = 1'048'576;
};

/// Reads what a person typed.
///
///   fox dog      any of the words, all of them with mode kAnd
///   +fox         the word must be there
///   -fox         the word must not be there
///   "red fox"    the words must stand in this order, next to each other
///   fo*          any word that begins so
///
/// Blanks (Unicode's white space) separate runs. `+` and `-` count at the start of a run, `*` at
/// its end, and only with a word directly beside them; `+` and `-` then hold for every word up to
/// the run's end or its first quote, or for the phrase that follows directly. Quotes may stand
/// anywhere; an unpaired one, and one between two Hebrew letters, is part of the text. So is any
/// sign with a combining mark on it. Everything else is text, analysed exactly as documents are:
/// `C++`, `a*b`, `- x`, `--x`, `AND`, `(`.
///
/// Words that the analyzer drops are ignored, and a query of which nothing is left is empty, not an
/// error. Never fails on what a person types except with kInvalidArgument:
/// - words are excluded and none is asked for;
/// - a phrase of two or more words on a column that can't do it; the message says what to do;
/// - more than `max_terms` distinct terms or `max_clauses` clauses, found in linear time.
[[nodiscard]] arrow::Result<TextQuery> ParseQuery(std::string_view text, const Analyzer& analyzer,
                                                  const ParseOptions& options);

/// A query for all words that begin with `text`, or one without clauses if that is not one word.
[[nodiscard]] arrow::Result<TextQuery> ParsePrefix(std::string_view text, const Analyzer& analyzer);

}  // namespace infino::text
