#include "infino/manifest/summary_codec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/writer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table_builder.h>
#include <arrow/type.h>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/manifest/arrow_object.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/object_names.h"
#include "infino/superfile/superfile_summary.h"

namespace infino {
namespace {

/// One row of a summary object: a filter, and whose it is.
struct FilterRow {
  size_t superfile = 0;  ///< Position in the argument of EncodeSummary.
  const TermFilter* filter = nullptr;

  [[nodiscard]] ByteSpan bytes() const {
    return {filter->filter->data(), static_cast<size_t>(filter->filter->size())};
  }
};

std::vector<FilterRow> RowsByColumn(std::span<const SuperfileFilters> superfiles) {
  std::vector<FilterRow> rows;
  for (size_t i = 0; i < superfiles.size(); ++i) {
    for (const TermFilter& filter : superfiles[i].filters) {
      rows.push_back({.superfile = i, .filter = &filter});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const FilterRow& a, const FilterRow& b) {
    return a.filter->field_id < b.filter->field_id;
  });
  return rows;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> WriteStream(
    const CommitId& commit, std::span<const SuperfileFilters> superfiles,
    const std::vector<FilterRow>& rows) {
  constexpr int kIdWidth = 16;
  const auto schema =
      arrow::schema({arrow::field("field_id", arrow::int32(), false),
                     arrow::field("superfile", arrow::fixed_size_binary(kIdWidth), false),
                     arrow::field("term_filter", arrow::large_binary(), false)},
                    ArrowObjectMetadata(kSummaryKind, commit));
  ARROW_ASSIGN_OR_RAISE(const auto builder,
                        arrow::RecordBatchBuilder::Make(schema, arrow::default_memory_pool()));
  for (const FilterRow& row : rows) {
    const SuperfileId& id = superfiles[row.superfile].superfile;
    const ByteSpan bytes = row.bytes();
    ARROW_RETURN_NOT_OK(builder->GetFieldAs<arrow::Int32Builder>(0)->Append(row.filter->field_id));
    ARROW_RETURN_NOT_OK(
        builder->GetFieldAs<arrow::FixedSizeBinaryBuilder>(1)->Append(id.bytes.data()));
    ARROW_RETURN_NOT_OK(builder->GetFieldAs<arrow::LargeBinaryBuilder>(2)->Append(
        bytes.data(), static_cast<int64_t>(bytes.size())));
  }
  ARROW_ASSIGN_OR_RAISE(const auto batch, builder->Flush());
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.use_threads = false;
  ARROW_ASSIGN_OR_RAISE(const auto sink, arrow::io::BufferOutputStream::Create());
  ARROW_ASSIGN_OR_RAISE(const auto stream, arrow::ipc::MakeStreamWriter(sink, schema, options));
  ARROW_RETURN_NOT_OK(stream->WriteRecordBatch(*batch));
  ARROW_RETURN_NOT_OK(stream->Close());
  return sink->Finish();
}

/// The filters are the last buffer of the one batch: before them everything else, behind them
/// padding and the end-of-stream mark.
int64_t OffsetOfFilters(const arrow::Buffer& bytes, int64_t filters_size) {
  constexpr int64_t kAlignment = 8;
  constexpr int64_t kEndOfStreamBytes = 8;
  const int64_t padded = (filters_size + kAlignment - 1) / kAlignment * kAlignment;
  return bytes.size() - kEndOfStreamBytes - padded;
}

}  // namespace

arrow::Result<std::optional<EncodedSummary>> EncodeSummary(
    const CommitId& commit, std::span<const SuperfileFilters> superfiles) {
  const std::vector<FilterRow> rows = RowsByColumn(superfiles);
  if (rows.empty()) return std::nullopt;
  EncodedSummary summary;
  auto written = WriteStream(commit, superfiles, rows);
  if (!written.ok()) return FromForeign(written.status(), "encode a manifest summary");
  summary.bytes = std::move(*written);
  const ByteSpan all(summary.bytes->data(), static_cast<size_t>(summary.bytes->size()));
  summary.ref.hash = Blake3(all);
  summary.ref.name = SummaryName(summary.ref.hash);
  summary.ref.size_bytes = summary.bytes->size();

  int64_t filters_size = 0;
  for (const FilterRow& row : rows) filters_size += row.filter->filter->size();
  int64_t offset = OffsetOfFilters(*summary.bytes, filters_size);
  summary.places.resize(superfiles.size());
  for (const FilterRow& row : rows) {
    const ByteSpan bytes = row.bytes();
    const ByteSpan placed = all.subspan(static_cast<size_t>(offset), bytes.size());
    if (!std::equal(bytes.begin(), bytes.end(), placed.begin())) {
      return MakeError(ErrorKind::kInternal, "encode a manifest summary: filters are not last");
    }
    const auto length = static_cast<int64_t>(bytes.size());
    summary.places[row.superfile].push_back({.field_id = row.filter->field_id,
                                             .summary = 0,
                                             .place = {.offset = offset, .length = length},
                                             .checksum = Crc32c(bytes)});
    offset += length;
  }
  return summary;
}

}  // namespace infino
