#pragma once

#include <memory>
#include <string>

#include <arrow/status.h>
#include <arrow/table.h>

#include "cli/command.h"

namespace infino::cli {

/// Prints a result to standard output: a table on a terminal, else one JSON object a line, or what
/// `format` says.
[[nodiscard]] arrow::Status PrintTable(const arrow::Table& table, OutputFormat format);

/// Prints one name and value to standard output, in the same formats.
[[nodiscard]] arrow::Status PrintValue(const std::string& name, uint64_t value,
                                       OutputFormat format);

/// Prints a line to standard error.
void Say(const std::string& line);

}  // namespace infino::cli
