#include "infino/manifest/points_codec.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/key_value_metadata.h>

#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/vector_column.h"
#include "infino/manifest/arrow_object.h"
#include "infino/manifest/json_fields.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/object_names.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

constexpr std::string_view kFieldIdMetadata = "inf.field_id";
constexpr std::string_view kSpreadMetadata = "inf.spread";

std::shared_ptr<arrow::Schema> PointsSchema(size_t dimension) {
  const auto number = arrow::field("item", arrow::float32(), /*nullable=*/false);
  return arrow::schema(
      {arrow::field("point", arrow::fixed_size_list(number, static_cast<int32_t>(dimension)),
                    /*nullable=*/false)});
}

/// The shortest decimal text that reads back as `number`.
std::string TextOf(double number) {
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), written.ptr};
}

template <typename Number>
std::optional<Number> NumberIn(const arrow::KeyValueMetadata& metadata, std::string_view key) {
  const auto text = metadata.Get(key);
  if (!text.ok()) return std::nullopt;
  Number number{};
  const char* const end = text->data() + text->size();
  const auto [parsed, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || parsed != end) return std::nullopt;
  return number;
}

bool IsSpread(double spread) {
  return std::isfinite(spread) && spread >= 0;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> Encode(const ReferencePoints& points,
                                                     const CommitId& commit) {
  const vector::PointList& list = *points.list;
  arrow::FloatBuilder builder;
  ARROW_RETURN_NOT_OK(
      builder.AppendValues(list.values().data(), static_cast<int64_t>(list.values().size())));
  ARROW_ASSIGN_OR_RAISE(const auto values, builder.Finish());
  const auto schema = PointsSchema(list.dimension());
  const auto column = std::make_shared<arrow::FixedSizeListArray>(
      schema->field(0)->type(), static_cast<int64_t>(list.size()), values);
  const auto batch = arrow::RecordBatch::Make(schema, column->length(), arrow::ArrayVector{column});
  const auto metadata = ArrowObjectMetadata(kPointsKind, commit)->Copy();
  metadata->Append(std::string(kFieldIdMetadata), std::to_string(points.field_id));
  metadata->Append(std::string(kSpreadMetadata), TextOf(points.spread));
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.use_threads = false;
  ARROW_ASSIGN_OR_RAISE(const auto sink, arrow::io::BufferOutputStream::Create());
  ARROW_ASSIGN_OR_RAISE(const auto stream, arrow::ipc::MakeStreamWriter(
                                               sink, schema->WithMetadata(metadata), options));
  ARROW_RETURN_NOT_OK(stream->WriteRecordBatch(*batch));
  ARROW_RETURN_NOT_OK(stream->Close());
  return sink->Finish();
}

arrow::Status Take(const arrow::RecordBatch& batch, std::string_view object,
                   ReferencePoints* points) {
  const auto field_id = NumberIn<int32_t>(*batch.schema()->metadata(), kFieldIdMetadata);
  if (!field_id || *field_id <= kIdFieldId) return CorruptObject(object, "bad field id");
  const auto spread = NumberIn<double>(*batch.schema()->metadata(), kSpreadMetadata);
  if (!spread || !IsSpread(*spread)) return CorruptObject(object, "bad spread");
  const std::optional<uint32_t> dimension =
      batch.num_columns() == 1 ? DimensionOf(*batch.column(0)->type()) : std::nullopt;
  if (!dimension || *dimension < vector::kDimensionMin || *dimension > vector::kDimensionMax ||
      !batch.schema()->Equals(*PointsSchema(*dimension), /*check_metadata=*/false)) {
    return CorruptObject(object,
                         "not the schema of reference points: " + batch.schema()->ToString());
  }
  ARROW_RETURN_NOT_OK(CheckNoNulls(batch, object));
  if (batch.num_rows() > static_cast<int64_t>(vector::kPointsMax)) {
    return CorruptObject(object, "too many reference points");
  }
  const auto& column =
      arrow::internal::checked_cast<const arrow::FixedSizeListArray&>(*batch.column(0));
  const auto& values = arrow::internal::checked_cast<const arrow::FloatArray&>(*column.values());
  const float* const first = values.raw_values() + column.value_offset(0);
  const int64_t count = batch.num_rows() * *dimension;
  auto list = vector::PointList::Make(*dimension, std::vector<float>(first, first + count));
  if (!list.ok()) return CorruptObject(object, list.status().message());
  *points = {.field_id = *field_id, .list = std::move(*list), .spread = *spread};
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Buffer>> EncodePoints(const ReferencePoints& points,
                                                           const CommitId& commit) {
  if (!IsSpread(points.spread)) {
    return MakeError(ErrorKind::kInternal,
                     "encode reference points: bad spread=" + std::to_string(points.spread));
  }
  auto bytes = Encode(points, commit);
  if (!bytes.ok()) return FromForeign(bytes.status(), "encode reference points");
  return bytes;
}

arrow::Result<ReferencePoints> DecodePoints(const arrow::Buffer& bytes, std::string_view object) {
  // Nothing in it is compressed.
  constexpr int64_t kSlackBytes = int64_t{1} << 20;
  ReferencePoints points;
  ARROW_RETURN_NOT_OK(
      ReadArrowObject(bytes, kPointsKind, object, bytes.size() + kSlackBytes,
                      [&](const CommitId& /*commit*/, const arrow::RecordBatch& batch) {
                        return Take(batch, object, &points);
                      }));
  return points;
}

ObjectRef RefOfPoints(const arrow::Buffer& bytes) {
  const ContentHash hash = Blake3({bytes.data(), static_cast<size_t>(bytes.size())});
  return {.name = PointsName(hash), .hash = hash, .size_bytes = bytes.size()};
}

}  // namespace infino
