#include "cli/output.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <unistd.h>

#include "cli/cell.h"
#include "cli/command.h"
#include "cli/grid.h"
#include "infino/common/json.h"

namespace infino::cli {

namespace {

arrow::Status PrintJson(const arrow::Table& table) {
  return ForEachRow(table, [](const arrow::RecordBatch& batch, int64_t row) -> arrow::Status {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (int i = 0; i < batch.num_columns(); ++i) {
      ARROW_ASSIGN_OR_RAISE(nlohmann::json value, JsonOf(*batch.column(i), row));
      object[batch.column_name(i)] = std::move(value);
    }
    return Write(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  });
}

/// A CSV cell as RFC 4180 has it.
std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

arrow::Status PrintCsv(const arrow::Table& table) {
  std::string line;
  for (int i = 0; i < table.num_columns(); ++i) {
    line += (i == 0 ? "" : ",") + Quoted(table.field(i)->name());
  }
  ARROW_RETURN_NOT_OK(Write(line + "\r\n"));
  return ForEachRow(table, [](const arrow::RecordBatch& batch, int64_t row) -> arrow::Status {
    std::string cells;
    for (int i = 0; i < batch.num_columns(); ++i) {
      ARROW_ASSIGN_OR_RAISE(const std::string text, TextOf(*batch.column(i), row));
      cells += (i == 0 ? "" : ",") + Quoted(text);
    }
    return Write(cells + "\r\n");
  });
}

}  // namespace

arrow::Status Write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    return arrow::Status::IOError("write to standard output failed");
  }
  return arrow::Status::OK();
}

OutputFormat Resolved(OutputFormat format) {
  if (format != OutputFormat::kAuto) return format;
  return isatty(STDOUT_FILENO) != 0 ? OutputFormat::kTable : OutputFormat::kJson;
}

arrow::Status PrintTable(const arrow::Table& table, OutputFormat format) {
  switch (Resolved(format)) {
    case OutputFormat::kJson:
      return PrintJson(table);
    case OutputFormat::kCsv:
      return PrintCsv(table);
    default:
      return PrintGrid(table, TerminalWidth());
  }
}

arrow::Status PrintValue(const std::string& name, uint64_t value, OutputFormat format) {
  arrow::UInt64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Append(value));
  ARROW_ASSIGN_OR_RAISE(const auto array, builder.Finish());
  return PrintTable(
      *arrow::Table::Make(arrow::schema({arrow::field(name, arrow::uint64())}), {array}), format);
}

void Say(const std::string& line) {
  static_cast<void>(std::fprintf(stderr, "%s\n", line.c_str()));
}

}  // namespace infino::cli
