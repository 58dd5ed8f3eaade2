#pragma once

#include <cstdint>
#include <memory>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/vector/vector_index_builder.h"
#include "infino/index/vector/vector_space.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// Builds the vector index of one column while a superfile is written. Single-threaded.
class VectorColumnWriter {
 public:
  VectorColumnWriter(int32_t field_id, int ordinal,
                     std::unique_ptr<vector::VectorIndexBuilder> builder);

  /// `ordinal` is the column's place in the batches. kInvalidArgument unless `space` is the
  /// column's. REQUIRES: column.vector.
  [[nodiscard]] static arrow::Result<std::unique_ptr<VectorColumnWriter>> Make(
      const TableColumn& column, int ordinal, const SuperfileId& superfile,
      std::shared_ptr<const vector::VectorSpace> space, const vector::VectorBuildMemory& memory);

  [[nodiscard]] arrow::Status Add(const arrow::RecordBatch& rows);

  [[nodiscard]] int64_t memory_bytes() const { return builder_->memory_bytes(); }

  /// What is in scratch files and will be in the superfile.
  [[nodiscard]] int64_t spilled_bytes() const { return builder_->spilled_bytes(); }

  [[nodiscard]] int32_t field_id() const { return field_id_; }

  /// Writes the blob at the sink's position; its open part. Called once, last.
  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Buffer>> Finish(arrow::io::OutputStream& sink);

 private:
  int32_t field_id_;
  int ordinal_;
  std::unique_ptr<vector::VectorIndexBuilder> builder_;
};

}  // namespace infino
