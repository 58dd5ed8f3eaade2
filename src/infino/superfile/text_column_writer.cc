#include "infino/superfile/text_column_writer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/bloom_filter.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/superfile/column_stats.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

/// The filter's size is known only when all terms have been seen.
TermFilter FilterOf(int32_t field_id, const std::vector<uint64_t>& term_hashes) {
  BloomFilterBuilder builder(term_hashes.size());
  for (const uint64_t hash : term_hashes) builder.AddHash(hash);
  return {.field_id = field_id, .filter = ToBuffer(builder.Finish())};
}

}  // namespace

TextColumnWriter::TextColumnWriter(int32_t field_id, int ordinal,
                                   std::unique_ptr<text::TextIndexBuilder> builder)
    : field_id_(field_id), ordinal_(ordinal), builder_(std::move(builder)) {}

arrow::Result<std::unique_ptr<TextColumnWriter>> TextColumnWriter::Make(
    const TableColumn& column, int ordinal, const SuperfileId& superfile,
    const text::TextBuildMemory& memory) {
  ARROW_ASSIGN_OR_RAISE(auto builder,
                        text::TextIndexBuilder::Make(*column.text, superfile, memory));
  return std::make_unique<TextColumnWriter>(column.field_id, ordinal, std::move(builder));
}

arrow::Status TextColumnWriter::Add(const arrow::RecordBatch& rows) {
  return builder_->Add(*rows.column(ordinal_));
}

arrow::Result<FinishedTextColumn> TextColumnWriter::Finish(arrow::io::OutputStream& sink) {
  ARROW_ASSIGN_OR_RAISE(const int64_t start, sink.Tell());
  std::vector<uint64_t> term_hashes;
  ARROW_ASSIGN_OR_RAISE(text::FinishedTextIndex index,
                        builder_->Finish(sink, [&](std::string_view term) {
                          term_hashes.push_back(BloomFilterBuilder::HashOf(term));
                        }));
  builder_.reset();
  ARROW_ASSIGN_OR_RAISE(const int64_t end, sink.Tell());
  if (end - start != index.blob_length) {
    return MakeError(ErrorKind::kInternal,
                     "write a text index: blob length=" + std::to_string(end - start) +
                         ", reported=" + std::to_string(index.blob_length));
  }
  FinishedTextColumn finished;
  finished.open_part = std::move(index.open_part);
  finished.summary = {.field_id = field_id_,
                      .rows_with_token = index.summary.rows_with_token,
                      .token_total = index.summary.token_total,
                      .term_count = index.summary.term_count,
                      .min_term = LowerBoundOf(index.summary.min_term, /*is_text=*/true).bound,
                      .max_term = UpperBoundOf(index.summary.max_term, /*is_text=*/true).bound};
  finished.filter = FilterOf(field_id_, term_hashes);
  return finished;
}

}  // namespace infino
