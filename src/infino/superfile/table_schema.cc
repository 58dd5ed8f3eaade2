#include "infino/superfile/table_schema.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <arrow/type.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/key_value_metadata.h>

namespace infino {
namespace {

std::shared_ptr<arrow::Field> WithFieldId(const arrow::Field& field, int32_t field_id) {
  return field.WithMetadata(
      arrow::key_value_metadata({std::string(kFieldIdKey)}, {std::to_string(field_id)}));
}

}  // namespace

std::optional<int32_t> FieldIdOf(const arrow::Field& field) {
  if (!field.HasMetadata()) return std::nullopt;
  const auto text = field.metadata()->Get(kFieldIdKey);
  if (!text.ok()) return std::nullopt;
  int32_t field_id = 0;
  const char* end = text->data() + text->size();
  const auto [parsed, error] = std::from_chars(text->data(), end, field_id);
  if (error != std::errc() || parsed != end || field_id < 0) return std::nullopt;
  return field_id;
}

std::optional<uint32_t> DimensionOf(const arrow::DataType& type) {
  if (type.id() != arrow::Type::FIXED_SIZE_LIST) return std::nullopt;
  const auto& list = arrow::internal::checked_cast<const arrow::FixedSizeListType&>(type);
  if (list.value_type()->id() != arrow::Type::FLOAT || list.list_size() < 0) return std::nullopt;
  return static_cast<uint32_t>(list.list_size());
}

std::shared_ptr<arrow::Field> IdField() {
  return arrow::field(std::string(kIdColumn), arrow::decimal128(38, 0), /*nullable=*/false);
}

const TableColumn* TableSchema::Find(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const TableColumn& column) {
    return column.field->name() == name;
  });
  return found == columns.end() ? nullptr : &*found;
}

const TableColumn* TableSchema::FindById(int32_t field_id) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const TableColumn& column) {
    return column.field_id == field_id;
  });
  return found == columns.end() ? nullptr : &*found;
}

bool TableSchema::IsDropped(int32_t field_id) const {
  return std::ranges::binary_search(dropped_field_ids, field_id);
}

std::shared_ptr<arrow::Schema> TableSchema::ToArrow() const {
  arrow::FieldVector fields;
  fields.reserve(columns.size());
  for (const TableColumn& column : columns) fields.push_back(column.field->RemoveMetadata());
  return arrow::schema(std::move(fields));
}

std::shared_ptr<arrow::Schema> TableSchema::ToFileSchema() const {
  arrow::FieldVector fields = {WithFieldId(*IdField(), kIdFieldId)};
  for (const TableColumn& column : columns) {
    if (column.stored()) fields.push_back(WithFieldId(*column.field, column.field_id));
  }
  return arrow::schema(std::move(fields));
}

}  // namespace infino
