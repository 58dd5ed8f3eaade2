#include "infino/commit/type_conversion.h"

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
#include <arrow/compare.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/datum.h>
#include <arrow/extension_type.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bitmap_ops.h>

#include "infino/commit/list_places.h"
#include "infino/common/type_families.h"
#include "infino/error.h"

namespace infino {
namespace {

using ArrayPtr = std::shared_ptr<arrow::Array>;

arrow::Status Invalid(std::string message) {
  return MakeError(ErrorKind::kInvalidArgument, std::move(message));
}

arrow::Status Mistyped(const arrow::DataType& from, const arrow::DataType& to,
                       const std::string& column) {
  return Invalid("column '" + column + "' is " + to.ToString() + " but the batch carries " +
                 from.ToString() + "; convert it before appending");
}

arrow::Status ValueLost(const arrow::DataType& from, const arrow::DataType& to,
                        const std::string& column, const std::string& why) {
  return Invalid("column '" + column + "' is " + to.ToString() + " and the batch carries " +
                 from.ToString() + " with values that would change: " + why);
}

arrow::Status NullInside(const std::string& column) {
  return Invalid("column '" + column + "' is declared not null but the batch carries a null in it");
}

bool IsDate(arrow::Type::type id) {
  return id == arrow::Type::DATE32 || id == arrow::Type::DATE64;
}

bool IsList(arrow::Type::type id) {
  return id == arrow::Type::LIST || id == arrow::Type::LARGE_LIST ||
         id == arrow::Type::FIXED_SIZE_LIST;
}

const std::string& ZoneOf(const arrow::DataType& type) {
  return static_cast<const arrow::TimestampType&>(type).timezone();
}

/// Whether both are points on the calendar, or both instants read in the same zone.
bool AreAlikeInTime(const arrow::DataType& from, const arrow::DataType& to) {
  const bool from_date = IsDate(from.id());
  const bool to_date = IsDate(to.id());
  if (!from_date && from.id() != arrow::Type::TIMESTAMP) return false;
  if (!to_date && to.id() != arrow::Type::TIMESTAMP) return false;
  const std::string from_zone = from_date ? std::string() : ZoneOf(from);
  const std::string to_zone = to_date ? std::string() : ZoneOf(to);
  return from_zone == to_zone;
}

/// Whether arrow::compute::Cast between the two, held against the way back, loses nothing.
bool AreScalarsAlike(const arrow::DataType& from, const arrow::DataType& to) {
  if (IsText(to.id())) return IsText(from.id());
  if (IsBytes(to.id())) return IsBytes(from.id());
  if (arrow::is_integer(to.id())) return arrow::is_integer(from.id());
  if (arrow::is_floating(to.id())) {
    return arrow::is_integer(from.id()) || arrow::is_floating(from.id());
  }
  if (arrow::is_decimal(to.id())) return arrow::is_decimal(from.id());
  if (arrow::is_time(to.id())) return arrow::is_time(from.id());
  if (to.id() == arrow::Type::DURATION) return from.id() == arrow::Type::DURATION;
  return AreAlikeInTime(from, to);
}

/// Whether a safe cast accepts values that it changes, so that the way back has to be looked at.
bool NeedsTheWayBack(const arrow::DataType& from, const arrow::DataType& to) {
  if (arrow::is_floating(to.id())) return true;
  return from.id() == arrow::Type::TIMESTAMP && IsDate(to.id());
}

const arrow::DictionaryType& AsDictionary(const arrow::DataType& type) {
  return static_cast<const arrow::DictionaryType&>(type);
}

arrow::Status CheckStruct(const arrow::DataType& from, const arrow::DataType& to,
                          const std::string& column) {
  const auto& source = static_cast<const arrow::StructType&>(from);
  const auto& target = static_cast<const arrow::StructType&>(to);
  for (const auto& field : source.fields()) {
    const std::string path = column + "." + field->name();
    if (target.GetAllFieldIndices(field->name()).empty()) {
      return Invalid("column '" + column + "' has no field '" + field->name() + "': it is " +
                     to.ToString());
    }
    if (source.GetAllFieldIndices(field->name()).size() > 1) {
      return Invalid("the batch carries the field '" + path + "' more than once");
    }
  }
  for (const auto& field : target.fields()) {
    const std::string path = column + "." + field->name();
    const int place = source.GetFieldIndex(field->name());
    if (place >= 0) {
      ARROW_RETURN_NOT_OK(CheckConvertible(*source.field(place)->type(), *field, path));
    } else if (!field->nullable()) {
      return Invalid("the batch lacks the field '" + path + "', which is declared not null");
    }
  }
  return arrow::Status::OK();
}

arrow::Status CheckList(const arrow::DataType& from, const arrow::DataType& to,
                        const std::string& column) {
  if (from.id() == arrow::Type::FIXED_SIZE_LIST && to.id() == arrow::Type::FIXED_SIZE_LIST &&
      static_cast<const arrow::FixedSizeListType&>(from).list_size() !=
          static_cast<const arrow::FixedSizeListType&>(to).list_size()) {
    return Mistyped(from, to, column);
  }
  const auto& source = static_cast<const arrow::BaseListType&>(from);
  const auto& target = static_cast<const arrow::BaseListType&>(to);
  return CheckConvertible(*source.value_type(), *target.value_field(),
                          column + "." + target.value_field()->name());
}

arrow::Status CheckMap(const arrow::DataType& from, const arrow::DataType& to,
                       const std::string& column) {
  const auto& source = static_cast<const arrow::MapType&>(from);
  const auto& target = static_cast<const arrow::MapType&>(to);
  ARROW_RETURN_NOT_OK(CheckConvertible(*source.key_type(), *target.key_field(), column + ".key"));
  return CheckConvertible(*source.item_type(), *target.item_field(), column + ".value");
}

/// One cast by Arrow, with its failure in our words.
arrow::Result<ArrayPtr> Cast(const arrow::Array& values, const std::shared_ptr<arrow::DataType>& to,
                             bool safe, const std::string& column) {
  auto options = safe ? arrow::compute::CastOptions::Safe() : arrow::compute::CastOptions::Unsafe();
  // Text was validated when it came in; nothing here makes other text of it.
  options.allow_invalid_utf8 = true;
  const arrow::Result<ArrayPtr> result =
      arrow::compute::Cast(values, arrow::TypeHolder(to), options);
  if (!result.ok()) {
    return ValueLost(*values.type(), *to, column, result.status().message());
  }
  return result;
}

arrow::Result<ArrayPtr> ConvertScalars(const arrow::Array& values,
                                       const std::shared_ptr<arrow::DataType>& to,
                                       const std::string& column) {
  if (!NeedsTheWayBack(*values.type(), *to)) return Cast(values, to, true, column);
  // The safe cast to floats looks at whole ranges only: it would refuse 2^60, and accept 0.1.
  ARROW_ASSIGN_OR_RAISE(ArrayPtr converted, Cast(values, to, false, column));
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr back, Cast(*converted, values.type(), true, column));
  if (!back->Equals(values, arrow::EqualOptions::Defaults().nans_equal(true))) {
    return ValueLost(*values.type(), *to, column, "they have no exact counterpart");
  }
  return converted;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ValidityOf(const arrow::Array& values) {
  if (values.null_count() == 0 || values.null_bitmap() == nullptr) {
    return std::shared_ptr<arrow::Buffer>();
  }
  return arrow::internal::CopyBitmap(arrow::default_memory_pool(), values.null_bitmap_data(),
                                     values.offset(), values.length());
}

template <typename Offset>
arrow::Result<std::shared_ptr<arrow::Buffer>> MakeOffsets(const ListPlaces& places,
                                                          const std::string& column) {
  arrow::TypedBufferBuilder<Offset> builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(places.lengths.size()) + 1));
  int64_t end = 0;
  builder.UnsafeAppend(0);
  for (const int64_t length : places.lengths) {
    end += length;
    if (end > std::numeric_limits<Offset>::max()) {
      return Invalid("column '" + column + "' carries too many list values in one piece");
    }
    builder.UnsafeAppend(static_cast<Offset>(end));
  }
  return builder.Finish();
}

