// `infino sql` on a terminal: the command behind a pseudo-terminal, and a person's keys.

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command_test.h"

namespace infino::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCtrlC = "\x03";
constexpr const char* kCtrlD = "\x04";
constexpr const char* kPrompt = "infino> ";
constexpr const char* kMore = "   ...> ";
constexpr std::chrono::seconds kPatience(60);

/// What a terminal shows of what it is sent: without the editor's commands that move the cursor.
class Screen {
 public:
  void Add(std::string_view bytes) {
    for (const char c : bytes) {
      switch (state_) {
        case State::kText:
          if (c == '\x1b') {
            state_ = State::kEscape;
          } else if (c != '\r') {
            text_ += c;
          }
          break;
        case State::kEscape:  // ESC and one character, or ESC [ parameters letter
          state_ = c == '[' ? State::kParameters : State::kText;
          break;
        case State::kParameters:
          if (c >= '@' && c <= '~') state_ = State::kText;
          break;
      }
    }
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  enum class State : uint8_t { kText, kEscape, kParameters };

  State state_ = State::kText;
  std::string text_;
};

/// A process on a terminal of its own.
class Terminal {
 public:
  Terminal(const std::vector<std::string>& command,
           const std::vector<std::pair<std::string, std::string>>& environment) {
    winsize size{.ws_row = 24, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
    child_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ != 0) return;
    // NOLINTBEGIN(concurrency-mt-unsafe): a child that has one thread
    unsetenv("INFINO_HISTORY");
    setenv("TERM", "xterm", 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    // NOLINTEND(concurrency-mt-unsafe)
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }

  ~Terminal() {
    if (child_ > 0) {
      static_cast<void>(kill(child_, SIGKILL));
      static_cast<void>(waitpid(child_, nullptr, 0));
    }
    static_cast<void>(close(terminal_));
  }

  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void Type(const std::string& keys) {
    ASSERT_EQ(write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  /// Waits until the terminal shows `text`, and returns what it showed up to its end since the call
  /// before. Fails after a while.
  std::string Until(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    size_t looked_at = taken_;
    while (true) {
      const size_t at = screen_.text().find(text, looked_at);
      if (at != std::string::npos) {
        const size_t begin = std::exchange(taken_, at + text.size());
        return screen_.text().substr(begin, taken_ - begin);
      }
      looked_at =
          std::max(taken_, screen_.text().size() - std::min(text.size(), screen_.text().size()));
      if (std::chrono::steady_clock::now() > deadline || !ReadSome()) {
        ADD_FAILURE() << "no " << text << " in: " << screen_.text().substr(taken_, 2000);
        return "";
      }
    }
  }

  /// Waits until the process has ended, and returns its exit code. Fails after a while.
  int Wait() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (ReadSome()) {
      if (std::chrono::steady_clock::now() < deadline) continue;
      ADD_FAILURE() << "it does not end: " << screen_.text().substr(taken_, 2000);
      return -1;
    }
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  /// False once the process has closed the terminal.
  bool ReadSome() {
    pollfd waited{.fd = terminal_, .events = POLLIN, .revents = 0};
    static_cast<void>(poll(&waited, 1, 1000));
    if (waited.revents == 0) return true;
    std::array<char, 4096> block{};
    const ssize_t size = read(terminal_, block.data(), block.size());
    if (size <= 0) return size < 0 && errno == EINTR;
    screen_.Add({block.data(), static_cast<size_t>(size)});
    return true;
  }

  pid_t child_ = -1;
  int terminal_ = -1;
  Screen screen_;
  size_t taken_ = 0;  ///< Of its text.
};

class SqlShell : public CommandTest {
 protected:
  [[nodiscard]] std::vector<std::string> Shell() const {
    return {INFINO_COMMAND, "sql", Path("db"), "--history", Path("history")};
  }

  void MakeNotes() {
    ASSERT_EQ(
        Run({"create", "$DB", "notes", "--column", "id:int64", "--column", "body:text"}).exit_code,
        0);
    ASSERT_EQ(Run({"append", "$DB", "notes", "-", "--input-format", "jsonl"},
                  "{\"id\":1,\"body\":\"検索\"}\n{\"id\":2,\"body\":null}\n")
                  .exit_code,
              0);
  }
};

TEST_F(SqlShell, ShowsResultsAsTables) {
  MakeNotes();
  Terminal terminal(Shell(), {});
  terminal.Until(kPrompt);
  terminal.Type("SELECT * EXCLUDE (_id) FROM notes ORDER BY id;\n");
  EXPECT_THAT(terminal.Until(" s)"),
              HasSubstr("id  body\n--  ----\n 1  検索\n 2  NULL\n(2 rows, "));
  terminal.Until(kPrompt);
  terminal.Type(kCtrlD);
  EXPECT_EQ(terminal.Wait(), 0);
}

TEST_F(SqlShell, StatementsTakeSeveralLines) {
  Terminal terminal(Shell(), {});
  terminal.Until(kPrompt);
  terminal.Type("SELECT ';' -- not yet;\n");
  terminal.Until(kMore);
  terminal.Type("  AS first\n");
  terminal.Until(kMore);
  terminal.Type("; SELECT 22 AS second; SELECT\n");
  const std::string shown = terminal.Until(kMore);
  EXPECT_THAT(shown, HasSubstr("first\n-----\n;\n(1 row"));
  EXPECT_THAT(shown, HasSubstr("second\n------\n    22\n(1 row"));
  terminal.Type("33 AS third;\n");
  EXPECT_THAT(terminal.Until(kPrompt), HasSubstr("third\n-----\n   33\n"));
}

TEST_F(SqlShell, ErrorsDoNotEndIt) {
  Terminal terminal(Shell(), {});
  terminal.Until(kPrompt);
  terminal.Type("SELECT absent; SELECT 1 AS one; .nothing;\n");
  const std::string shown = terminal.Until(kPrompt);
  EXPECT_THAT(shown, HasSubstr("error: "));
  EXPECT_THAT(shown, HasSubstr("one\n---\n  1\n"));
  terminal.Type(".nothing\n");
  EXPECT_THAT(terminal.Until(kPrompt), HasSubstr("error: there is no command '.nothing'"));
  terminal.Type(".quit\n");
  EXPECT_EQ(terminal.Wait(), 0);
}

TEST_F(SqlShell, CtrlCDropsTheLinesTyped) {
  Terminal terminal(Shell(), {});
  terminal.Until(kPrompt);
  terminal.Type("SELECT 'half\n");
  terminal.Until(kMore);
  terminal.Type("of it");
  terminal.Until("of it");
  for (int i = 0; i < 3; ++i) {
    terminal.Type(kCtrlC);
    EXPECT_THAT(terminal.Until(kPrompt), HasSubstr("^C\n"));
  }
  terminal.Type("SELECT 5 AS five;\n");
  EXPECT_THAT(terminal.Until(kPrompt), HasSubstr("five\n----\n   5\n"));
}

TEST_F(SqlShell, CtrlCStopsTheStatement) {
  Terminal terminal(Shell(), {});
  terminal.Until(kPrompt);
  for (int i = 0; i < 2; ++i) {
    // Many hours of work.
    terminal.Type(
        "SELECT sum(hash(a.range + b.range)) FROM range(1000000) a, range(10000000) b; "
        "SELECT 'not ' || 'run';\n");
    terminal.Until("'run';\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    terminal.Type(kCtrlC);
    const std::string shown = terminal.Until(kPrompt);
    EXPECT_THAT(shown, HasSubstr("\ncancelled\n"));
    EXPECT_THAT(shown, Not(HasSubstr("not run")));
  }
  terminal.Type("SELECT 5 AS five;\n");
  EXPECT_THAT(terminal.Until(kPrompt), HasSubstr("five\n----\n   5\n"));
  terminal.Type(kCtrlD);
  EXPECT_EQ(terminal.Wait(), 0);
}

TEST_F(SqlShell, CtrlCStopsALongResult) {
  Terminal terminal(Shell(), {});
  terminal.Until(kPrompt);
  terminal.Type("SELECT range AS r FROM range(3000000);\n");
  terminal.Until(" 17\n");
  terminal.Type(kCtrlC);
  EXPECT_THAT(terminal.Until(kPrompt), Not(HasSubstr("2999999")));
}

TEST_F(SqlShell, DotCommandsChangeWhatIsShown) {
  MakeNotes();
  Terminal terminal(Shell(), {});
  terminal.Until(kPrompt);
  terminal.Type(".tables\n");
  EXPECT_THAT(terminal.Until(kPrompt), HasSubstr("notes"));
  terminal.Type(".schema notes\n");
  EXPECT_THAT(terminal.Until(kPrompt), HasSubstr("body    large_string"));
  terminal.Type(".timing off\n");
  terminal.Until(kPrompt);
  terminal.Type("SELECT 1 AS n;\n");
  EXPECT_THAT(terminal.Until(kPrompt), HasSubstr("(1 row)\n"));
  terminal.Type(".mode csv\n");
  terminal.Until(kPrompt);
  terminal.Type("SELECT 1 AS n, 'a,b' AS s;\n");
  EXPECT_THAT(terminal.Until(kPrompt), HasSubstr("\nn,s\n1,\"a,b\"\n"));
  terminal.Type(".mode json\n");
  terminal.Until(kPrompt);
  terminal.Type("SELECT 1 AS n;\n");
  EXPECT_THAT(terminal.Until(kPrompt), HasSubstr("\n{\"n\":1}\n"));
  terminal.Type("help\n");
  EXPECT_THAT(terminal.Until(kPrompt), HasSubstr(".timing on|off"));
  terminal.Type("exit\n");
  EXPECT_EQ(terminal.Wait(), 0);
}

TEST_F(SqlShell, EditsLines) {
  Terminal terminal(Shell(), {});
  terminal.Until(kPrompt);
  // Left over the "t", a wide character before it, delete the "t", go to the end.
  terminal.Type("SELECT 'cat\x1b[D検\x1b[3~\x05' AS word;\n");
  EXPECT_THAT(terminal.Until(kPrompt), HasSubstr("word\n----\nca検\n"));
  // Back over a word.
  terminal.Type(
      "SELECT wrong\x17"
      "6 AS six;\n");
  EXPECT_THAT(terminal.Until(kPrompt), HasSubstr("six\n---\n  6\n"));
}

TEST_F(SqlShell, KeepsHistoryBetweenRuns) {
  {
    Terminal terminal(Shell(), {});
    terminal.Until(kPrompt);
    terminal.Type("SELECT 'first'\n");
    terminal.Until(kMore);
    terminal.Type("  AS a;\n");
    terminal.Until(kPrompt);
    terminal.Type("SELECT 2 -- two\n");
    terminal.Until(kMore);
    terminal.Type("AS b;\n");
    terminal.Until(kPrompt);
    terminal.Type("\x1b[A\x1b[A\x1b[A\n");  // up to the statement of two lines, which is one entry
    EXPECT_THAT(terminal.Until("(1 row"), HasSubstr("a\n-----\nfirst\n"));
    terminal.Until(kPrompt);
    terminal.Type(kCtrlD);
    EXPECT_EQ(terminal.Wait(), 0);
  }
  EXPECT_EQ(Content("history"),
            "SELECT 'first'   AS a;\nSELECT 2 -- two\nAS b;\nSELECT 'first'   AS a;\n");
  const auto mode = std::filesystem::status(Path("history")).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);

  Terminal terminal(Shell(), {});
  terminal.Until(kPrompt);
  terminal.Type("\x1b[A\n");
  EXPECT_THAT(terminal.Until("(1 row"), HasSubstr("a\n-----\nfirst\n"));
}

TEST_F(SqlShell, ShortensALongHistory) {
  std::string entries;
  for (int i = 0; i < 2001; ++i) entries += "SELECT " + std::to_string(i) + ";\n";
  Write("history", entries);
  Terminal terminal(Shell(), {});
  terminal.Until(kPrompt);
  terminal.Type("SELECT 'last';\n");
  terminal.Until("(1 row");
  terminal.Until(kPrompt);
  const std::string kept = Content("history");
  EXPECT_EQ(std::count(kept.begin(), kept.end(), '\n'), 1001);
  EXPECT_THAT(kept, ::testing::StartsWith("SELECT 1001;\n"));
  EXPECT_THAT(kept, ::testing::EndsWith("SELECT 2000;\nSELECT 'last';\n"));
}

TEST_F(SqlShell, FindsAPlaceForItsHistory) {
  const std::vector<std::string> shell = {INFINO_COMMAND, "sql", Path("db")};
  const auto run = [&](const std::vector<std::pair<std::string, std::string>>& environment) {
    Terminal terminal(shell, environment);
    terminal.Until(kPrompt);
    terminal.Type("SELECT 1 AS n;\n");
    terminal.Until("(1 row");
    terminal.Until(kPrompt);
    terminal.Type(kCtrlD);
    EXPECT_EQ(terminal.Wait(), 0);
  };
  run({{"XDG_STATE_HOME", Path("state")}});
  EXPECT_EQ(Content("state/infino/history"), "SELECT 1 AS n;\n");
  run({{"XDG_STATE_HOME", ""}, {"HOME", Path("home")}});
  EXPECT_EQ(Content("home/.local/state/infino/history"), "SELECT 1 AS n;\n");
  run({{"XDG_STATE_HOME", Path("unused")}, {"INFINO_HISTORY", Path("chosen")}});
  EXPECT_EQ(Content("chosen"), "SELECT 1 AS n;\n");
  EXPECT_FALSE(std::filesystem::exists(Path("unused")));
  // Where there can be none, the shell works without.
  run({{"INFINO_HISTORY", "/dev/null"}});
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  run({{"INFINO_HISTORY", Path("chosen/file")}});
}

TEST_F(SqlShell, ResultsGoToAFileAndThePromptToTheTerminal) {
  Terminal terminal(
      {"/bin/sh", "-c",
       std::string(INFINO_COMMAND) + " sql " + Path("db") + " --history /dev/null >" + Path("out")},
      {});
  terminal.Until(kPrompt);
  terminal.Type("SELECT 1 AS n;\n");
  terminal.Until(kPrompt);
  terminal.Type(kCtrlD);
  EXPECT_EQ(terminal.Wait(), 0);
  EXPECT_EQ(Content("out"), "{\"n\":1}\n");
}

TEST_F(SqlShell, CtrlCEndsAScriptThatWaits) {
  Terminal terminal({INFINO_COMMAND, "sql", Path("db"), "-"}, {});
  terminal.Type("SELECT 1 AS n;\n");
  terminal.Until("(1 row");
  terminal.Type(kCtrlC);
  EXPECT_EQ(terminal.Wait(), 130);
}

TEST_F(SqlShell, WorksOnATerminalThatCanDoNothing) {
  Terminal terminal(Shell(), {{"TERM", "dumb"}});
  terminal.Until(kPrompt);
  terminal.Type("SELECT 7 AS seven;\n");
  EXPECT_THAT(terminal.Until("(1 row"), HasSubstr("seven\n-----\n    7\n"));
  terminal.Until(kPrompt);
  terminal.Type(kCtrlD);
  EXPECT_EQ(terminal.Wait(), 0);
}

}  // namespace
}  // namespace infino::cli
