// Times the building of one keyword index in C++, with positions and nothing around it: CPU seconds
// of reading the rows and of writing the blob, and a hash of the blob.
//
//   index_loop FILE.parquet COLUMN LIMIT_MIB [ROWS]

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/buffer.h>
#include <arrow/chunked_array.h>
#include <arrow/io/file.h>
#include <arrow/io/memory.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>

#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index_spec.h"
#include "infino/storage/local_scratch.h"

namespace {

using infino::text::TextIndexBuilder;

constexpr int64_t kBatchRows = 8192;

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Timing {
  double add = 0;
  double finish = 0;
  int64_t rows = 0;
  int64_t memory_bytes = 0;
};

arrow::Status AddAll(const arrow::ChunkedArray& column, int64_t rows_max, TextIndexBuilder& builder,
                     Timing& timing) {
  for (const auto& chunk : column.chunks()) {
    for (int64_t at = 0; at < chunk->length() && timing.rows < rows_max; at += kBatchRows) {
      const auto slice = chunk->Slice(at, std::min(kBatchRows, rows_max - timing.rows));
      const double start = CpuSeconds();
      ARROW_RETURN_NOT_OK(builder.Add(*slice));
      timing.add += CpuSeconds() - start;
      timing.rows += slice->length();
      timing.memory_bytes = std::max(timing.memory_bytes, builder.memory_bytes());
    }
  }
  return arrow::Status::OK();
}

arrow::Status Run(std::span<char*> arguments) {
  const int64_t limit_bytes = std::strtoll(arguments[3], nullptr, 10) << 20;
  const int64_t rows_max = arguments.size() > 4 ? std::strtoll(arguments[4], nullptr, 10)
                                                : std::numeric_limits<int64_t>::max();
  ARROW_ASSIGN_OR_RAISE(auto input, arrow::io::ReadableFile::Open(arguments[1]));
  ARROW_ASSIGN_OR_RAISE(auto file,
                        parquet::arrow::OpenFile(std::move(input), arrow::default_memory_pool()));
  std::shared_ptr<arrow::Schema> schema;
  ARROW_RETURN_NOT_OK(file->GetSchema(&schema));
  const int column = schema->GetFieldIndex(arguments[2]);
  if (column < 0) return arrow::Status::Invalid("no such column");

  infino::TextIndexOptions options;
  options.positions = true;
  infino::text::TextBuildMemory memory;
  if (limit_bytes > 0) {
    memory = {.limit_bytes = limit_bytes, .scratch = infino::MakeLocalScratch({})};
  }
  ARROW_ASSIGN_OR_RAISE(auto builder, TextIndexBuilder::Make(options, {}, std::move(memory)));
  Timing timing;
  for (int group = 0; group < file->num_row_groups(); ++group) {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Table> table,
                          file->ReadRowGroup(group, std::vector<int>{column}));
    ARROW_RETURN_NOT_OK(AddAll(*table->column(0), rows_max, *builder, timing));
  }
  ARROW_ASSIGN_OR_RAISE(auto sink, arrow::io::BufferOutputStream::Create());
  const double start = CpuSeconds();
  ARROW_ASSIGN_OR_RAISE(const auto finished, builder->Finish(*sink, {}));
  timing.finish = CpuSeconds() - start;
  ARROW_ASSIGN_OR_RAISE(const auto blob, sink->Finish());
  const infino::ContentHash hash =
      infino::Blake3({blob->data(), static_cast<size_t>(blob->size())});
  const auto millions = [](int64_t count) { return static_cast<double>(count) * 1e-6; };
  std::printf(
      "rows=%.2fM tokens=%.1fM terms=%lld add=%.2fs finish=%.2fs sum=%.2fs held=%.0fMB "
      "blob=%.1fMB hash=%.16s\n",
      millions(timing.rows), millions(finished.summary.token_total),
      static_cast<long long>(finished.summary.term_count), timing.add, timing.finish,
      timing.add + timing.finish, millions(timing.memory_bytes), millions(blob->size()),
      hash.ToHex().c_str());
  return arrow::Status::OK();
}

}  // namespace

int main(int count, char** values) {
  const std::span<char*> arguments(values, static_cast<size_t>(count));
  if (arguments.size() < 4) {
    std::fprintf(stderr, "index_loop FILE.parquet COLUMN LIMIT_MIB [ROWS]\n");
    return 2;
  }
  const arrow::Status status = Run(arguments);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