arrow::Result<ArrayPtr> ConvertToFixedSizeLists(const arrow::Array& lists, const ListPlaces& places,
                                                const std::shared_ptr<arrow::DataType>& to,
                                                const std::string& column) {
  const auto& target = static_cast<const arrow::FixedSizeListType&>(*to);
  for (int64_t i = 0; i < lists.length(); ++i) {
    const int64_t length = places.lengths[static_cast<size_t>(i)];
    if (lists.IsValid(i) && length != target.list_size()) {
      return Invalid("column '" + column + "' holds lists of " +
                     std::to_string(target.list_size()) + " values but the batch carries one of " +
                     std::to_string(length));
    }
  }
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr gathered, GatherValues(lists, places, target.list_size()));
  ARROW_ASSIGN_OR_RAISE(
      const ArrayPtr values,
      ConvertArray(gathered, *target.value_field(), column + "." + target.value_field()->name()));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity, ValidityOf(lists));
  return arrow::MakeArray(arrow::ArrayData::Make(to, lists.length(), {std::move(validity)},
                                                 {values->data()}, lists.null_count()));
}

arrow::Result<ArrayPtr> ConvertLists(const arrow::Array& lists,
                                     const std::shared_ptr<arrow::DataType>& to,
                                     const std::string& column) {
  const ListPlaces places = PlacesOf(lists);
  if (to->id() == arrow::Type::FIXED_SIZE_LIST) {
    return ConvertToFixedSizeLists(lists, places, to, column);
  }
  const auto& field = static_cast<const arrow::BaseListType&>(*to).value_field();
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr gathered, GatherValues(lists, places, 0));
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr values,
                        ConvertArray(gathered, *field, column + "." + field->name()));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> offsets,
                        to->id() == arrow::Type::LARGE_LIST ? MakeOffsets<int64_t>(places, column)
                                                            : MakeOffsets<int32_t>(places, column));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity, ValidityOf(lists));
  return arrow::MakeArray(arrow::ArrayData::Make(to, lists.length(),
                                                 {std::move(validity), std::move(offsets)},
                                                 {values->data()}, lists.null_count()));
}

