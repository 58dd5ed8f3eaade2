#include "cli/line_editor.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cwchar>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <histedit.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/interrupt.h"

namespace infino::cli {

namespace {

constexpr int kEntriesMax = 1000;

struct EndHistory {
  void operator()(History* history) const { history_end(history); }
};

struct EndEditor {
  void operator()(EditLine* editor) const { el_end(editor); }
};

struct CloseFile {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};

using File = std::unique_ptr<std::FILE, CloseFile>;

/// A plain file for adding to, readable by its owner alone; null where there can't be one.
File OpenForAppend(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return nullptr;
  struct stat status{};
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    return File(fdopen(descriptor, "a"));
  }
  static_cast<void>(close(descriptor));
  return nullptr;
}

/// Keeps only `entries` in the file, if it is much longer.
void Shorten(const std::string& path, const std::deque<std::string>& entries) {
  const std::string shorter = path + "." + std::to_string(getpid());
  const File file = OpenForAppend(shorter);
  if (file == nullptr) return;
  for (const std::string& entry : entries) {
    static_cast<void>(std::fprintf(file.get(), "%s\n", entry.c_str()));
  }
  std::error_code failed;
  const bool is_whole = std::fflush(file.get()) == 0 && std::ferror(file.get()) == 0;
  if (is_whole) std::filesystem::rename(shorter, path, failed);
  if (!is_whole || failed) std::filesystem::remove(shorter, failed);
}

}  // namespace

struct LineEditor::State {
  std::unique_ptr<History, EndHistory> history;
  std::unique_ptr<EditLine, EndEditor> editor;
  std::string prompt;
  std::string last_entry;
  File kept;  ///< Null: history is not kept.

  void Enter(const std::string& entry) {
    HistEvent event{};
    static_cast<void>(::history(history.get(), &event, H_ENTER, entry.c_str()));
    last_entry = entry;
  }

  static State& Of(EditLine* editor) {
    void* state = nullptr;
    static_cast<void>(el_get(editor, EL_CLIENTDATA, &state));
    return *static_cast<State*>(state);
  }

  static char* Prompt(EditLine* editor) { return Of(editor).prompt.data(); }

  /// Reads one character, and not more, so that what is typed ahead is there for the next line.
  /// 1, 0 at the end of the input, -1 after Ctrl-C.
  static int ReadCharacter(EditLine* /*editor*/, wchar_t* character) {
    std::mbstate_t shift{};
    while (true) {
      if (!WaitForInput()) return -1;
      char byte = 0;
      if (read(STDIN_FILENO, &byte, 1) != 1) return 0;
      const size_t size = std::mbrtowc(character, &byte, 1, &shift);
      if (size == static_cast<size_t>(-2)) continue;
      if (size == static_cast<size_t>(-1)) *character = L'\uFFFD';
      return 1;
    }
  }

  void Bind(const char* key, const char* function) const {
    static_cast<void>(el_set(editor.get(), EL_BIND, key, function, nullptr));
  }
};

LineEditor::LineEditor() : state_(std::make_unique<State>()) {
  HistEvent event{};
  state_->history.reset(history_init());
  static_cast<void>(::history(state_->history.get(), &event, H_SETSIZE, kEntriesMax));

  // Results may go to a file while the prompt stays on the terminal.
  std::FILE* out = isatty(STDOUT_FILENO) != 0 ? stdout : stderr;
  state_->editor.reset(el_init("infino", stdin, out, stderr));
  EditLine* editor = state_->editor.get();
  static_cast<void>(el_set(editor, EL_CLIENTDATA, state_.get()));
  static_cast<void>(el_set(editor, EL_PROMPT, &State::Prompt));
  static_cast<void>(el_set(editor, EL_EDITOR, "emacs"));
  static_cast<void>(el_set(editor, EL_SIGNAL, 0));
  static_cast<void>(el_set(editor, EL_GETCFN, &State::ReadCharacter));
  static_cast<void>(el_set(editor, EL_HIST, ::history, state_->history.get()));
  state_->Bind("^R", "em-inc-search-prev");
  state_->Bind("^W", "ed-delete-prev-word");
  state_->Bind("^I", "ed-insert");  // Pasted text has tabs.
  state_->Bind("\\e[3~", "ed-delete-next-char");
  state_->Bind("\\e[1;5C", "em-next-word");
  state_->Bind("\\e[1;5D", "ed-prev-word");
  static_cast<void>(el_source(editor, nullptr));  // What the user prefers: ~/.editrc.
}

LineEditor::~LineEditor() = default;

void LineEditor::KeepHistory(const std::string& path) {
  state_->kept = OpenForAppend(path);
  if (state_->kept == nullptr) return;
  std::deque<std::string> entries;
  size_t entry_count = 0;
  std::ifstream file(path);
  for (std::string entry; std::getline(file, entry); ++entry_count) {
    entries.push_back(entry);
    if (entries.size() > kEntriesMax) entries.pop_front();
  }
  for (const std::string& entry : entries) state_->Enter(entry);
  if (entry_count > 2 * entries.size()) {
    Shorten(path, entries);
    state_->kept = OpenForAppend(path);
  }
}

LineEnd LineEditor::Read(const std::string& prompt, std::string& line) {
  line.clear();
  state_->prompt = prompt;
  ForgetInterrupt();
  el_resize(state_->editor.get());
  // Before the prompt is there, so that Ctrl-D right behind it means what it means later.
  static_cast<void>(el_set(state_->editor.get(), EL_PREP_TERM, 1));
  int size = 0;
  const char* text = el_gets(state_->editor.get(), &size);
  if (Interrupted()) {
    ForgetInterrupt();
    static_cast<void>(std::fputs("^C\n", isatty(STDOUT_FILENO) != 0 ? stdout : stderr));
    return LineEnd::kInterrupted;
  }
  if (text == nullptr || size <= 0) return LineEnd::kClosed;
  line.assign(text, static_cast<size_t>(size));
  if (line.ends_with('\n')) line.pop_back();
  return LineEnd::kEntered;
}

void LineEditor::Remember(const std::string& entry) {
  const bool is_blank = std::all_of(entry.begin(), entry.end(), [](char c) { return c == ' '; });
  if (is_blank || entry == state_->last_entry) return;
  state_->Enter(entry);
  if (state_->kept == nullptr) return;
  static_cast<void>(std::fprintf(state_->kept.get(), "%s\n", entry.c_str()));
  static_cast<void>(std::fflush(state_->kept.get()));
}

}  // namespace infino::cli
