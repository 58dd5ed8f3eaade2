#include "cli/grid.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cell.h"
#include "cli/display_text.h"
#include "cli/output.h"

namespace infino::cli {

namespace {

constexpr size_t kGap = 2;

arrow::Result<std::string> CellText(const arrow::Array& array, int64_t row, size_t width) {
  if (array.IsNull(row)) return OneLine("NULL", width);
  ARROW_ASSIGN_OR_RAISE(const std::string text, TextOf(array, row));
  return OneLine(text, width);
}

/// Narrows the widest columns until a row fits.
void FitWidths(std::vector<size_t>& widths, size_t row_width) {
  constexpr size_t kColumnWidthMin = 8;
  while (!widths.empty()) {
    size_t total = kGap * (widths.size() - 1);
    for (const size_t width : widths) total += width;
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (total <= row_width || *widest <= kColumnWidthMin) return;
    --*widest;
  }
}

/// Prints cells that fit their columns.
arrow::Status PrintLine(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                        const std::vector<bool>& right) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line.append(kGap, ' ');
    line += Padded(cells[i], widths[i], right[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return Write(line + "\n");
}

}  // namespace

size_t TerminalWidth() {
  constexpr size_t kWidthDefault = 120;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kWidthDefault;
}

arrow::Status PrintGrid(const arrow::Table& table, size_t width) {
  std::vector<std::string> names;
  std::vector<std::string> rules;
  std::vector<bool> right;
  std::vector<size_t> widths;
  for (const auto& field : table.schema()->fields()) {
    names.push_back(field->name());
    right.push_back(arrow::is_numeric(field->type()->id()) ||
                    arrow::is_decimal(field->type()->id()));
    widths.push_back(std::max<size_t>(1, DisplayWidth(OneLine(field->name(), width))));
  }
  // Rows are turned into text twice, so that they are never in memory as such.
  ARROW_RETURN_NOT_OK(
      ForEachRow(table, [&](const arrow::RecordBatch& batch, int64_t row) -> arrow::Status {
        for (size_t i = 0; i < widths.size(); ++i) {
          if (widths[i] >= width) continue;
          ARROW_ASSIGN_OR_RAISE(const std::string text,
                                CellText(*batch.column(static_cast<int>(i)), row, width));
          widths[i] = std::max(widths[i], DisplayWidth(text));
        }
        return arrow::Status::OK();
      }));
  FitWidths(widths, width);
  rules.reserve(widths.size());
  for (size_t i = 0; i < widths.size(); ++i) {
    names[i] = OneLine(names[i], widths[i]);
    rules.emplace_back(widths[i], '-');
  }
  ARROW_RETURN_NOT_OK(PrintLine(names, widths, right));
  ARROW_RETURN_NOT_OK(PrintLine(rules, widths, right));
  std::vector<std::string> cells(widths.size());
  return ForEachRow(table, [&](const arrow::RecordBatch& batch, int64_t row) -> arrow::Status {
    for (size_t i = 0; i < cells.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(cells[i], CellText(*batch.column(static_cast<int>(i)), row, widths[i]));
    }
    return PrintLine(cells, widths, right);
  });
}

}  // namespace infino::cli
