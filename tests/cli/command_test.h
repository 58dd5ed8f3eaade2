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

inline std::string ContentOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

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

/// Runs the command as a process.
class CommandTest : public ::testing::Test {
 protected:
  /// Runs the command, with a folder of its own in place of $DB.
  Outcome Run(const std::vector<std::string>& arguments, const std::string& input = "") {
    Write("in", input);
    std::string line = INFINO_COMMAND;
    for (const std::string& argument : arguments) {
      line += " '" + (argument == "$DB" ? Path("db") : argument) + "'";
    }
    line += " <" + Path("in") + " >" + Path("out") + " 2>" + Path("err");
    const int status = std::system(line.c_str());  // NOLINT(concurrency-mt-unsafe)
    return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .out = ContentOf(Path("out")),
            .errors = ContentOf(Path("err"))};
  }

  [[nodiscard]] std::string Path(const std::string& name) const {
    return folder_.path() + "/" + name;
  }

  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(Path(name)) << content;
  }

  TemporaryFolder folder_;
};

}  // namespace infino::cli
