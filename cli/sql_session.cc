#include "cli/sql_session.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "cli/cell.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table_views.h"
#include "infino/common/clock.h"
#include "infino/connection.h"
#include "infino/error.h"

namespace infino::cli {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

constexpr std::string_view kHelp =
    "A statement ends with a semicolon and may take several lines.\n"
    "\n"
    ".tables                list the tables\n"
    ".schema TABLE          show the columns of a table\n"
    ".mode table|csv|json   how results are printed\n"
    ".timing on|off         say how long statements take\n"
    ".help                  this\n"
    ".quit                  end; so does Ctrl-D\n"
    "\n"
    "Ctrl-C stops the running statement, or drops what has been typed.\n";

/// The words of a dot command; a semicolon at its end is a habit, and no part of it.
std::vector<std::string> WordsOf(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(" \t\r\n;") + 1);
  std::vector<std::string> words;
  while (true) {
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    words.emplace_back(line.substr(0, line.find_first_of(kBlanks)));
    line.remove_prefix(words.back().size());
  }
}

bool IsBareWord(const std::vector<std::string>& words) {
  return words.size() == 1 &&
         (words.front() == "help" || words.front() == "quit" || words.front() == "exit");
}

arrow::Status Usage(const std::string& usage) {
  return MakeError(ErrorKind::kInvalidArgument, "usage: " + usage);
}

/// EXPLAIN gives a drawing of many lines, which a cell would not show.
arrow::Status PrintPlans(const arrow::Table& table) {
  return ForEachRow(table, [](const arrow::RecordBatch& batch, int64_t row) -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const std::string plan, TextOf(*batch.column(1), row));
    return Write(plan + (plan.ends_with('\n') ? "" : "\n"));
  });
}

bool IsExplained(const arrow::Table& table) {
  return table.num_columns() == 2 && table.field(0)->name() == "explain_key" &&
         table.field(1)->name() == "explain_value";
}

}  // namespace

SqlSession::SqlSession(std::shared_ptr<Connection> connection, OutputFormat format, bool timing)
    : connection_(std::move(connection)),
      format_(Resolved(format)),
      timing_(timing),
      clock_(SystemClock()) {}

arrow::Status SqlSession::Run(const std::string& sql) {
  const std::chrono::nanoseconds start = clock_->Monotonic();
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        connection_->QuerySql({.sql = sql, .stop = StopOnInterrupt()}));
  const std::chrono::duration<double> taken = clock_->Monotonic() - start;
  ARROW_RETURN_NOT_OK(Print(*table));
  const bool is_table = format_ == OutputFormat::kTable;
  if (is_table || timing_) {
    const int64_t rows = table->num_rows();
    std::string summary = std::to_string(rows) + (rows == 1 ? " row" : " rows");
    if (timing_) {
      std::array<char, 32> seconds{};
      static_cast<void>(std::snprintf(seconds.data(), seconds.size(), ", %.3f s", taken.count()));
      summary += seconds.data();
    }
    // Below a table it is read by people; elsewhere it must not be among the rows.
    if (is_table) {
      ARROW_RETURN_NOT_OK(Write("(" + summary + ")\n"));
    } else {
      Say(summary);
    }
  }
  // A reader at the other end of a pipe has the result before the next statement runs.
  static_cast<void>(std::fflush(stdout));
  return arrow::Status::OK();
}

arrow::Status SqlSession::Print(const arrow::Table& table) const {
  if (format_ == OutputFormat::kTable && IsExplained(table)) return PrintPlans(table);
  return PrintTable(table, format_);
}

bool SqlSession::IsDotCommand(std::string_view line) {
  const size_t begin = line.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return false;
  return line[begin] == '.' || IsBareWord(WordsOf(line));
}

arrow::Status SqlSession::RunDotCommand(std::string_view line) {
  std::vector<std::string> words = WordsOf(line);
  std::string name = words.front();
  if (!name.starts_with('.')) name.insert(name.begin(), '.');
  if (name == ".schema" && words.size() == 2) {
    ARROW_ASSIGN_OR_RAISE(const auto columns, DescribeColumns(*connection_, words[1]));
    return PrintTable(*columns, format_);
  }
  if (name == ".schema") return Usage(".schema TABLE");
  if (name == ".mode") return SetMode(words.size() == 2 ? words[1] : "");
  if (name == ".timing") return SetTiming(words.size() == 2 ? words[1] : "");
  if (words.size() == 1 && name == ".tables") {
    ARROW_ASSIGN_OR_RAISE(const auto tables, DescribeTables(*connection_));
    return PrintTable(*tables, format_);
  }
  if (words.size() == 1 && name == ".help") return Write(kHelp);
  if (words.size() == 1 && (name == ".quit" || name == ".exit")) {
    ended_ = true;
    return arrow::Status::OK();
  }
  return MakeError(ErrorKind::kInvalidArgument,
                   "there is no command '" + std::string(line) + "'; .help lists them");
}

arrow::Status SqlSession::SetMode(const std::string& mode) {
  if (mode == "table") {
    format_ = OutputFormat::kTable;
  } else if (mode == "csv") {
    format_ = OutputFormat::kCsv;
  } else if (mode == "json") {
    format_ = OutputFormat::kJson;
  } else {
    return Usage(".mode table|csv|json");
  }
  return arrow::Status::OK();
}

arrow::Status SqlSession::SetTiming(const std::string& timing) {
  if (timing != "on" && timing != "off") return Usage(".timing on|off");
  timing_ = timing == "on";
  return arrow::Status::OK();
}

}  // namespace infino::cli
