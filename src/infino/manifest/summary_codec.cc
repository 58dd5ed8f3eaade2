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
#include "infino/manifest/value_counts_codec.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/value_counts.h"

namespace infino {
namespace {

constexpr const char* kTermFilterKind = "term_filter";
constexpr const char* kValueCountsKind = "value_counts";

/// One row of a summary object: a filter or counts, and whose they are.
struct SummaryRow {
  size_t superfile = 0;  ///< Position in the argument of EncodeSummary.
  const char* kind = nullptr;
  int32_t field_id = 0;
  std::shared_ptr<arrow::Buffer> data;

  [[nodiscard]] ByteSpan bytes() const { return {data->data(), static_cast<size_t>(data->size())}; }
};

/// Filters, then counts, each by column and then by superfile.
std::vector<SummaryRow> RowsByColumn(std::span<const SummarizedSuperfile> superfiles) {
  std::vector<SummaryRow> rows;
  for (size_t i = 0; i < superfiles.size(); ++i) {
    for (const TermFilter& filter : superfiles[i].filters) {
      rows.push_back({.superfile = i,
                      .kind = kTermFilterKind,
                      .field_id = filter.field_id,
                      .data = filter.filter});
    }
  }
  const auto filter_count = static_cast<std::ptrdiff_t>(rows.size());
  for (size_t i = 0; i < superfiles.size(); ++i) {
    for (const ValueCounts& counts : superfiles[i].counts) {
      rows.push_back({.superfile = i,
                      .kind = kValueCountsKind,
                      .field_id = counts.field_id,
                      .data = EncodeValueCounts(counts)});
    }
  }
  const auto comes_before = [](const SummaryRow& a, const SummaryRow& b) {
    return a.field_id < b.field_id;
  };
  std::stable_sort(rows.begin(), rows.begin() + filter_count, comes_before);
  std::stable_sort(rows.begin() + filter_count, rows.end(), comes_before);
  return rows;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> WriteStream(
    const CommitId& commit, std::span<const SummarizedSuperfile> superfiles,
    const std::vector<SummaryRow>& rows) {
  constexpr int kIdWidth = 16;
  const auto schema = arrow::schema(
      {arrow::field("kind", arrow::utf8(), false), arrow::field("field_id", arrow::int32(), false),
       arrow::field("superfile", arrow::fixed_size_binary(kIdWidth), false),
       arrow::field("data", arrow::large_binary(), false)},
      ArrowObjectMetadata(kSummaryKind, commit));
  ARROW_ASSIGN_OR_RAISE(const auto builder,
                        arrow::RecordBatchBuilder::Make(schema, arrow::default_memory_pool()));
  for (const SummaryRow& row : rows) {
    const SuperfileId& id = superfiles[row.superfile].superfile;
    const ByteSpan bytes = row.bytes();
    ARROW_RETURN_NOT_OK(builder->GetFieldAs<arrow::StringBuilder>(0)->Append(row.kind));
    ARROW_RETURN_NOT_OK(builder->GetFieldAs<arrow::Int32Builder>(1)->Append(row.field_id));
    ARROW_RETURN_NOT_OK(
        builder->GetFieldAs<arrow::FixedSizeBinaryBuilder>(2)->Append(id.bytes.data()));
    ARROW_RETURN_NOT_OK(builder->GetFieldAs<arrow::LargeBinaryBuilder>(3)->Append(
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

/// The rows' data is the last buffer of the one batch: before them everything else, behind them
/// padding and the end-of-stream mark.
int64_t OffsetOfData(const arrow::Buffer& bytes, int64_t data_size) {
  constexpr int64_t kAlignment = 8;
  constexpr int64_t kEndOfStreamBytes = 8;
  const int64_t padded = (data_size + kAlignment - 1) / kAlignment * kAlignment;
  return bytes.size() - kEndOfStreamBytes - padded;
}

}  // namespace

arrow::Result<std::optional<EncodedSummary>> EncodeSummary(
    const CommitId& commit, std::span<const SummarizedSuperfile> superfiles) {
  const std::vector<SummaryRow> rows = RowsByColumn(superfiles);
  if (rows.empty()) return std::nullopt;
  EncodedSummary summary;
  auto written = WriteStream(commit, superfiles, rows);
  if (!written.ok()) return FromForeign(written.status(), "encode a manifest summary");
  summary.bytes = std::move(*written);
  const ByteSpan all(summary.bytes->data(), static_cast<size_t>(summary.bytes->size()));
  summary.ref.hash = Blake3(all);
  summary.ref.name = SummaryName(summary.ref.hash);
  summary.ref.size_bytes = summary.bytes->size();

  int64_t data_size = 0;
  for (const SummaryRow& row : rows) data_size += row.data->size();
  int64_t offset = OffsetOfData(*summary.bytes, data_size);
  summary.places.resize(superfiles.size());
  for (const SummaryRow& row : rows) {
    const ByteSpan bytes = row.bytes();
    const ByteSpan placed = all.subspan(static_cast<size_t>(offset), bytes.size());
    if (!std::equal(bytes.begin(), bytes.end(), placed.begin())) {
      return MakeError(ErrorKind::kInternal, "encode a manifest summary: the data is not last");
    }
    const auto length = static_cast<int64_t>(bytes.size());
    SummaryPlaces& places = summary.places[row.superfile];
    auto& refs = row.kind == kTermFilterKind ? places.term_filters : places.value_counts;
    refs.push_back({.field_id = row.field_id,
                    .summary = 0,
                    .place = {.offset = offset, .length = length},
                    .checksum = Crc32c(bytes)});
    offset += length;
  }
  return summary;
}

}  // namespace infino