arrow::Result<ArrayPtr> ConvertStructs(const arrow::Array& array,
                                       const std::shared_ptr<arrow::DataType>& to,
                                       const std::string& column) {
  const auto& structs = static_cast<const arrow::StructArray&>(array);
  const auto& source = static_cast<const arrow::StructType&>(*array.type());
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  for (const auto& field : to->fields()) {
    const int place = source.GetFieldIndex(field->name());
    ArrayPtr child;
    if (place < 0) {
      ARROW_ASSIGN_OR_RAISE(child, arrow::MakeArrayOfNull(field->type(), structs.length()));
    } else {
      ARROW_ASSIGN_OR_RAISE(
          child, ConvertArray(structs.field(place), *field, column + "." + field->name()));
    }
    children.push_back(child->data());
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity, ValidityOf(array));
  return arrow::MakeArray(arrow::ArrayData::Make(to, array.length(), {std::move(validity)},
                                                 std::move(children), array.null_count()));
}

arrow::Result<ArrayPtr> ConvertMaps(const arrow::Array& array,
                                    const std::shared_ptr<arrow::DataType>& to,
                                    const std::string& column) {
  // A map is a list of entries, whose fields are found by place: their names are free.
  const auto& target = static_cast<const arrow::MapType&>(*to);
  const ListPlaces places = PlacesOf(array);
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr gathered, GatherValues(array, places, 0));
  const auto& entries = static_cast<const arrow::StructArray&>(*gathered);
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr keys,
                        ConvertArray(entries.field(0), *target.key_field(), column + ".key"));
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr items,
                        ConvertArray(entries.field(1), *target.item_field(), column + ".value"));
  auto converted = arrow::ArrayData::Make(target.value_type(), entries.length(), {nullptr},
                                          {keys->data(), items->data()}, 0);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> offsets,
                        MakeOffsets<int32_t>(places, column));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity, ValidityOf(array));
  return arrow::MakeArray(arrow::ArrayData::Make(to, array.length(),
                                                 {std::move(validity), std::move(offsets)},
                                                 {std::move(converted)}, array.null_count()));
}

/// What Take has no kernel for, in a layout that it has one for.
arrow::Result<ArrayPtr> WithoutViews(const ArrayPtr& values, const std::string& column) {
  switch (values->type_id()) {
    case arrow::Type::STRING_VIEW:
      return Cast(*values, arrow::large_utf8(), true, column);
    case arrow::Type::BINARY_VIEW:
      return Cast(*values, arrow::large_binary(), true, column);
    default:
      return values;
  }
}

/// The values a dictionary array stands for.
arrow::Result<ArrayPtr> Decode(const arrow::Array& array, const std::string& column) {
  const auto& encoded = static_cast<const arrow::DictionaryArray&>(array);
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr dictionary, WithoutViews(encoded.dictionary(), column));
  const arrow::Result<arrow::Datum> values =
      arrow::compute::Take(arrow::Datum(dictionary), arrow::Datum(encoded.indices()));
  if (!values.ok()) {
    return Invalid("column '" + column + "' carries a " + array.type()->ToString() +
                   " that can't be decoded: " + values.status().message());
  }
  return values->make_array();
}

arrow::Result<ArrayPtr> ConvertToDictionary(const ArrayPtr& values,
                                            const std::shared_ptr<arrow::DataType>& to,
                                            const std::string& column) {
  const auto& target = AsDictionary(*to);
  const arrow::Field value_field("value", target.value_type());
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr plain, ConvertArray(values, value_field, column));
  const arrow::Result<arrow::Datum> encoded = arrow::compute::DictionaryEncode(arrow::Datum(plain));
  if (!encoded.ok()) {
    return Invalid("column '" + column + "' is " + to->ToString() +
                   ", which can't be made of the batch's " + values->type()->ToString() + ": " +
                   encoded.status().message());
  }
  const ArrayPtr made = encoded->make_array();
  const auto& dictionary = static_cast<const arrow::DictionaryArray&>(*made);
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr indices,
                        Cast(*dictionary.indices(), target.index_type(), true, column));
  return std::make_shared<arrow::DictionaryArray>(to, indices, dictionary.dictionary());
}

}  // namespace

