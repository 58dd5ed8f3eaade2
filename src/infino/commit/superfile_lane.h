#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/commit/row_slices.h"
#include "infino/common/random.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// Builds one superfile after the other from slices of rows in ascending id order. Used by one
/// thread at a time.
class SuperfileLane {
 public:
  /// `options` are those of all its superfiles, but for the id. `schema` outlives the lane.
  SuperfileLane(const TableSchema* schema, SuperfileWriterOptions options,
                std::shared_ptr<Random> random);

  /// Coerces the rows and adds them to the superfile at hand, which it starts if there is none.
  [[nodiscard]] arrow::Status Add(const RowSlice& slice);

  /// Ends the superfile at hand. REQUIRES: row_count() > 0.
  [[nodiscard]] arrow::Result<BuiltSuperfile> Finish();

  /// What the superfile at hand holds in memory, in bytes.
  [[nodiscard]] int64_t memory_bytes() const;

  /// About how long the superfile at hand is going to be, in bytes.
  [[nodiscard]] int64_t file_bytes() const;

  /// Rows of the superfile at hand.
  [[nodiscard]] int64_t row_count() const;

 private:
  const TableSchema* schema_;
  SuperfileWriterOptions options_;
  std::shared_ptr<Random> random_;
  std::unique_ptr<SuperfileWriter> writer_;
};

}  // namespace infino
