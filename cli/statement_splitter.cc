#include "cli/statement_splitter.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace infino::cli {

namespace {

bool IsBlank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// What an identifier may begin with, bytes of UTF-8 among it.
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

}  // namespace

std::vector<SqlText> StatementSplitter::Add(std::string_view piece) {
  std::vector<SqlText> statements;
  for (const char c : piece) {
    // Blanks between statements are not kept.
    if (text_.empty() && IsBlank(c)) {
      if (c == '\n') ++line_;
      continue;
    }
    text_ += c;
    if (Take(c)) {
      if (begin_) statements.push_back(Cut(text_.size() - 1));
      text_.clear();
    }
    if (c == '\n') ++line_;
  }
  return statements;
}

std::optional<SqlText> StatementSplitter::Finish() {
  std::optional<SqlText> last;
  if (begin_) last = Cut(text_.size());
  Reset();
  return last;
}

SqlText StatementSplitter::Cut(size_t end) {
  while (end > *begin_ && IsBlank(text_[end - 1])) --end;
  SqlText statement{.text = text_.substr(*begin_, end - *begin_), .line = begin_line_};
  begin_.reset();
  return statement;
}

bool StatementSplitter::Take(char c) {
  switch (state_) {
    case State::kPlain:
      return TakePlain(c);
    case State::kQuote:
      TakeQuoted(c);
      return false;
    case State::kDollarTag:
      TakeDollarTag(c);
      // What turned out to be no tag is plain, the character that showed it too.
      return state_ == State::kPlain && TakePlain(c);
    case State::kDollar:
      if (c == '$' && text_.size() - opened_ >= delimiter_.size() && text_.ends_with(delimiter_)) {
        state_ = State::kPlain;
      }
      return false;
    case State::kLineComment:
    case State::kBlockComment:
      TakeComment(c);
      return false;
  }
  return false;
}

bool StatementSplitter::TakePlain(char c) {
  const char before = std::exchange(previous_, c);
  const size_t word_size = std::exchange(word_size_, 0);
  if (c == ';') {
    previous_ = 0;
    return true;
  }
  if (before == '-' && c == '-') {
    EnterComment(State::kLineComment);
    return false;
  }
  if (before == '/' && c == '*') {
    EnterComment(State::kBlockComment);
    depth_ = 1;
    return false;
  }
  if (IsBlank(c)) return false;
  if (!begin_) {
    begin_ = text_.size() - 1;
    begin_line_ = line_;
  }
  if (c == '\'' || c == '"') {
    // Behind a quote's end, a second quote goes on with the same text: 'it''s'.
    if (before != c) escapes_ = c == '\'' && word_size == 1 && (before == 'e' || before == 'E');
    state_ = State::kQuote;
    quote_ = c;
    return false;
  }
  if (c == '$' && word_size == 0) {
    state_ = State::kDollarTag;
    delimiter_ = "$";
    return false;
  }
  if (IsLetter(c) || IsDigit(c) || c == '$') word_size_ = word_size + 1;
  return false;
}

void StatementSplitter::TakeQuoted(char c) {
  if (std::exchange(skips_, false)) return;
  if (c == '\\' && escapes_) {
    skips_ = true;
  } else if (c == quote_) {
    state_ = State::kPlain;
    previous_ = c;
  }
}

void StatementSplitter::TakeDollarTag(char c) {
  delimiter_ += c;
  if (c == '$') {
    state_ = State::kDollar;
    opened_ = text_.size();
    previous_ = 0;
  } else if (!IsLetter(c) && (!IsDigit(c) || delimiter_.size() == 2)) {
    state_ = State::kPlain;
    previous_ = 0;
    // A parameter: $name, $1.
    word_size_ = delimiter_.size() - 1;
  }
}

void StatementSplitter::EnterComment(State state) {
  state_ = state;
  previous_ = 0;
  // Its first character looked like an operator.
  if (begin_ && *begin_ == text_.size() - 2) begin_.reset();
}

void StatementSplitter::TakeComment(char c) {
  const char before = std::exchange(previous_, c);
  if (state_ == State::kLineComment) {
    if (c == '\n' || c == '\r') state_ = State::kPlain;
    return;
  }
  if (before == '*' && c == '/') {
    --depth_;
    previous_ = 0;
  } else if (before == '/' && c == '*') {
    ++depth_;
    previous_ = 0;
  }
  if (depth_ == 0) state_ = State::kPlain;
}

}  // namespace infino::cli
