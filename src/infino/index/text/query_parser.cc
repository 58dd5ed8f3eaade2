#include "infino/index/text/query_parser.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/error.h"
#include "infino/index/text/analyzer.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/word_break.h"
#include "infino/search.h"

namespace infino::text {
namespace {

bool IsBlank(char32_t value) {
  return WordBreaker::Get().TraitsOf(value).word_break() == WordBreak::kBlank;
}

bool IsMark(WordBreak word_break) {
  return word_break == WordBreak::kExtend || word_break == WordBreak::kZwj;
}

WordBreak ClassAt(std::string_view text, size_t offset) {
  return WordBreaker::Get().TraitsOf(DecodeChar(text, offset).value).word_break();
}

// The class of the character before `offset`, not counting marks.
WordBreak ClassBefore(std::string_view text, size_t offset) {
  while (offset > 0) {
    size_t begin = offset - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
    const WordBreak word_break = ClassAt(text, begin);
    if (!IsMark(word_break)) return word_break;
    offset = begin;
  }
  return WordBreak::kBlank;
}

// Whether the quotation mark at `quote` is text: between two Hebrew letters it is a gershayim, a
// letter of an abbreviation, and with a combining mark on it it is a character of its own.
bool IsText(std::string_view text, size_t quote) {
  const WordBreak after = ClassAt(text, quote + 1);
  return IsMark(after) || (after == WordBreak::kHebrewLetter &&
                           ClassBefore(text, quote) == WordBreak::kHebrewLetter);
}

// The next quotation mark at or after `offset` that is not text, or npos.
size_t FindQuote(std::string_view text, size_t offset) {
  size_t quote = text.find('"', offset);
  while (quote != std::string_view::npos && IsText(text, quote)) quote = text.find('"', quote + 1);
  return quote;
}

// The places of two quotation marks that belong together, or npos twice.
struct Quotes {
  size_t open = std::string_view::npos;
  size_t close = std::string_view::npos;
};

Quotes FindQuotes(std::string_view text, size_t offset) {
  const size_t open = FindQuote(text, offset);
  if (open == std::string_view::npos) return {};
  const size_t close = FindQuote(text, open + 1);
  if (close == std::string_view::npos) return {};
  return {.open = open, .close = close};
}

class Parser {
 public:
  Parser(std::string_view text, const Analyzer& analyzer, const ParseOptions& options)
      : text_(text), analyzer_(analyzer), options_(options), quotes_(FindQuotes(text, 0)) {}

  arrow::Result<TextQuery> Parse() {
    while (offset_ < text_.size()) {
      const DecodedChar decoded = DecodeChar(text_, offset_);
      if (IsBlank(decoded.value)) {
        offset_ += decoded.size;
      } else {
        ARROW_RETURN_NOT_OK(TakeRun());
      }
    }
    if (query_.clauses.empty() || has_positive_) return std::move(query_);
    return MakeError(ErrorKind::kInvalidArgument,
                     "Cannot search column '" + options_.column +
                         "' with only negated terms; at least one positive term is required");
  }

 private:
  arrow::Status TakeRun();
  arrow::Status TakePhrase(Occur occur);
  arrow::Status TakePiece(Occur occur);
  arrow::Status AddTerms(std::string_view text, Occur occur);
  arrow::Status AddPrefix(std::string_view word, Occur occur);
  arrow::Status AddPhrase(std::string_view text, Occur occur);
  arrow::Status AnalyzeInto(std::string_view text);
  void AddTerm(Token token);
  void AddClause(ClauseKind kind, Occur occur, size_t terms_begin, size_t terms_end);
  [[nodiscard]] arrow::Status NoPhrases() const;
  [[nodiscard]] size_t EndOfPiece(size_t begin) const;
  [[nodiscard]] Occur SignAt(size_t begin) const;

