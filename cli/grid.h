#pragma once

#include <cstddef>

#include <arrow/status.h>
#include <arrow/table.h>

namespace infino::cli {

/// How many columns standard output has: of the terminal, else 120.
[[nodiscard]] size_t TerminalWidth();

/// Prints `table` to standard output as aligned columns under their names, numbers to the right,
/// nulls as NULL, one line a row. The widest columns are narrowed, and their cells cut, until a row
/// fits `width`, or no column has more than 8 left.
[[nodiscard]] arrow::Status PrintGrid(const arrow::Table& table, size_t width);

}  // namespace infino::cli
