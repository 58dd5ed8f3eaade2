#include "infino/superfile/flat_layout.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

namespace infino {
namespace {

using arrow::internal::checked_cast;
using Shape = FlatLayout::Shape;
using TypePtr = std::shared_ptr<arrow::DataType>;

/// The type in which Parquet holds the values of `type`: dictionaries and extensions are their
/// values, and units that Parquet lacks are the next finer ones.
TypePtr StoredType(const TypePtr& type) {
  switch (type->id()) {
    case arrow::Type::DICTIONARY:
      return StoredType(checked_cast<const arrow::DictionaryType&>(*type).value_type());
    case arrow::Type::EXTENSION:
      return StoredType(checked_cast<const arrow::ExtensionType&>(*type).storage_type());
    case arrow::Type::DATE64:
      return arrow::date32();
    case arrow::Type::TIME32:
      return arrow::time32(arrow::TimeUnit::MILLI);
    case arrow::Type::TIMESTAMP: {
      const auto& timestamp = checked_cast<const arrow::TimestampType&>(*type);
      return timestamp.unit() == arrow::TimeUnit::SECOND
                 ? arrow::timestamp(arrow::TimeUnit::MILLI, timestamp.timezone())
                 : type;
    }
    default:
      return type;
  }
}

size_t ByteWidth(const arrow::DataType& type) {
  return static_cast<size_t>(checked_cast<const arrow::FixedWidthType&>(type).bit_width()) / 8;
}

FlatLayout DecimalLayout(const arrow::DataType& type) {
  const int32_t precision = checked_cast<const arrow::DecimalType&>(type).precision();
  return {.shape = Shape::kBigEndian,
          .stored_width = static_cast<size_t>(arrow::DecimalType::DecimalSize(precision)),
          .width = ByteWidth(type)};
}

std::optional<FlatLayout> LayoutOf(const arrow::DataType& type) {
  constexpr size_t kSmall = sizeof(int32_t);
  switch (type.id()) {
    case arrow::Type::BOOL:
      return FlatLayout{.shape = Shape::kBit, .width = 1};
    case arrow::Type::INT8:
    case arrow::Type::UINT8:
    case arrow::Type::INT16:
    case arrow::Type::UINT16:
    case arrow::Type::INT32:
    case arrow::Type::UINT32:
    case arrow::Type::DATE32:
    case arrow::Type::TIME32:
      return FlatLayout{.shape = Shape::kInteger, .stored_width = kSmall, .width = ByteWidth(type)};
    case arrow::Type::INT64:
    case arrow::Type::UINT64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
      return FlatLayout{
          .shape = Shape::kInteger, .stored_width = sizeof(int64_t), .width = sizeof(int64_t)};
    case arrow::Type::HALF_FLOAT:
    case arrow::Type::FLOAT:
    case arrow::Type::DOUBLE:
    case arrow::Type::FIXED_SIZE_BINARY:
      return FlatLayout{
          .shape = Shape::kFixed, .stored_width = ByteWidth(type), .width = ByteWidth(type)};
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
      return DecimalLayout(type);
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
      return FlatLayout{.shape = Shape::kBytes};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<FlatLayout> FlatLayoutOf(const arrow::Field& field) {
  TypePtr type = StoredType(field.type());
  std::optional<FlatLayout> layout = LayoutOf(*type);
  if (!layout || (layout->shape == Shape::kFixed && layout->width == 0)) return std::nullopt;
  layout->nullable = field.nullable();
  layout->type = std::move(type);
  return layout;
}

}  // namespace infino
