#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "infino/common/json.h"
#include "support/temporary_folder.h"

namespace infino::cli {

/// What a run of the command left.
struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string errors;

  /// One column of the JSON lines printed.
  [[nodiscard]] std::vector<nlohmann::json> Column(const std::string& name) const {
    std::vector<nlohmann::json> values;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
      values.push_back(nlohmann::json::parse(line).at(name));
    }
    return values;
  }
};

/// Runs the command as a process, over a folder of its own.
class CommandTest : public ::testing::Test {
 protected:
  /// Runs the command, with the tables' folder in place of $DB.
  Outcome Run(const std::vector<std::string>& arguments, const std::string& input = "") {
    Write("in", input);
    std::string line = INFINO_COMMAND;
    for (const std::string& argument : arguments) {
      line += " " + Quoted(argument == "$DB" ? Path("db") : argument);
    }
    line += " <" + Path("in") + " >" + Path("out") + " 2>" + Path("err");
    const int status = std::system(line.c_str());  // NOLINT(concurrency-mt-unsafe)
    return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .out = Content("out"),
            .errors = Content("err")};
  }

  [[nodiscard]] std::string Path(const std::string& name) const {
    return folder_.path() + "/" + name;
  }

  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(Path(name)) << content;
  }

  [[nodiscard]] std::string Content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name)).rdbuf();
    return text.str();
  }

 private:
  /// As one word of the shell.
  static std::string Quoted(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
  }

  TemporaryFolder folder_;
};

}  // namespace infino::cli
