#include "cli/sql_shell.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/status.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/line_editor.h"
#include "cli/output.h"
#include "cli/sql_session.h"
#include "cli/statement_splitter.h"
#include "infino/error.h"

namespace infino::cli {

namespace {

/// What is read before a statement's end is given up.
constexpr size_t kStatementBytesMax = 16 << 20;

/// The lines of a statement that is being typed, as an entry of the history.
class TypedStatement {
 public:
  /// `is_enclosed`: the line ends within quotes or a comment.
  void Add(const std::string& line, bool is_enclosed) {
    lines_.push_back(line);
    // A line end that is no blank can't be made one.
    joins_ = joins_ && !is_enclosed && line.find("--") == std::string::npos;
  }

  /// Remembers what was added: as one entry, unless that would mean something else.
  void Remember(LineEditor& editor) {
    if (joins_) {
      std::string entry;
      for (const std::string& line : lines_) entry += (entry.empty() ? "" : " ") + line;
      editor.Remember(entry);
    } else {
      for (const std::string& line : lines_) editor.Remember(line);
    }
    *this = {};
  }

 private:
  std::vector<std::string> lines_;
  bool joins_ = true;
};

void Report(const arrow::Status& status) {
  static_cast<void>(std::fflush(stdout));
  if (IsError(status, ErrorKind::kCancelled)) {
    Say("\ncancelled");  // The terminal has shown ^C.
  } else if (!status.ok()) {
    Say("error: " + status.message());
  }
}

/// Runs statements until one is interrupted; others may fail.
void RunAll(SqlSession& session, const std::vector<SqlText>& statements) {
  ForgetInterrupt();
  for (const SqlText& statement : statements) {
    Report(session.Run(statement.text));
    if (Interrupted()) return;
  }
}

arrow::Status AtLine(const arrow::Status& status, uint64_t line) {
  if (status.ok()) return status;
  return status.WithMessage("line ", line, ": ", status.message());
}

/// Runs the lines of a script.
class Script {
 public:
  explicit Script(SqlSession& session) : session_(session) {}

  /// `line` has its end.
  arrow::Status Add(std::string_view line) {
    ++line_;
    if (!splitter_.has_statement() && !splitter_.is_enclosed() && SqlSession::IsDotCommand(line)) {
      // For the count of lines alone.
      static_cast<void>(splitter_.Add("\n"));
      return AtLine(session_.RunDotCommand(line.substr(0, line.find_last_not_of("\r\n") + 1)),
                    line_);
    }
    for (const SqlText& statement : splitter_.Add(line)) {
      ARROW_RETURN_NOT_OK(AtLine(session_.Run(statement.text), statement.line));
    }
    return CheckSize(splitter_.size_bytes());
  }

  arrow::Status Finish() {
    const std::optional<SqlText> last = splitter_.Finish();
    return last ? AtLine(session_.Run(last->text), last->line) : arrow::Status::OK();
  }

  [[nodiscard]] arrow::Status CheckSize(size_t size_bytes) const {
    if (size_bytes <= kStatementBytesMax) return arrow::Status::OK();
    return MakeError(ErrorKind::kInvalidArgument,
                     "line " + std::to_string(line_) +
                         ": the statement has no end within 16 MiB; is a quote open?");
  }

 private:
  SqlSession& session_;
  StatementSplitter splitter_;
  uint64_t line_ = 0;
};

}  // namespace

void RunShell(SqlSession& session, const std::string& history) {
  NoticeInterrupts(InterruptMode::kStop);
  LineEditor editor;
  if (!history.empty()) editor.KeepHistory(history);
  StatementSplitter splitter;
  TypedStatement typed;
  std::string line;
  while (!session.ended()) {
    const bool has_begun = splitter.has_statement() || splitter.is_enclosed();
    const LineEnd end = editor.Read(has_begun ? "   ...> " : "infino> ", line);
    if (end == LineEnd::kClosed) {
      Say("");
      return;
    }
    if (end == LineEnd::kInterrupted) {
      splitter.Reset();
      typed = {};
    } else if (!has_begun && SqlSession::IsDotCommand(line)) {
      editor.Remember(line);
      Report(session.RunDotCommand(line));
    } else {
      const std::vector<SqlText> statements = splitter.Add(line + "\n");
      typed.Add(line, splitter.is_enclosed());
      if (!splitter.has_statement() && !splitter.is_enclosed()) typed.Remember(editor);
      RunAll(session, statements);
    }
  }
}

arrow::Status RunStandardInput(SqlSession& session) {
  Script script(session);
  std::string text;
  std::array<char, 1 << 16> block{};
  while (true) {
    if (!WaitForInput()) return CheckInterrupt();
    const ssize_t size = read(STDIN_FILENO, block.data(), block.size());
    if (size < 0) return arrow::Status::IOError("reading standard input failed");
    if (size == 0) break;
    text.append(block.data(), static_cast<size_t>(size));
    size_t begin = 0;
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
      ARROW_RETURN_NOT_OK(script.Add(std::string_view(text).substr(begin, end + 1 - begin)));
      if (session.ended()) return arrow::Status::OK();
      begin = end + 1;
    }
    text.erase(0, begin);
    ARROW_RETURN_NOT_OK(script.CheckSize(text.size()));
  }
  if (!text.empty()) ARROW_RETURN_NOT_OK(script.Add(text));
  return session.ended() ? arrow::Status::OK() : script.Finish();
}

arrow::Status RunText(SqlSession& session, const std::string& text) {
  StatementSplitter splitter;
  std::vector<SqlText> statements = splitter.Add(text);
  if (const std::optional<SqlText> last = splitter.Finish()) statements.push_back(*last);
  if (statements.empty()) {
    return MakeError(ErrorKind::kInvalidArgument, "sql: there is no statement in the text given");
  }
  for (const SqlText& statement : statements) {
    const arrow::Status status = session.Run(statement.text);
    ARROW_RETURN_NOT_OK(statements.size() == 1 ? status : AtLine(status, statement.line));
  }
  return arrow::Status::OK();
}

}  // namespace infino::cli
