#include "infino/commit/vector_conversion.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <arrow/array/array_base.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/util.h>
#include <arrow/compute/cast.h>
#include <arrow/extension_type.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

#include "infino/commit/list_places.h"
#include "infino/error.h"

namespace infino {
namespace {

using ArrayPtr = std::shared_ptr<arrow::Array>;
using arrow::internal::checked_cast;

arrow::Status Mistyped(const arrow::DataType& from, const arrow::Field& to) {
  return MakeError(ErrorKind::kInvalidArgument, "column '" + to.name() + "' is " +
                                                    to.type()->ToString() +
                                                    " but the batch carries " + from.ToString() +
                                                    "; convert it before appending");
}

bool IsList(arrow::Type::type id) {
  return id == arrow::Type::LIST || id == arrow::Type::LARGE_LIST ||
         id == arrow::Type::FIXED_SIZE_LIST || id == arrow::Type::LIST_VIEW ||
         id == arrow::Type::LARGE_LIST_VIEW;
}

/// Vectors of one column on their way.
class VectorConversion {
 public:
  VectorConversion(const arrow::Field& to, uint64_t first_row)
      : to_(to),
        dimension_(checked_cast<const arrow::FixedSizeListType&>(*to.type()).list_size()),
        first_row_(first_row) {}

  [[nodiscard]] arrow::Result<ArrayPtr> Convert(const arrow::Array& lists) const {
    const ListPlaces places = PlacesOf(lists);
    for (int64_t row = 0; row < lists.length(); ++row) {
      if (lists.IsNull(row)) return Refuse(row, "a vector can't be null");
      const int64_t length = places.lengths[static_cast<size_t>(row)];
      if (length != dimension_) {
        return Refuse(row, "the vector has " + std::to_string(length) +
                               " dimensions; the column has " + std::to_string(dimension_));
      }
    }
    ARROW_ASSIGN_OR_RAISE(const ArrayPtr numbers, GatherValues(lists, places, 0));
    if (numbers->ComputeLogicalNullCount() > 0) {
      int64_t place = 0;
      while (numbers->IsValid(place)) ++place;
      return RefuseNumber(place, "a null");
    }
    ARROW_ASSIGN_OR_RAISE(const ArrayPtr floats, ToFloats(numbers));
    return std::make_shared<arrow::FixedSizeListArray>(to_.type(), lists.length(), floats);
  }

  [[nodiscard]] arrow::Status Refuse(int64_t row, const std::string& what) const {
    return MakeError(ErrorKind::kInvalidArgument,
                     "row " + std::to_string(first_row_ + static_cast<uint64_t>(row)) +
                         ": column '" + to_.name() + "': " + what);
  }

 private:
  [[nodiscard]] arrow::Status RefuseNumber(int64_t place, const std::string& what) const {
    return Refuse(place / dimension_,
                  "the vector has " + what + " at " + std::to_string(place % dimension_));
  }

  [[nodiscard]] arrow::Result<ArrayPtr> ToFloats(const ArrayPtr& numbers) const {
    ArrayPtr converted = numbers;
    if (numbers->type_id() != arrow::Type::FLOAT) {
      const auto cast = arrow::compute::Cast(*numbers, arrow::TypeHolder(arrow::float32()),
                                             arrow::compute::CastOptions::Unsafe());
      if (!cast.ok()) return FromForeign(cast.status(), "column '" + to_.name() + "'");
      converted = *cast;
    }
    const auto& floats = checked_cast<const arrow::FloatArray&>(*converted);
    for (int64_t place = 0; place < floats.length(); ++place) {
      const float number = floats.Value(place);
      if (std::isfinite(number)) continue;
      if (std::isnan(number)) return RefuseNumber(place, "a NaN");
      const bool was_finite =
          numbers->type_id() == arrow::Type::DOUBLE &&
          std::isfinite(checked_cast<const arrow::DoubleArray&>(*numbers).Value(place));
      return RefuseNumber(place, was_finite ? "a number that a float can't hold" : "an infinity");
    }
    return converted;
  }

  const arrow::Field& to_;
  int64_t dimension_;
  uint64_t first_row_;
};

}  // namespace

arrow::Status CheckConvertibleVectors(const arrow::DataType& from, const arrow::Field& to) {
  if (from.id() == arrow::Type::EXTENSION) {
    return CheckConvertibleVectors(*checked_cast<const arrow::ExtensionType&>(from).storage_type(),
                                   to);
  }
  // Nulls are found row by row.
  if (from.id() == arrow::Type::NA) return arrow::Status::OK();
  if (!IsList(from.id())) return Mistyped(from, to);
  const arrow::Type::type number = from.field(0)->type()->id();
  const bool is_number = arrow::is_floating(number) || arrow::is_integer(number);
  if (!is_number && number != arrow::Type::NA) return Mistyped(from, to);
  if (from.id() == arrow::Type::FIXED_SIZE_LIST &&
      checked_cast<const arrow::FixedSizeListType&>(from).list_size() !=
          checked_cast<const arrow::FixedSizeListType&>(*to.type()).list_size()) {
    return Mistyped(from, to);
  }
  return arrow::Status::OK();
}

arrow::Result<ArrayPtr> ConvertVectors(const ArrayPtr& values, const arrow::Field& to,
                                       uint64_t first_row) {
  if (values->type_id() == arrow::Type::EXTENSION) {
    return ConvertVectors(checked_cast<const arrow::ExtensionArray&>(*values).storage(), to,
                          first_row);
  }
  const VectorConversion conversion(to, first_row);
  if (values->type_id() == arrow::Type::NA) {
    if (values->length() > 0) return conversion.Refuse(0, "a vector can't be null");
    return arrow::MakeEmptyArray(to.type());
  }
  return conversion.Convert(*values);
}

}  // namespace infino
