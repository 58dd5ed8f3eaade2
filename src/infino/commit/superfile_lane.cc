#include "infino/commit/superfile_lane.h"

#include <cstdint>
#include <memory>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/commit/row_slices.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"

namespace infino {

SuperfileLane::SuperfileLane(const TableSchema* schema, SuperfileWriterOptions options,
                             std::shared_ptr<Random> random)
    : schema_(schema), options_(std::move(options)), random_(std::move(random)) {}

arrow::Status SuperfileLane::Add(const RowSlice& slice) {
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::RecordBatch> rows,
                        slice.coercion->Coerce(*slice.rows, slice.first_row));
  if (writer_ == nullptr) {
    options_.id = random_->NextId<SuperfileId>();
    ARROW_ASSIGN_OR_RAISE(writer_, SuperfileWriter::Make(*schema_, options_));
  }
  if (slice.ids.owner != nullptr) return writer_->Add(*rows, slice.ids.ids);
  return writer_->Add(*rows, slice.first_id);
}

arrow::Result<BuiltSuperfile> SuperfileLane::Finish() {
  const std::unique_ptr<SuperfileWriter> writer = std::move(writer_);
  return writer->Finish();
}

int64_t SuperfileLane::memory_bytes() const {
  return writer_ == nullptr ? 0 : writer_->memory_bytes();
}

int64_t SuperfileLane::file_bytes() const {
  return writer_ == nullptr ? 0 : writer_->file_bytes();
}

int64_t SuperfileLane::row_count() const {
  return writer_ == nullptr ? 0 : writer_->row_count();
}

}  // namespace infino