  std::string_view text_;
  const Analyzer& analyzer_;     // NOLINT(cppcoreguidelines-avoid-const-or-ref-data-members): local
  const ParseOptions& options_;  // NOLINT(cppcoreguidelines-avoid-const-or-ref-data-members): local
  size_t offset_ = 0;
  Quotes quotes_;  // the next ones not yet passed
  TextQuery query_;
  std::unordered_map<std::string, uint32_t> ordinals_;
  bool too_many_ = false;
  bool has_positive_ = false;
};

// The end of the text at `begin` that has no blank and no quotation mark.
size_t Parser::EndOfPiece(size_t begin) const {
  size_t end = begin;
  while (end < text_.size() && end != quotes_.open) {
    const DecodedChar decoded = DecodeChar(text_, end);
    if (IsBlank(decoded.value)) break;
    end += decoded.size;
  }
  return end;
}

// What the character at `begin`, the first of a run, says about the piece or phrase after it.
// kShould: it isn't a sign.
Occur Parser::SignAt(size_t begin) const {
  const char sign = text_[begin];
  if (sign != '+' && sign != '-') return Occur::kShould;
  const size_t next = begin + 1;
  if (IsMark(ClassAt(text_, next))) return Occur::kShould;
  if (next != quotes_.open &&
      !analyzer_.StartsWithWord(text_.substr(next, EndOfPiece(next) - next))) {
    return Occur::kShould;
  }
  return sign == '+' ? Occur::kMust : Occur::kMustNot;
}

// Takes the run at the offset: pieces of text and phrases up to a blank.
arrow::Status Parser::TakeRun() {
  Occur occur = SignAt(offset_);
  if (occur != Occur::kShould) ++offset_;
  while (offset_ < text_.size() && !IsBlank(DecodeChar(text_, offset_).value)) {
    ARROW_RETURN_NOT_OK(offset_ == quotes_.open ? TakePhrase(occur) : TakePiece(occur));
    occur = Occur::kShould;
  }
  return arrow::Status::OK();
}

arrow::Status Parser::TakePhrase(Occur occur) {
  const std::string_view text = text_.substr(offset_ + 1, quotes_.close - offset_ - 1);
  offset_ = quotes_.close + 1;
  quotes_ = FindQuotes(text_, offset_);
  return AddPhrase(text, occur);
}

arrow::Status Parser::TakePiece(Occur occur) {
  const size_t end = EndOfPiece(offset_);
  const std::string_view piece = text_.substr(offset_, end - offset_);
  offset_ = end;
  const bool ends_run = end != quotes_.open;
  if (!ends_run || !piece.ends_with('*')) return AddTerms(piece, occur);
  const std::string_view stem = piece.substr(0, piece.size() - 1);
  const std::optional<size_t> word = analyzer_.LastWord(stem);
  if (!word) return AddTerms(piece, occur);
  ARROW_RETURN_NOT_OK(AddTerms(stem.substr(0, *word), occur));
  return AddPrefix(stem.substr(*word), occur);
}

arrow::Status Parser::AddTerms(std::string_view text, Occur occur) {
  const size_t begin = query_.clause_terms.size();
  ARROW_RETURN_NOT_OK(AnalyzeInto(text));
  for (size_t i = begin; i < query_.clause_terms.size(); ++i) {
    AddClause(ClauseKind::kTerm, occur, i, i + 1);
  }
  return arrow::Status::OK();
}

// A word so long that the analyzer cuts it is its first parts and the prefix of the last one.
arrow::Status Parser::AddPrefix(std::string_view word, Occur occur) {
  const size_t begin = query_.clauses.size();
  ARROW_RETURN_NOT_OK(AddTerms(word, occur));
  if (query_.clauses.size() > begin) {
    query_.clauses.back().kind = ClauseKind::kPrefix;
  }
  return arrow::Status::OK();
}

arrow::Status Parser::AddPhrase(std::string_view text, Occur occur) {
  const size_t begin = query_.clause_terms.size();
  ARROW_RETURN_NOT_OK(AnalyzeInto(text));
  const size_t end = query_.clause_terms.size();
  if (end == begin) return arrow::Status::OK();
  if (end - begin == 1) {
    AddClause(ClauseKind::kTerm, occur, begin, end);
    return arrow::Status::OK();
  }
  if (!options_.has_positions) return NoPhrases();
  const uint32_t first = query_.clause_terms[begin].position;
  for (size_t i = begin; i < end; ++i) query_.clause_terms[i].position -= first;
  AddClause(ClauseKind::kPhrase, occur, begin, end);
  return arrow::Status::OK();
}

arrow::Status Parser::NoPhrases() const {
  return MakeError(ErrorKind::kInvalidArgument,
                   "Phrase queries need an index with positions; column '" + options_.column +
                       "' has none. Create its index with positions=True, or leave out the "
                       "quotation marks");
}

// Appends the terms of `text` to the query's, with their positions in `text`.
arrow::Status Parser::AnalyzeInto(std::string_view text) {
  ARROW_RETURN_NOT_OK(analyzer_.Analyze(text, [this](Token token) { AddTerm(token); }));
  if (!too_many_) return arrow::Status::OK();
  return MakeError(ErrorKind::kInvalidArgument,
                   "Too long a query of column '" + options_.column + "'; it may have " +
                       std::to_string(options_.max_terms) + " distinct terms and " +
                       std::to_string(options_.max_clauses) + " in all");
}

void Parser::AddTerm(Token token) {
  if (too_many_ || query_.clause_terms.size() >= options_.max_clauses) {
    too_many_ = true;
    return;
  }
  const auto next = static_cast<uint32_t>(query_.terms.size());
  const auto [entry, is_new] = ordinals_.try_emplace(std::string(token.text), next);
  if (is_new) {
    if (next >= options_.max_terms) {
      too_many_ = true;
      return;
    }
    query_.terms.emplace_back(token.text);
  }
  query_.clause_terms.push_back({.term = entry->second, .position = token.position});
}

void Parser::AddClause(ClauseKind kind, Occur occur, size_t terms_begin, size_t terms_end) {
  if (occur == Occur::kShould && options_.mode == MatchMode::kAnd) occur = Occur::kMust;
  has_positive_ = has_positive_ || occur != Occur::kMustNot;
  if (kind != ClauseKind::kPhrase) query_.clause_terms[terms_begin].position = 0;
  query_.clauses.push_back({.kind = kind,
                            .occur = occur,
                            .terms_begin = static_cast<uint32_t>(terms_begin),
                            .terms_end = static_cast<uint32_t>(terms_end)});
}

}  // namespace

arrow::Result<TextQuery> ParseQuery(std::string_view text, const Analyzer& analyzer,
                                    const ParseOptions& options) {
  return Parser(text, analyzer, options).Parse();
}

arrow::Result<TextQuery> ParsePrefix(std::string_view text, const Analyzer& analyzer) {
  TextQuery query;
  ARROW_RETURN_NOT_OK(
      analyzer.Analyze(text, [&query](Token token) { query.terms.emplace_back(token.text); }));
  if (query.terms.size() != 1) return TextQuery();
  query.clause_terms = {{.term = 0}};
  query.clauses = {{.kind = ClauseKind::kPrefix, .terms_begin = 0, .terms_end = 1}};
  return query;
}

}  // namespace infino::text
