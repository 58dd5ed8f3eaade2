#include "infino/query/result_rows.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/buffer.h>
#include <arrow/chunked_array.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "infino/common/ids.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/query/projection.h"
#include "infino/query/search_executor.h"
#include "infino/superfile/row_fetch.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {
namespace {

/// About what one page of one column costs to decode; see SuperfileWriter.
constexpr int64_t kPageBytes = 4 << 10;

/// Rows of one superfile, in the order in which the result needs them.
struct FileRows {
  std::vector<DocId> docs;
  std::unique_ptr<RowFetch> fetch;
  std::shared_ptr<arrow::RecordBatch> batch;
};

/// Neighbouring rows of the result that are neighbours in a FileRows, too.
struct Run {
  size_t file = 0;
  int64_t first = 0;
  int64_t length = 0;
};

std::vector<Run> SplitByFile(std::span<const Hit> hits, std::vector<FileRows>& files) {
  std::vector<Run> runs;
  for (const Hit& hit : hits) {
    std::vector<DocId>& docs = files[hit.file].docs;
    if (runs.empty() || runs.back().file != hit.file) {
      runs.push_back({.file = hit.file, .first = static_cast<int64_t>(docs.size())});
    }
    docs.push_back(hit.doc);
    ++runs.back().length;
  }
  return runs;
}

arrow::Status FetchAll(std::span<const std::shared_ptr<const SuperfileReader>> readers,
                       const std::vector<int32_t>& field_ids, std::vector<FileRows>& files,
                       WorkPool* pool, const StopCondition& stop) {
  std::vector<SearchTask> tasks;
  RunOptions options{.pool = pool};
  for (size_t i = 0; i < files.size(); ++i) {
    FileRows& file = files[i];
    if (file.docs.empty()) continue;
    options.work_bytes += static_cast<int64_t>(file.docs.size() * field_ids.size()) * kPageBytes;
    ARROW_ASSIGN_OR_RAISE(file.fetch, RowFetch::Make(*readers[i], std::move(file.docs), field_ids));
    tasks.push_back(MakeTask(*file.fetch, readers[i]->file()));
  }
  ARROW_RETURN_NOT_OK(RunTasks(tasks, options, stop));
  for (FileRows& file : files) {
    if (file.fetch == nullptr) continue;
    ARROW_ASSIGN_OR_RAISE(file.batch, file.fetch->Rows());
  }
  return arrow::Status::OK();
}

/// One stored column in result order. In one piece, unless that would overflow its offsets.
arrow::Result<std::shared_ptr<arrow::ChunkedArray>> InResultOrder(
    const std::vector<FileRows>& files, std::span<const Run> runs, size_t column,
    const std::shared_ptr<arrow::Field>& field) {
  arrow::ArrayVector pieces;
  pieces.reserve(runs.size());
  for (const Run& run : runs) {
    const std::shared_ptr<arrow::Array>& whole =
        files[run.file].batch->column(static_cast<int>(column));
    if (!whole->type()->Equals(*field->type())) {
      return MakeError(ErrorKind::kInternal, "fetch column '" + field->name() + "': declared as " +
                                                 field->type()->ToString() + ", read as " +
                                                 whole->type()->ToString());
    }
    pieces.push_back(run.length == whole->length() ? whole : whole->Slice(run.first, run.length));
  }
  if (pieces.size() > 1) {
    arrow::Result<std::shared_ptr<arrow::Array>> joined = arrow::Concatenate(pieces);
    if (joined.ok()) pieces = {*std::move(joined)};
  }
  return arrow::ChunkedArray::Make(std::move(pieces), field->type());
}

std::shared_ptr<arrow::Array> IdArray(std::span<const Hit> hits) {
  static_assert(std::endian::native == std::endian::little);
  std::vector<std::array<uint64_t, 2>> ids;  // as decimals lie in memory
  ids.reserve(hits.size());
  for (const Hit& hit : hits) ids.push_back({hit.id.low, hit.id.high});
  return std::make_shared<arrow::Decimal128Array>(IdField()->type(),
                                                  static_cast<int64_t>(hits.size()),
                                                  arrow::Buffer::FromVector(std::move(ids)));
}

std::shared_ptr<arrow::Array> ScoreArray(std::span<const Hit> hits) {
  std::vector<float> scores;
  scores.reserve(hits.size());
  for (const Hit& hit : hits) scores.push_back(hit.score);
  return std::make_shared<arrow::FloatArray>(static_cast<int64_t>(hits.size()),
                                             arrow::Buffer::FromVector(std::move(scores)));
}

arrow::Result<std::shared_ptr<arrow::ChunkedArray>> MakeColumn(const Projection& projection,
                                                               size_t ordinal,
                                                               std::span<const Hit> hits,
                                                               const std::vector<FileRows>& files,
                                                               std::span<const Run> runs) {
  const ProjectedColumn& column = projection.columns[ordinal];
  if (column.source == ProjectedColumn::Source::kStored) {
    return InResultOrder(files, runs, column.fetched,
                         projection.schema->field(static_cast<int>(ordinal)));
  }
  return std::make_shared<arrow::ChunkedArray>(
      column.source == ProjectedColumn::Source::kId ? IdArray(hits) : ScoreArray(hits));
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Table>> FetchRows(
    std::span<const Hit> hits, std::span<const std::shared_ptr<const SuperfileReader>> files,
    const Projection& projection, WorkPool* pool, const StopCondition& stop) {
  if (hits.empty()) return arrow::Table::MakeEmpty(projection.schema);
  std::vector<FileRows> rows;
  std::vector<Run> runs;
  if (!projection.fetched_field_ids.empty()) {
    rows.resize(files.size());
    runs = SplitByFile(hits, rows);
    ARROW_RETURN_NOT_OK(FetchAll(files, projection.fetched_field_ids, rows, pool, stop));
  }
  std::vector<std::shared_ptr<arrow::ChunkedArray>> columns;
  columns.reserve(projection.columns.size());
  for (size_t i = 0; i < projection.columns.size(); ++i) {
    arrow::Result<std::shared_ptr<arrow::ChunkedArray>> column =
        MakeColumn(projection, i, hits, rows, runs);
    if (!column.ok()) return FromForeign(column.status(), "assemble the rows of a result");
    columns.push_back(*std::move(column));
  }
  return arrow::Table::Make(projection.schema, std::move(columns),
                            static_cast<int64_t>(hits.size()));
}

}  // namespace infino
