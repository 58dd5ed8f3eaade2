#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "infino/common/ids.h"
#include "infino/index_spec.h"

namespace infino {

/// Ends the program, with the message, unless `status` is a success: for setting a test up.
void MustSucceed(const arrow::Status& status);

/// A text, or null.
using NullableText = std::optional<std::string>;

/// The columns of the tables that tests build: `row` int64, not null, counts rows from 0, so that a
/// result shows which rows it has; `text` large_utf8 is what is searched.
[[nodiscard]] std::shared_ptr<arrow::Schema> RowTextSchema();

/// A keyword index over `text`.
[[nodiscard]] IndexSpec TextIndex(const TextIndexOptions& options = {});

/// Rows of RowTextSchema, numbered from `first_row` on.
[[nodiscard]] std::shared_ptr<arrow::RecordBatch> RowsOf(std::span<const NullableText> texts,
                                                         int64_t first_row = 0);

/// The same as a stream of one batch, as appends take it.
[[nodiscard]] std::shared_ptr<arrow::RecordBatchReader> ReaderOf(
    std::span<const NullableText> texts, int64_t first_row = 0);

[[nodiscard]] std::shared_ptr<arrow::RecordBatchReader> ReaderOf(
    std::shared_ptr<arrow::RecordBatch> batch);

/// `count` texts cut into `parts` runs of nearly equal length: where each begins, and the end.
[[nodiscard]] std::vector<size_t> CutEvenly(size_t count, size_t parts);

/// The values of a result's columns.
[[nodiscard]] std::vector<int64_t> Int64Column(const arrow::Table& table, std::string_view name);
[[nodiscard]] std::vector<float> FloatColumn(const arrow::Table& table, std::string_view name);
[[nodiscard]] std::vector<NullableText> TextColumn(const arrow::Table& table,
                                                   std::string_view name);
[[nodiscard]] std::vector<RowId> IdColumn(const arrow::Table& table);

}  // namespace infino
