#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace infino::cli {

/// One SQL statement of a text, without blanks and comments before it and the semicolon behind it.
struct SqlText {
  std::string text;
  uint64_t line = 1;  ///< Where it begins in the whole text, from 1.
};

/// Cuts SQL text, which comes in pieces of any size, into statements: at each semicolon outside
/// quotes ('', E'', "", $tag$) and comments (-- and nested /* */). It knows no grammar: what is
/// between two semicolons may be no SQL at all. One thread.
class StatementSplitter {
 public:
  /// Takes the next piece, and returns the statements that end in it.
  [[nodiscard]] std::vector<SqlText> Add(std::string_view piece);

  /// The statement at the end of the text, which needs no semicolon. Nothing where only blanks and
  /// comments are left. A new text begins.
  [[nodiscard]] std::optional<SqlText> Finish();

  /// Forgets the statement begun. A new text begins.
  void Reset() { *this = {}; }

  /// Whether a statement has begun and not ended.
  [[nodiscard]] bool has_statement() const { return begin_.has_value(); }

  /// Whether the text so far ends within quotes or a comment.
  [[nodiscard]] bool is_enclosed() const { return state_ != State::kPlain; }

  /// What is held until the end of the statement is seen.
  [[nodiscard]] size_t size_bytes() const { return text_.size(); }

 private:
  enum class State : uint8_t {
    kPlain,
    kQuote,      ///< '…', E'…' and "…"
    kDollarTag,  ///< $tag of $tag$…$tag$
    kDollar,     ///< $tag$…
    kLineComment,
    kBlockComment,
  };

  /// Takes a character that is in text_ already; true if it ended a statement.
  bool Take(char c);
  bool TakePlain(char c);
  void TakeQuoted(char c);
  void TakeDollarTag(char c);
  void TakeComment(char c);

  void EnterComment(State state);
  [[nodiscard]] SqlText Cut(size_t end);

  std::string text_;             ///< Since the end of the statement before.
  std::optional<size_t> begin_;  ///< Of the statement, in text_.
  uint64_t begin_line_ = 1;
  uint64_t line_ = 1;

  State state_ = State::kPlain;
  char previous_ = 0;      ///< The character before, if it may be the first of two that count.
  char quote_ = 0;         ///< What ends kQuote.
  bool escapes_ = false;   ///< In kQuote, a backslash quotes the next character.
  bool skips_ = false;     ///< The character before was such a backslash.
  size_t word_size_ = 0;   ///< Of the identifier or number that plain text ends with.
  size_t opened_ = 0;      ///< Where the inside of a dollar quote begins, in text_.
  std::string delimiter_;  ///< The $tag$ seen so far.
  uint32_t depth_ = 0;     ///< Of block comments.
};

}  // namespace infino::cli
