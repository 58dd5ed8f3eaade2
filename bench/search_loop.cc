// Times searches in C++, without Python around them: the fastest of five passes over the queries
// on standard input, one a line.
//
//   search_loop FOLDER search|and|count|count-and K REPEAT < queries

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "infino/connection.h"
#include "infino/options.h"
#include "infino/search.h"
#include "infino/table.h"

namespace {

using infino::MatchMode;

struct Task {
  bool count = false;
  MatchMode mode = MatchMode::kOr;
  uint64_t k = 10;
};

void Run(infino::Table& table, const Task& task, const std::string& query) {
  const arrow::Status status =
      task.count
          ? table.Count({.column = "text", .query = query, .mode = task.mode, .stop = {}}).status()
          : table
                .Search({.column = "text",
                         .query = query,
                         .k = task.k,
                         .mode = task.mode,
                         .projection = {},
                         .k1 = {},
                         .b = {},
                         .stop = {}})
                .status();
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

double Microseconds(infino::Table& table, const Task& task, std::span<const std::string> queries,
                    int repeat) {
  double best = 1e300;
  for (int pass = 0; pass < 6; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeat; ++i) {
      for (const std::string& query : queries) Run(table, task, query);
    }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (pass > 0)
      best = std::min(best, took.count() / (repeat * static_cast<double>(queries.size())));
  }
  return best;
}

}  // namespace

int main(int count, char** values) {
  const std::span<char*> arguments(values, static_cast<size_t>(count));
  if (arguments.size() != 5) {
    std::fprintf(stderr, "search_loop FOLDER search|and|count|count-and K REPEAT < queries\n");
    return 2;
  }
  const std::string what = arguments[2];
  const Task task{.count = what.starts_with("count"),
                  .mode = what.ends_with("and") ? MatchMode::kAnd : MatchMode::kOr,
                  .k = std::strtoull(arguments[3], nullptr, 10)};
  std::vector<std::string> queries;
  for (std::string line; std::getline(std::cin, line);) queries.push_back(line);
  infino::ConnectOptions options;
  options.thread_count = 1;
  const auto connection = infino::Connect(arguments[1], options).ValueOrDie();
  const auto table = connection->OpenTable("t").ValueOrDie();
  const int repeat = std::atoi(arguments[4]);
  std::printf("%.2f\n", Microseconds(*table, task, queries, repeat));
  return 0;
}
