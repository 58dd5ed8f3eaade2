#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace infino::cli {

/// What a person did with a line.
enum class LineEnd : uint8_t {
  kEntered,
  kInterrupted,  ///< Ctrl-C; the text is to be forgotten.
  kClosed,       ///< Ctrl-D, or the terminal went away.
};

/// Reads lines that a person types at the terminal on standard input, with editing, and with a
/// history that a file keeps between runs. One at a time, on one thread.
class LineEditor {
 public:
  LineEditor();
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;
  LineEditor(LineEditor&&) = delete;
  LineEditor& operator=(LineEditor&&) = delete;

  /// Takes the history from a file of one entry a line, made if absent, and adds to it from then
  /// on. Where that can't be done, as in a folder that can't be written or with what is no plain
  /// file, there is no history from before, and none is kept.
  void KeepHistory(const std::string& path);

  /// Shows `prompt` and waits for a line, which comes without its end.
  [[nodiscard]] LineEnd Read(const std::string& prompt, std::string& line);

  /// Adds an entry to the history.
  void Remember(const std::string& entry);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infino::cli
