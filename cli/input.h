#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

namespace CLI {
class App;
}  // namespace CLI

namespace infino::cli {

enum class InputFormat { kAuto, kParquet, kCsv, kJsonLines };

/// Where rows come from: a file, or "-" for standard input.
struct InputSource {
  std::string path;
  InputFormat format = InputFormat::kAuto;  ///< By the file's ending; standard input must say.
  std::vector<std::string> columns;         ///< Only these, or all if empty.
};

struct OpenedInput {
  std::shared_ptr<arrow::RecordBatchReader> rows;
  uint64_t row_count = 0;  ///< 0 where it is not known beforehand.
};

/// Opens a source as a stream of batches. `expected` gives the types of columns whose text has to
/// be understood (CSV, JSON); null: they are inferred from the first block.
[[nodiscard]] arrow::Result<OpenedInput> OpenInput(const InputSource& source,
                                                   const std::shared_ptr<arrow::Schema>& expected);

/// A file of Parquet, CSV or JSON lines for `--from` and `append`.
[[nodiscard]] const std::vector<std::pair<std::string, InputFormat>>& InputFormatNames();

/// The options of a subcommand that say where rows come from. `source` outlives the subcommand.
void AddInputOptions(CLI::App& subcommand, InputSource& source);

}  // namespace infino::cli
