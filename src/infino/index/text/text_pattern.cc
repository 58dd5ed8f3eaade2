#include "infino/index/text/text_pattern.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infino/index/text/analyzer.h"
#include "infino/index/text/ascii_word.h"
#include "infino/index/text/stop_words.h"

namespace infino::text {
namespace {

using internal::AsciiTraitsOf;
using internal::kAsciiBetween;
using internal::kAsciiDigit;
using internal::kAsciiLetter;
using internal::kAsciiWord;
using internal::kNotAscii;

/// The combining dot above, which the lower case of a capital I with a dot has behind its i.
constexpr std::string_view kDot = "\xCC\x87";

/// One piece of a pattern, and whether a text begins or ends with it.
class Piece {
 public:
  Piece(std::string_view text, bool at_start, bool at_end)
      : text_(text), at_start_(at_start), at_end_(at_end) {}

  /// Calls `visit` with the constraint of each run.
  template <typename Visit>
  void ForEachRun(const Visit& visit) const {
    for (size_t begin = 0; begin < text_.size();) {
      if ((TraitsAt(begin) & kAsciiWord) == 0) {
        ++begin;
        continue;
      }
      const size_t end = EndOfRun(begin);
      TermConstraint constraint{.part = {}, .at_start = IsStart(begin), .at_end = IsEnd(end)};
      constraint.part = text_.substr(begin, LastIsCertain(end) ? end - begin : end - begin - 1);
      visit(std::move(constraint));
      begin = end;
    }
  }

 private:
  [[nodiscard]] unsigned TraitsAt(size_t at) const {
    return AsciiTraitsOf(static_cast<uint8_t>(text_[at]));
  }

  /// Runs go on across what stands between two letters or digits and joins them.
  [[nodiscard]] size_t EndOfRun(size_t at) const {
    while (at < text_.size()) {
      const bool joins = (TraitsAt(at) & kAsciiBetween) != 0 && at + 1 < text_.size() &&
                         internal::JoinsAscii(TraitsAt(at - 1), TraitsAt(at), TraitsAt(at + 1));
      if ((TraitsAt(at) & kAsciiWord) == 0 && !joins) break;
      ++at;
    }
    return at;
  }

  /// Whether a word begins with the run at `begin`.
  [[nodiscard]] bool IsStart(size_t begin) const {
    if (begin == 0) return at_start_;
    const unsigned before = TraitsAt(begin - 1);
    if ((before & kNotAscii) != 0) return false;
    if ((before & kAsciiBetween) == 0) return true;
    // It doesn't join the run to an ASCII character before it, or the run would be a longer one.
    return begin == 1 ? at_start_ : (TraitsAt(begin - 2) & kNotAscii) == 0;
  }

  /// Whether a word ends with the run that ends at `end`.
  [[nodiscard]] bool IsEnd(size_t end) const {
    if (end == text_.size()) return at_end_;
    const unsigned after = TraitsAt(end);
    if ((after & kNotAscii) != 0) return false;
    if ((after & kAsciiBetween) == 0) return true;
    return end + 1 == text_.size() ? at_end_ : (TraitsAt(end + 1) & kNotAscii) == 0;
  }

  /// Whether no mark can follow the run's last character.
  [[nodiscard]] bool LastIsCertain(size_t end) const {
    return end == text_.size() ? at_end_ : (TraitsAt(end) & kNotAscii) == 0;
  }

  std::string_view text_;
  bool at_start_;
  bool at_end_;
};

bool HasAlphanumeric(std::string_view part) {
  return std::ranges::any_of(part, [](char byte) {
    return (AsciiTraitsOf(static_cast<uint8_t>(byte)) & (kAsciiLetter | kAsciiDigit)) != 0;
  });
}

/// Whether the term has the part as it should.
bool Has(const TermConstraint& constraint, std::string_view term) {
  if (constraint.at_start && constraint.at_end) return term == constraint.part;
  if (constraint.at_start) return term.starts_with(constraint.part);
  if (constraint.at_end) return term.ends_with(constraint.part);
  return term.find(constraint.part) != std::string_view::npos;
}

/// The term with an i for each i with a combining dot.
std::string WithoutDots(std::string_view term) {
  std::string plain;
  while (!term.empty()) {
    plain.push_back(term.front());
    term.remove_prefix(1);
    if (plain.back() == 'i' && term.starts_with(kDot)) term.remove_prefix(kDot.size());
  }
  return plain;
}

/// Whether the term ends with a beginning of the part, not with all of it.
bool EndsWithin(std::string_view part, std::string_view term) {
  for (size_t size = 1; size < part.size(); ++size) {
    if (term.ends_with(part.substr(0, size))) return true;
  }
  return false;
}

bool HasDot(std::string_view term) {
  return term.find(kDot) != std::string_view::npos;
}

}  // namespace

std::vector<TermConstraint> ConstraintsOf(const TextPattern& pattern, bool has_stop_words) {
  std::vector<TermConstraint> constraints;
  const auto keep = [&](TermConstraint constraint) {
    std::ranges::transform(constraint.part, constraint.part.begin(), internal::ToLowerAscii);
    constraint.any_case = pattern.any_case;
    const bool is_missing =
        has_stop_words && std::ranges::any_of(kEnglishStopWords, [&](std::string_view word) {
          return Has(constraint, word);
        });
    if (is_missing || !HasAlphanumeric(constraint.part) ||
        std::ranges::find(constraints, constraint) != constraints.end()) {
      return;
    }
    constraints.push_back(std::move(constraint));
  };
  for (size_t i = 0; i < pattern.pieces.size(); ++i) {
    const bool at_start = pattern.at_start && i == 0;
    const bool at_end = pattern.at_end && i + 1 == pattern.pieces.size();
    Piece(pattern.pieces[i], at_start, at_end).ForEachRun(keep);
  }
  return constraints;
}

bool IsUnusual(std::string_view term) {
  return term.size() >= Analyzer::kTokenLengthMax || HasDot(term);
}

bool Fits(const TermConstraint& constraint, std::string_view term) {
  const bool has_dot = constraint.any_case && HasDot(term);
  const std::string plain = has_dot ? WithoutDots(term) : std::string();
  const std::string_view compared = has_dot ? plain : term;
  if (Has(constraint, compared)) return true;
  return term.size() >= Analyzer::kTokenLengthMax && EndsWithin(constraint.part, compared);
}

}  // namespace infino::text
