#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/record_batch.h>
#include <arrow/status.h>
#include <arrow/table.h>

#include "cli/command.h"
#include "cli/interrupt.h"

namespace infino::cli {

/// Prints a result to standard output: a table on a terminal, else one JSON object a line, or what
/// `format` says.
[[nodiscard]] arrow::Status PrintTable(const arrow::Table& table, OutputFormat format);

/// Prints one name and value to standard output, in the same formats.
[[nodiscard]] arrow::Status PrintValue(const std::string& name, uint64_t value,
                                       OutputFormat format);

/// What kAuto stands for: a table on a terminal, else JSON.
[[nodiscard]] OutputFormat Resolved(OutputFormat format);

/// Prints text to standard output.
[[nodiscard]] arrow::Status Write(std::string_view text);

/// Calls `line(batch, row)` for every row, in order. Ctrl-C ends it with kCancelled.
template <typename Line>
[[nodiscard]] arrow::Status ForEachRow(const arrow::Table& table, Line line) {
  arrow::TableBatchReader reader(table);
  std::shared_ptr<arrow::RecordBatch> batch;
  while (true) {
    ARROW_RETURN_NOT_OK(reader.ReadNext(&batch));
    if (batch == nullptr) return arrow::Status::OK();
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      ARROW_RETURN_NOT_OK(CheckInterrupt());
      ARROW_RETURN_NOT_OK(line(*batch, row));
    }
  }
}

/// Prints a line to standard error.
void Say(const std::string& line);

}  // namespace infino::cli
