#include "infino/superfile/widening.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/data.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/buffer_builder.h>
#include <arrow/compute/cast.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/checked_cast.h>

#include "infino/common/type_families.h"
#include "infino/error.h"

namespace infino {
namespace {

using arrow::internal::checked_cast;
using ArrayPtr = std::shared_ptr<arrow::Array>;

/// Integers of at most so many bits have all of their values among those of float64.
constexpr int kExactIntegerBits = 32;

bool IsList(arrow::Type::type id) {
  return id == arrow::Type::LIST || id == arrow::Type::LARGE_LIST;
}

int BitsOf(const arrow::DataType& type) {
  return checked_cast<const arrow::FixedWidthType&>(type).bit_width();
}

bool IsWideningNumber(const arrow::DataType& from, const arrow::DataType& to) {
  if (arrow::is_integer(from.id())) {
    if (to.id() == arrow::Type::DOUBLE) return BitsOf(from) <= kExactIntegerBits;
    if (!arrow::is_integer(to.id()) || BitsOf(to) <= BitsOf(from)) return false;
    return arrow::is_signed_integer(to.id()) || arrow::is_unsigned_integer(from.id());
  }
  if (arrow::is_floating(from.id())) {
    return arrow::is_floating(to.id()) && BitsOf(to) > BitsOf(from);
  }
  if (!arrow::is_decimal(from.id()) || !arrow::is_decimal(to.id())) return false;
  const auto& narrow = checked_cast<const arrow::DecimalType&>(from);
  const auto& wide = checked_cast<const arrow::DecimalType&>(to);
  return wide.scale() == narrow.scale() && wide.precision() >= narrow.precision() &&
         BitsOf(to) >= BitsOf(from);
}

bool IsWideningField(const arrow::Field& from, const arrow::Field& to) {
  return (to.nullable() || !from.nullable()) && IsWidening(*from.type(), *to.type());
}

bool IsWideningStruct(const arrow::StructType& from, const arrow::StructType& to) {
  for (const auto& field : from.fields()) {
    const auto same = to.GetAllFieldsByName(field->name());
    if (same.size() != 1 || from.GetAllFieldIndices(field->name()).size() != 1) return false;
    if (!IsWideningField(*field, *same.front())) return false;
  }
  return std::ranges::all_of(to.fields(), [&](const auto& field) {
    return field->nullable() || from.GetFieldIndex(field->name()) >= 0;
  });
}

/// The validity bits of an array, from its first row on.
arrow::Result<std::shared_ptr<arrow::Buffer>> ValidityOf(const arrow::Array& values) {
  if (values.null_count() == 0 || values.null_bitmap() == nullptr) {
    return std::shared_ptr<arrow::Buffer>();
  }
  return arrow::internal::CopyBitmap(arrow::default_memory_pool(), values.null_bitmap_data(),
                                     values.offset(), values.length());
}

template <typename FromArray, typename ToOffset>
arrow::Result<ArrayPtr> WidenLists(const FromArray& lists,
                                   const std::shared_ptr<arrow::DataType>& to) {
  const auto begin = static_cast<int64_t>(lists.value_offset(0));
  const auto end = static_cast<int64_t>(lists.value_offset(lists.length()));
  if (end - begin > std::numeric_limits<ToOffset>::max()) {
    return MakeError(ErrorKind::kResourceExhausted,
                     "read a column of type " + to->ToString() +
                         ": its lists have too many values in one piece; ask for fewer rows");
  }
  arrow::TypedBufferBuilder<ToOffset> offsets;
  ARROW_RETURN_NOT_OK(offsets.Reserve(lists.length() + 1));
  for (int64_t i = 0; i <= lists.length(); ++i) {
    offsets.UnsafeAppend(
        static_cast<ToOffset>(static_cast<int64_t>(lists.value_offset(i)) - begin));
  }
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr values,
                        Widen(lists.values()->Slice(begin, end - begin),
                              checked_cast<const arrow::BaseListType&>(*to).value_type()));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity, ValidityOf(lists));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> places, offsets.Finish());
  return arrow::MakeArray(arrow::ArrayData::Make(to, lists.length(),
                                                 {std::move(validity), std::move(places)},
                                                 {values->data()}, lists.null_count()));
}

arrow::Result<ArrayPtr> WidenLists(const arrow::Array& values,
                                   const std::shared_ptr<arrow::DataType>& to) {
  const bool becomes_large = to->id() == arrow::Type::LARGE_LIST;
  if (values.type_id() == arrow::Type::LARGE_LIST) {
    const auto& lists = checked_cast<const arrow::LargeListArray&>(values);
    return becomes_large ? WidenLists<arrow::LargeListArray, int64_t>(lists, to)
                         : WidenLists<arrow::LargeListArray, int32_t>(lists, to);
  }
  const auto& lists = checked_cast<const arrow::ListArray&>(values);
  return becomes_large ? WidenLists<arrow::ListArray, int64_t>(lists, to)
                       : WidenLists<arrow::ListArray, int32_t>(lists, to);
}

arrow::Result<ArrayPtr> WidenStructs(const arrow::Array& values,
                                     const std::shared_ptr<arrow::DataType>& to) {
  const auto& structs = checked_cast<const arrow::StructArray&>(values);
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  for (const auto& field : to->fields()) {
    const int place = structs.struct_type()->GetFieldIndex(field->name());
    ArrayPtr child;
    if (place < 0) {
      ARROW_ASSIGN_OR_RAISE(child, arrow::MakeArrayOfNull(field->type(), structs.length()));
    } else {
      ARROW_ASSIGN_OR_RAISE(child, Widen(structs.field(place), field->type()));
    }
    children.push_back(child->data());
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity, ValidityOf(values));
  return arrow::MakeArray(arrow::ArrayData::Make(to, values.length(), {std::move(validity)},
                                                 std::move(children), values.null_count()));
}

}  // namespace

bool IsWidening(const arrow::DataType& from, const arrow::DataType& to) {
  if (from.Equals(to)) return true;
  if (IsText(from.id())) return IsText(to.id());
  if (IsBytes(from.id())) return IsBytes(to.id());
  if (IsList(from.id()) && IsList(to.id())) {
    return IsWideningField(*from.field(0), *to.field(0));
  }
  if (from.id() == arrow::Type::STRUCT && to.id() == arrow::Type::STRUCT) {
    return IsWideningStruct(checked_cast<const arrow::StructType&>(from),
                            checked_cast<const arrow::StructType&>(to));
  }
  return IsWideningNumber(from, to);
}

arrow::Result<ArrayPtr> Widen(const ArrayPtr& values, const std::shared_ptr<arrow::DataType>& to) {
  if (values->type()->Equals(*to)) return values;
  if (IsList(to->id())) return WidenLists(*values, to);
  if (to->id() == arrow::Type::STRUCT) return WidenStructs(*values, to);
  auto options = arrow::compute::CastOptions::Safe();
  // Text was validated before it was written.
  options.allow_invalid_utf8 = true;
  arrow::Result<ArrayPtr> wide = arrow::compute::Cast(*values, arrow::TypeHolder(to), options);
  if (wide.ok()) return wide;
  return FromForeign(wide.status(), "read a column of type " + values->type()->ToString() + " as " +
                                        to->ToString());
}

}  // namespace infino
