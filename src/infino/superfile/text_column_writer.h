#pragma once

#include <cstdint>
#include <memory>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"

namespace infino {

struct FinishedTextColumn {
  std::shared_ptr<arrow::Buffer> open_part;
  TextColumnSummary summary;
  TermFilter filter;
};

/// Builds the keyword index of one column while a superfile is written, and its term filter.
/// Single-threaded.
class TextColumnWriter {
 public:
  TextColumnWriter(int32_t field_id, int ordinal, std::unique_ptr<text::TextIndexBuilder> builder);

  /// `ordinal` is the column's place in the batches. REQUIRES: column.text.
  [[nodiscard]] static arrow::Result<std::unique_ptr<TextColumnWriter>> Make(
      const TableColumn& column, int ordinal, const SuperfileId& superfile,
      const text::TextBuildMemory& memory);

  [[nodiscard]] arrow::Status Add(const arrow::RecordBatch& rows);

  [[nodiscard]] int64_t memory_bytes() const { return builder_->memory_bytes(); }

  /// What is in scratch files and will be in the superfile.
  [[nodiscard]] int64_t spilled_bytes() const { return builder_->spilled_bytes(); }

  [[nodiscard]] int32_t field_id() const { return field_id_; }

  /// Writes the blob at the sink's position. Called once, last.
  [[nodiscard]] arrow::Result<FinishedTextColumn> Finish(arrow::io::OutputStream& sink);

 private:
  int32_t field_id_;
  int ordinal_;
  std::unique_ptr<text::TextIndexBuilder> builder_;
};

}  // namespace infino
