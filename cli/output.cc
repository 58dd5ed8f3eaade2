#include "cli/output.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cell.h"
#include "cli/command.h"
#include "infino/common/json.h"

namespace infino::cli {

namespace {

constexpr size_t kCellWidthMax = 100;
constexpr size_t kTerminalWidthDefault = 120;

arrow::Status Write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    return arrow::Status::IOError("write to standard output failed");
  }
  return arrow::Status::OK();
}

/// Calls `line(batch, row)` for every row, in order.
template <typename Line>
arrow::Status ForEachRow(const arrow::Table& table, Line line) {
  arrow::TableBatchReader reader(table);
  std::shared_ptr<arrow::RecordBatch> batch;
  while (true) {
    ARROW_RETURN_NOT_OK(reader.ReadNext(&batch));
    if (batch == nullptr) return arrow::Status::OK();
    for (int64_t row = 0; row < batch->num_rows(); ++row) ARROW_RETURN_NOT_OK(line(*batch, row));
  }
}

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
  for (const auto& field : table.schema()->fields()) {
    line += (line.empty() ? "" : ",") + Quoted(field->name());
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

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

size_t CharactersIn(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

/// At most `width` characters on one line; what is cut off shows as an ellipsis.
std::string Shortened(std::string text, size_t width) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20U; }, ' ');
  if (CharactersIn(text) <= width) return text;
  size_t end = 0;
  for (size_t count = 0; end < text.size(); ++end) {
    if (!IsContinuation(text[end]) && ++count >= width) break;
  }
  return text.substr(0, end) + "…";
}

size_t TerminalWidth() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kTerminalWidthDefault;
}

std::string Padded(const std::string& text, size_t width, bool right) {
  const size_t have = CharactersIn(text);
  const std::string space(width > have ? width - have : 0, ' ');
  return right ? space + text : text + space;
}

/// Narrows the widest columns until the line fits the terminal.
void FitWidths(std::vector<size_t>& widths) {
  constexpr size_t kColumnWidthMin = 8;
  constexpr size_t kGap = 2;
  const size_t terminal = TerminalWidth();
  while (!widths.empty()) {
    size_t total = kGap * (widths.size() - 1);
    for (const size_t width : widths) total += width;
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (total <= terminal || *widest <= kColumnWidthMin) return;
    *widest = std::max(kColumnWidthMin, *widest - std::min(*widest, total - terminal));
  }
}

arrow::Status PrintGrid(const arrow::Table& table) {
  std::vector<std::vector<std::string>> rows(1);
  std::vector<bool> right;
  for (const auto& field : table.schema()->fields()) {
    rows[0].push_back(Shortened(field->name(), kCellWidthMax));
    right.push_back(arrow::is_numeric(field->type()->id()) ||
                    arrow::is_decimal(field->type()->id()));
  }
  ARROW_RETURN_NOT_OK(
      ForEachRow(table, [&](const arrow::RecordBatch& batch, int64_t row) -> arrow::Status {
        std::vector<std::string>& cells = rows.emplace_back();
        for (int i = 0; i < batch.num_columns(); ++i) {
          ARROW_ASSIGN_OR_RAISE(std::string text, TextOf(*batch.column(i), row));
          cells.push_back(Shortened(std::move(text), kCellWidthMax));
        }
        return arrow::Status::OK();
      }));
  std::vector<size_t> widths(right.size());
  for (const auto& cells : rows) {
    for (size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], CharactersIn(cells[i]));
    }
  }
  FitWidths(widths);
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < rows[r].size(); ++i) {
      line += (i == 0 ? "" : "  ") + Padded(Shortened(rows[r][i], widths[i]), widths[i], right[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    ARROW_RETURN_NOT_OK(Write(line + "\n"));
    if (r > 0) continue;
    std::string rule;
    for (size_t i = 0; i < widths.size(); ++i) {
      rule += (i == 0 ? "" : "  ") + std::string(widths[i], '-');
    }
    ARROW_RETURN_NOT_OK(Write(rule + "\n"));
  }
  return arrow::Status::OK();
}

OutputFormat Resolved(OutputFormat format) {
  if (format != OutputFormat::kAuto) return format;
  return isatty(STDOUT_FILENO) != 0 ? OutputFormat::kTable : OutputFormat::kJson;
}

}  // namespace

arrow::Status PrintTable(const arrow::Table& table, OutputFormat format) {
  switch (Resolved(format)) {
    case OutputFormat::kJson:
      return PrintJson(table);
    case OutputFormat::kCsv:
      return PrintCsv(table);
    default:
      return PrintGrid(table);
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
