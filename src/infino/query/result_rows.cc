#include "infino/query/result_rows.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_decimal.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/concatenate.h>
#include <arrow/buffer.h>
#include <arrow/chunked_array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/vector/vector_fetch.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/query/projection.h"
#include "infino/query/query_environment.h"
#include "infino/query/search_executor.h"
#include "infino/superfile/column_mapping.h"
#include "infino/superfile/row_fetch.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

/// About what one page of one column costs to decode; see SuperfileWriter.
constexpr int64_t kPageBytes = 4 << 10;

using Source = ProjectedColumn::Source;

/// Rows of one superfile, in the order in which the result needs them.
struct FileRows {
  std::vector<DocId> docs;
  int64_t row_count = 0;
  std::vector<MappedColumn> columns;  ///< By fetched_field_ids.
  std::vector<int> places;            ///< Of these columns in `batch`; -1: not in the file.
  std::unique_ptr<RowFetch> fetch;
  std::vector<std::unique_ptr<vector::VectorFetch>> vector_fetches;  ///< By vector_field_ids.
  std::shared_ptr<arrow::RecordBatch> batch;                         ///< What was stored.
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

/// Starts the reads of one superfile's rows.
arrow::Status StartFetches(const SuperfileReader& reader, const Projection& projection,
                           const QueryEnvironment& environment, FileRows& file,
                           std::vector<SearchTask>& tasks) {
  for (const int32_t field_id : projection.vector_field_ids) {
    const vector::VectorIndexReader* const index = reader.vector_index(field_id);
    if (index == nullptr) {
      return MakeError(ErrorKind::kCorrupt, "fetch rows of " + reader.name() +
                                                ": it lacks the vector index of a column; " +
                                                "field_id=" + std::to_string(field_id));
    }
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<vector::VectorFetch> fetch,
                          vector::VectorFetch::Make(*index, file.docs, environment.vectors.get()));
    tasks.push_back(MakeTask(*fetch, reader.vector_blob(field_id)));
    file.vector_fetches.push_back(std::move(fetch));
  }
  file.row_count = static_cast<int64_t>(file.docs.size());
  ARROW_ASSIGN_OR_RAISE(
      file.columns, MapColumns(reader, projection.fetched_field_ids, projection.fetched_fields));
  std::vector<int32_t> field_ids;
  for (const MappedColumn& column : file.columns) {
    file.places.push_back(column.is_in_file() ? static_cast<int>(field_ids.size()) : -1);
    if (column.is_in_file()) field_ids.push_back(column.field_id);
  }
  if (field_ids.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(file.fetch,
                        RowFetch::Make(reader, std::move(file.docs), std::move(field_ids)));
  tasks.push_back(MakeTask(*file.fetch, reader.file()));
  return arrow::Status::OK();
}

arrow::Status FetchAll(std::span<const std::shared_ptr<const SuperfileReader>> readers,
                       const Projection& projection, const QueryContext& context,
                       std::vector<FileRows>& files) {
  const size_t columns = projection.fetched_field_ids.size() + projection.vector_field_ids.size();
  std::vector<SearchTask> tasks;
  RunOptions options{.pool = context.environment->pool.get()};
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].docs.empty()) continue;
    options.work_bytes += static_cast<int64_t>(files[i].docs.size() * columns) * kPageBytes;
    ARROW_RETURN_NOT_OK(
        StartFetches(*readers[i], projection, *context.environment, files[i], tasks));
  }
  ARROW_RETURN_NOT_OK(RunTasks(tasks, options, *context.stop));
  for (FileRows& file : files) {
    if (file.fetch == nullptr) continue;
    ARROW_ASSIGN_OR_RAISE(file.batch, file.fetch->Rows());
  }
  return arrow::Status::OK();
}

/// The vectors that were read, as an array of the column's type.
std::shared_ptr<arrow::Array> VectorArray(const vector::VectorFetch& fetch,
                                          const std::shared_ptr<arrow::DataType>& type) {
  const auto& list = arrow::internal::checked_cast<const arrow::FixedSizeListType&>(*type);
  const std::span<const float> vectors = fetch.vectors();
  const auto count = static_cast<int64_t>(vectors.size());
  auto values = std::make_shared<arrow::FloatArray>(
      count, arrow::Buffer::FromVector(std::vector<float>(vectors.begin(), vectors.end())));
  return std::make_shared<arrow::FixedSizeListArray>(type, count / list.list_size(),
                                                     std::move(values));
}

/// A column of one superfile's rows, as the table declares it.
arrow::Result<std::shared_ptr<arrow::Array>> ColumnOf(
    const FileRows& file, const ProjectedColumn& column,
    const std::shared_ptr<arrow::DataType>& type) {
  if (column.source == Source::kVector) {
    return VectorArray(*file.vector_fetches[column.fetched], type);
  }
  const int place = file.places[column.fetched];
  return AsDeclared(file.columns[column.fetched], place < 0 ? nullptr : file.batch->column(place),
                    file.row_count);
}

/// One fetched column in result order. In one piece, unless that would overflow its offsets.
arrow::Result<std::shared_ptr<arrow::ChunkedArray>> InResultOrder(
    const std::vector<FileRows>& files, std::span<const Run> runs, const ProjectedColumn& column,
    const std::shared_ptr<arrow::Field>& field) {
  arrow::ArrayVector pieces;
  pieces.reserve(runs.size());
  arrow::ArrayVector wholes(files.size());
  for (const Run& run : runs) {
    std::shared_ptr<arrow::Array>& whole = wholes[run.file];
    if (whole == nullptr) {
      ARROW_ASSIGN_OR_RAISE(whole, ColumnOf(files[run.file], column, field->type()));
    }
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

std::shared_ptr<arrow::Array> QueryArray(std::span<const Hit> hits) {
  std::vector<uint32_t> queries;
  queries.reserve(hits.size());
  for (const Hit& hit : hits) queries.push_back(hit.query);
  return std::make_shared<arrow::UInt32Array>(static_cast<int64_t>(hits.size()),
                                              arrow::Buffer::FromVector(std::move(queries)));
}

arrow::Result<std::shared_ptr<arrow::ChunkedArray>> MakeColumn(const Projection& projection,
                                                               size_t ordinal,
                                                               std::span<const Hit> hits,
                                                               const std::vector<FileRows>& files,
                                                               std::span<const Run> runs) {
  const ProjectedColumn& column = projection.columns[ordinal];
  switch (column.source) {
    case Source::kId:
      return std::make_shared<arrow::ChunkedArray>(IdArray(hits));
    case Source::kScore:
      return std::make_shared<arrow::ChunkedArray>(ScoreArray(hits));
    case Source::kQuery:
      return std::make_shared<arrow::ChunkedArray>(QueryArray(hits));
    case Source::kStored:
    case Source::kVector:
      break;
  }
  return InResultOrder(files, runs, column, projection.schema->field(static_cast<int>(ordinal)));
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Table>> FetchRows(
    std::span<const Hit> hits, std::span<const std::shared_ptr<const SuperfileReader>> files,
    const Projection& projection, const QueryContext& context) {
  if (hits.empty()) return arrow::Table::MakeEmpty(projection.schema);
  std::vector<FileRows> rows;
  std::vector<Run> runs;
  if (!projection.fetched_field_ids.empty() || !projection.vector_field_ids.empty()) {
    rows.resize(files.size());
    runs = SplitByFile(hits, rows);
    ARROW_RETURN_NOT_OK(FetchAll(files, projection, context, rows));
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
