#include "infino/superfile/vector_column_writer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/vector/vector_index_builder.h"
#include "infino/index/vector/vector_index_writer.h"
#include "infino/index/vector/vector_space.h"
#include "infino/superfile/table_schema.h"

namespace infino {

VectorColumnWriter::VectorColumnWriter(int32_t field_id, int ordinal,
                                       std::unique_ptr<vector::VectorIndexBuilder> builder)
    : field_id_(field_id), ordinal_(ordinal), builder_(std::move(builder)) {}

arrow::Result<std::unique_ptr<VectorColumnWriter>> VectorColumnWriter::Make(
    const TableColumn& column, int ordinal, const SuperfileId& superfile,
    std::shared_ptr<const vector::VectorSpace> space, const vector::VectorBuildMemory& memory) {
  if (space == nullptr || space->column() != column.vector->column) {
    return MakeError(ErrorKind::kInvalidArgument, "write a superfile: column '" +
                                                      column.field->name() +
                                                      "' has no reference points of its own");
  }
  auto builder = vector::VectorIndexBuilder::Make(std::move(space), superfile, memory);
  return std::make_unique<VectorColumnWriter>(column.field_id, ordinal, std::move(builder));
}

arrow::Status VectorColumnWriter::Add(const arrow::RecordBatch& rows) {
  return builder_->Add(*rows.column(ordinal_));
}

arrow::Result<std::shared_ptr<arrow::Buffer>> VectorColumnWriter::Finish(
    arrow::io::OutputStream& sink) {
  ARROW_ASSIGN_OR_RAISE(const int64_t start, sink.Tell());
  ARROW_ASSIGN_OR_RAISE(vector::FinishedVectorIndex index, builder_->Finish(sink));
  builder_.reset();
  ARROW_ASSIGN_OR_RAISE(const int64_t end, sink.Tell());
  if (end - start != index.blob_length) {
    return MakeError(ErrorKind::kInternal,
                     "write a vector index: blob length=" + std::to_string(end - start) +
                         ", reported=" + std::to_string(index.blob_length));
  }
  return std::move(index.open_part);
}

}  // namespace infino
