#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "infino/options.h"

namespace infino {

/// The rows of a change, held in memory so that it can be made anew on a newer version. Immutable.
class HeldRows {
 public:
  /// Reads `reader` to its end and checks the rows as ValidateRows does. kResourceExhausted if they
  /// take more than `budget_bytes`, 0 for any.
  [[nodiscard]] static arrow::Result<HeldRows> Read(arrow::RecordBatchReader& reader,
                                                    int64_t budget_bytes,
                                                    const StopCondition& stop);

  [[nodiscard]] const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }

  [[nodiscard]] std::span<const std::shared_ptr<arrow::RecordBatch>> batches() const {
    return batches_;
  }

  [[nodiscard]] uint64_t row_count() const { return row_count_; }

  /// The same rows without a column, which is there.
  [[nodiscard]] arrow::Result<HeldRows> WithoutColumn(int column) const;

  /// All rows, the i-th being the one that was at `order[i]`.
  [[nodiscard]] arrow::Result<HeldRows> InOrder(std::span<const int64_t> order) const;

  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ToReader() const;

 private:
  HeldRows() = default;

  std::shared_ptr<arrow::Schema> schema_;
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches_;
  uint64_t row_count_ = 0;
};

}  // namespace infino
