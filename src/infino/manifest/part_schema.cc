#include "infino/manifest/part_schema.h"

#include <memory>
#include <utility>

#include <arrow/type.h>

namespace infino {
namespace {

std::shared_ptr<arrow::Field> Required(const char* name, std::shared_ptr<arrow::DataType> type) {
  return arrow::field(name, std::move(type), /*nullable=*/false);
}

std::shared_ptr<arrow::DataType> ListOf(arrow::FieldVector fields) {
  return arrow::list(Required("item", arrow::struct_(std::move(fields))));
}

std::shared_ptr<arrow::DataType> ColumnsType() {
  return ListOf({Required("field_id", arrow::int32()), Required("null_count", arrow::int64()),
                 arrow::field("min", arrow::binary()), arrow::field("max", arrow::binary()),
                 Required("min_exact", arrow::boolean()), Required("max_exact", arrow::boolean()),
                 Required("has_nan", arrow::boolean())});
}

std::shared_ptr<arrow::DataType> TextsType() {
  return ListOf({Required("field_id", arrow::int32()), Required("rows_with_token", arrow::int64()),
                 Required("token_total", arrow::int64()), Required("term_count", arrow::int64()),
                 Required("min_term", arrow::binary()), Required("max_term", arrow::binary())});
}

std::shared_ptr<arrow::DataType> SummaryRefsType() {
  return ListOf({Required("field_id", arrow::int32()), Required("offset", arrow::int64()),
                 Required("length", arrow::int64()), Required("crc32c", arrow::uint32())});
}

std::shared_ptr<arrow::DataType> TombstonesType() {
  return arrow::struct_(
      {Required("name", arrow::utf8()), Required("hash", arrow::fixed_size_binary(kHashWidth)),
       Required("size_bytes", arrow::int64()), Required("deleted_count", arrow::int64())});
}

}  // namespace

std::shared_ptr<arrow::Schema> PartSchema() {
  const auto id = arrow::fixed_size_binary(kIdWidth);
  const auto hash = arrow::fixed_size_binary(kHashWidth);
  const auto row_id = arrow::decimal128(kRowIdDigits, 0);
  return arrow::schema({
      Required("id", id),
      Required("size_bytes", arrow::int64()),
      Required("open_offset", arrow::int64()),
      Required("open_length", arrow::int64()),
      Required("footer_length", arrow::int64()),
      Required("footer_crc32c", arrow::uint32()),
      Required("hash", hash),
      Required("row_count", arrow::int64()),
      Required("min_id", row_id),
      Required("max_id", row_id),
      Required("schema_id", arrow::int32()),
      Required("commit", id),
      Required("columns", ColumnsType()),
      Required("texts", TextsType()),
      Required("term_filters", SummaryRefsType()),
      Required("value_counts", SummaryRefsType()),
      arrow::field("summary_hash", hash),
      arrow::field("summary_size", arrow::int64()),
      arrow::field("tombstones", TombstonesType()),
  });
}

}  // namespace infino