arrow::Status CheckConvertible(const arrow::DataType& from, const arrow::Field& to,
                               const std::string& column) {
  const arrow::DataType& target = *to.type();
  if (from.Equals(target)) return arrow::Status::OK();
  if (from.id() == arrow::Type::NA) {
    // Nulls that the field can't hold are found row by row: there may be no rows.
    return arrow::Status::OK();
  }
  if (from.id() == arrow::Type::EXTENSION) {
    const auto& storage = *static_cast<const arrow::ExtensionType&>(from).storage_type();
    return CheckConvertible(storage, to, column);
  }
  if (from.id() == arrow::Type::DICTIONARY) {
    return CheckConvertible(*AsDictionary(from).value_type(), to, column);
  }
  if (target.id() == arrow::Type::DICTIONARY) {
    const arrow::Field value_field("value", AsDictionary(target).value_type());
    return CheckConvertible(from, value_field, column);
  }
  if (IsList(from.id()) && IsList(target.id())) return CheckList(from, target, column);
  if (from.id() == arrow::Type::STRUCT && target.id() == arrow::Type::STRUCT) {
    return CheckStruct(from, target, column);
  }
  if (from.id() == arrow::Type::MAP && target.id() == arrow::Type::MAP) {
    return CheckMap(from, target, column);
  }
  if (AreScalarsAlike(from, target)) return arrow::Status::OK();
  return Mistyped(from, target, column);
}

arrow::Result<ArrayPtr> ConvertArray(const ArrayPtr& values, const arrow::Field& to,
                                     const std::string& column) {
  const arrow::DataType& from = *values->type();
  const std::shared_ptr<arrow::DataType>& target = to.type();
  if (from.Equals(*target)) return values;
  if (from.id() == arrow::Type::NA) return arrow::MakeArrayOfNull(target, values->length());
  if (from.id() == arrow::Type::EXTENSION) {
    return ConvertArray(static_cast<const arrow::ExtensionArray&>(*values).storage(), to, column);
  }
  if (from.id() == arrow::Type::DICTIONARY) {
    ARROW_ASSIGN_OR_RAISE(const ArrayPtr plain, Decode(*values, column));
    return ConvertArray(plain, to, column);
  }
  switch (target->id()) {
    case arrow::Type::DICTIONARY:
      return ConvertToDictionary(values, target, column);
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST:
      return ConvertLists(*values, target, column);
    case arrow::Type::STRUCT:
      return ConvertStructs(*values, target, column);
    case arrow::Type::MAP:
      return ConvertMaps(*values, target, column);
    default:
      return ConvertScalars(*values, target, column);
  }
}

namespace {

arrow::Status CheckChildNulls(const arrow::Array& child, const arrow::Field& field,
                              const std::string& column) {
  const std::string path = column + "." + field.name();
  if (!field.nullable() && child.ComputeLogicalNullCount() > 0) return NullInside(path);
  return CheckNestedNulls(child, path);
}

arrow::Status CheckStructNulls(const arrow::Array& values, const std::string& column) {
  const auto& structs = static_cast<const arrow::StructArray&>(values);
  for (int i = 0; i < structs.num_fields(); ++i) {
    const arrow::Field& field = *structs.type()->field(i);
    const ArrayPtr child = structs.field(i);
    const std::string path = column + "." + field.name();
    if (!field.nullable() && child->ComputeLogicalNullCount() > 0) {
      for (int64_t row = 0; row < structs.length(); ++row) {
        if (structs.IsValid(row) && child->IsNull(row)) return NullInside(path);
      }
    }
    ARROW_RETURN_NOT_OK(CheckNestedNulls(*child, path));
  }
  return arrow::Status::OK();
}

/// Whether a null can break a promise somewhere inside `type`; most types have no inside.
bool HasNotNullInside(const arrow::DataType& type) {
  for (const auto& field : type.fields()) {
    if (!field->nullable() || HasNotNullInside(*field->type())) return true;
  }
  return false;
}

}  // namespace

arrow::Status CheckNestedNulls(const arrow::Array& values, const std::string& column) {
  if (!HasNotNullInside(*values.type())) return arrow::Status::OK();
  if (values.type_id() == arrow::Type::STRUCT) return CheckStructNulls(values, column);
  if (!IsList(values.type_id()) && values.type_id() != arrow::Type::MAP) {
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr inside, GatherValues(values, PlacesOf(values), 0));
  return CheckChildNulls(*inside, *values.type()->field(0), column);
}

}  // namespace infino
