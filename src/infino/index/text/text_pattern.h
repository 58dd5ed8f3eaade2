#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace infino::text {

/// What texts are asked to be like, as LIKE does: pieces that occur one behind the other, with
/// anything between them.
struct TextPattern {
  std::vector<std::string> pieces{};
  bool at_start = false;  ///< Whether the first piece begins the text.
  bool at_end = false;    ///< Whether the last one ends it.

  /// Whether texts are lower-cased, character by character, before they are compared.
  bool any_case = false;

  friend bool operator==(const TextPattern&, const TextPattern&) = default;
};

/// That a text has a term with `part` in it: ASCII in lower case, with a letter or digit.
struct TermConstraint {
  std::string part{};
  bool at_start = false;  ///< Whether the term begins with it.
  bool at_end = false;    ///< Whether the term ends with it.

  /// Whether the text may have a capital I with a dot for an i. A lower-cased text has an i in its
  /// place, but its term an i and a combining dot.
  bool any_case = false;

  friend bool operator==(const TermConstraint&, const TermConstraint&) = default;
};

/// What holds for the terms of every text that fits the pattern; nothing where that can't be told.
///
/// Only runs of ASCII letters, digits and underscores say something: no rule for words ever breaks
/// them, nor does NFC change them, but for the last character, which may take in a mark that
/// follows; so that one counts only where it is known what follows. What is known to stand around a
/// run says whether a word begins or ends there. `has_stop_words`: terms that are English stop
/// words are missing. Stemmed terms don't fulfil any of this.
[[nodiscard]] std::vector<TermConstraint> ConstraintsOf(const TextPattern& pattern,
                                                        bool has_stop_words);

/// Whether a text with this term may be one that the constraint holds for: the term has the part as
/// it should, or is so long that it may be the first piece of a word that was cut within the part.
[[nodiscard]] bool Fits(const TermConstraint& constraint, std::string_view term);

/// Whether Fits has to be asked of a term that does not have the part as it stands.
[[nodiscard]] bool IsUnusual(std::string_view term);

}  // namespace infino::text
