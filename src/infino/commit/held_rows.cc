#include "infino/commit/held_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/concatenate.h>
#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/byte_size.h>

#include "infino/commit/row_coercion.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/options.h"

namespace infino {
namespace {

/// So many rows are put in order at a time.
constexpr size_t kPieceRows = 8192;

/// Those rows of a column, one by one where Arrow has no quicker way for the type.
arrow::Result<std::shared_ptr<arrow::Array>> Gather(const std::shared_ptr<arrow::Array>& column,
                                                    std::span<const int64_t> rows) {
  const auto indices = std::make_shared<arrow::Int64Array>(
      static_cast<int64_t>(rows.size()),
      arrow::Buffer::FromVector(std::vector<int64_t>(rows.begin(), rows.end())));
  const arrow::Result<arrow::Datum> taken =
      arrow::compute::Take(arrow::Datum(column), arrow::Datum(indices));
  if (taken.ok()) return taken->make_array();
  arrow::ArrayVector pieces;
  pieces.reserve(rows.size());
  for (const int64_t row : rows) pieces.push_back(column->Slice(row, 1));
  return arrow::Concatenate(pieces);
}

}  // namespace

arrow::Result<HeldRows> HeldRows::Read(arrow::RecordBatchReader& reader, int64_t budget_bytes,
                                       const StopCondition& stop) {
  HeldRows held;
  held.schema_ = reader.schema();
  int64_t held_bytes = 0;
  while (true) {
    ARROW_RETURN_NOT_OK(CheckStop(stop));
    std::shared_ptr<arrow::RecordBatch> batch;
    const arrow::Status read = reader.ReadNext(&batch);
    if (!read.ok()) return FromForeign(read, "read the new rows");
    if (batch == nullptr) return held;
    if (batch->num_rows() == 0) continue;
    if (!batch->schema()->Equals(*held.schema_, /*check_metadata=*/false)) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "read the new rows: their columns change on the way");
    }
    ARROW_RETURN_NOT_OK(ValidateRows(*batch, held.row_count_));
    held_bytes += arrow::util::TotalBufferSize(*batch);
    if (budget_bytes > 0 && held_bytes > budget_bytes) {
      return MakeError(ErrorKind::kResourceExhausted,
                       "read the new rows: they are held in memory during ingest, and that takes "
                       "more than memory_budget_bytes=" +
                           std::to_string(budget_bytes) + "; give fewer rows at once");
    }
    held.row_count_ += static_cast<uint64_t>(batch->num_rows());
    held.batches_.push_back(std::move(batch));
  }
}

arrow::Result<HeldRows> HeldRows::WithoutColumn(int column) const {
  HeldRows held = *this;
  ARROW_ASSIGN_OR_RAISE(held.schema_, schema_->RemoveField(column));
  for (std::shared_ptr<arrow::RecordBatch>& batch : held.batches_) {
    ARROW_ASSIGN_OR_RAISE(batch, batch->RemoveColumn(column));
  }
  return held;
}

arrow::Result<HeldRows> HeldRows::InOrder(std::span<const int64_t> order) const {
  if (std::ranges::is_sorted(order)) return *this;
  HeldRows held;
  held.schema_ = schema_;
  held.row_count_ = row_count_;
  const auto whole = arrow::ConcatenateRecordBatches(batches_);
  if (!whole.ok()) return FromForeign(whole.status(), "put the new rows in order");
  for (size_t at = 0; at < order.size(); at += kPieceRows) {
    const std::span<const int64_t> rows =
        order.subspan(at, std::min(kPieceRows, order.size() - at));
    arrow::ArrayVector columns;
    for (const std::shared_ptr<arrow::Array>& column : (*whole)->columns()) {
      const auto gathered = Gather(column, rows);
      if (!gathered.ok()) return FromForeign(gathered.status(), "put the new rows in order");
      columns.push_back(*gathered);
    }
    held.batches_.push_back(
        arrow::RecordBatch::Make(schema_, static_cast<int64_t>(rows.size()), std::move(columns)));
  }
  return held;
}

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> HeldRows::ToReader() const {
  return arrow::RecordBatchReader::Make(batches_, schema_);
}

}  // namespace infino
