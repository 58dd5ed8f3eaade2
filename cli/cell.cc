#include "cli/cell.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/scalar.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/float16.h>
#include <arrow/visit_array_inline.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/json.h"

namespace infino::cli {

namespace {

/// Turns row `row` of the visited array into JSON.
struct JsonVisitor {
  int64_t row = 0;
  nlohmann::json json;

  arrow::Status Visit(const arrow::NullArray& /*array*/) { return arrow::Status::OK(); }

  arrow::Status Visit(const arrow::BooleanArray& array) {
    json = array.Value(row);
    return arrow::Status::OK();
  }

  arrow::Status Visit(const arrow::HalfFloatArray& array) {
    return SetNumber(
        static_cast<double>(arrow::util::Float16::FromBits(array.Value(row)).ToFloat()));
  }

  template <typename Type>
  arrow::enable_if_integer<Type, arrow::Status> Visit(const arrow::NumericArray<Type>& array) {
    json = array.Value(row);
    return arrow::Status::OK();
  }

  arrow::Status Visit(const arrow::FloatArray& array) {
    // The double that has the float's shortest digits, so that 0.1F is shown as 0.1.
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), array.Value(row)).ptr;
    double value = 0;
    std::from_chars(digits.begin(), end, value);
    return SetNumber(value);
  }

  arrow::Status Visit(const arrow::DoubleArray& array) { return SetNumber(array.Value(row)); }

  arrow::Status Visit(const arrow::StringArray& array) { return SetText(array.GetView(row)); }

  arrow::Status Visit(const arrow::LargeStringArray& array) { return SetText(array.GetView(row)); }

  arrow::Status Visit(const arrow::StringViewArray& array) { return SetText(array.GetView(row)); }

  arrow::Status Visit(const arrow::BinaryArray& array) { return SetHex(array.GetView(row)); }

  arrow::Status Visit(const arrow::LargeBinaryArray& array) { return SetHex(array.GetView(row)); }

  arrow::Status Visit(const arrow::BinaryViewArray& array) { return SetHex(array.GetView(row)); }

  arrow::Status Visit(const arrow::Decimal128Array& array) {
    return SetText(array.FormatValue(row));
  }

  arrow::Status Visit(const arrow::Decimal256Array& array) {
    return SetText(array.FormatValue(row));
  }

  arrow::Status Visit(const arrow::FixedSizeBinaryArray& array) {
    return SetHex(array.GetView(row));
  }

  arrow::Status Visit(const arrow::ListArray& array) {
    return SetList(*array.values(), array.value_offset(row), array.value_length(row));
  }

  arrow::Status Visit(const arrow::LargeListArray& array) {
    return SetList(*array.values(), array.value_offset(row), array.value_length(row));
  }

  arrow::Status Visit(const arrow::FixedSizeListArray& array) {
    return SetList(*array.values(), array.value_offset(row), array.value_length(row));
  }

  arrow::Status Visit(const arrow::MapArray& array) {
    json = nlohmann::json::array();
    const int64_t end = array.value_offset(row) + array.value_length(row);
    for (int64_t i = array.value_offset(row); i < end; ++i) {
      ARROW_ASSIGN_OR_RAISE(nlohmann::json key, JsonOf(*array.keys(), i));
      ARROW_ASSIGN_OR_RAISE(nlohmann::json value, JsonOf(*array.items(), i));
      json.push_back(nlohmann::json::array({std::move(key), std::move(value)}));
    }
    return arrow::Status::OK();
  }

  arrow::Status Visit(const arrow::StructArray& array) {
    json = nlohmann::json::object();
    for (int i = 0; i < array.num_fields(); ++i) {
      ARROW_ASSIGN_OR_RAISE(nlohmann::json value, JsonOf(*array.field(i), row));
      json[array.type()->field(i)->name()] = std::move(value);
    }
    return arrow::Status::OK();
  }

  arrow::Status Visit(const arrow::DictionaryArray& array) {
    ARROW_ASSIGN_OR_RAISE(json, JsonOf(*array.dictionary(), array.GetValueIndex(row)));
    return arrow::Status::OK();
  }

  /// Dates, times, durations and whatever else: as Arrow writes them.
  arrow::Status Visit(const arrow::Array& array) {
    ARROW_ASSIGN_OR_RAISE(const auto scalar, array.GetScalar(row));
    return SetText(scalar->ToString());
  }

 private:
  arrow::Status SetNumber(double value) {
    if (std::isfinite(value)) json = value;
    return arrow::Status::OK();
  }

  arrow::Status SetText(std::string_view text) {
    json = std::string(text);
    return arrow::Status::OK();
  }

  arrow::Status SetHex(std::string_view bytes) { return SetText(FormatHex(AsBytes(bytes))); }

  arrow::Status SetList(const arrow::Array& values, int64_t begin, int64_t length) {
    json = nlohmann::json::array();
    for (int64_t i = begin; i < begin + length; ++i) {
      ARROW_ASSIGN_OR_RAISE(nlohmann::json value, JsonOf(values, i));
      json.push_back(std::move(value));
    }
    return arrow::Status::OK();
  }
};

}  // namespace

arrow::Result<nlohmann::json> JsonOf(const arrow::Array& array, int64_t row) {
  JsonVisitor visitor{.row = row, .json = nullptr};
  if (array.IsNull(row)) return visitor.json;
  ARROW_RETURN_NOT_OK(arrow::VisitArrayInline(array, &visitor));
  return std::move(visitor.json);
}

arrow::Result<std::string> TextOf(const arrow::Array& array, int64_t row) {
  if (array.IsNull(row)) return std::string();
  ARROW_ASSIGN_OR_RAISE(const nlohmann::json json, JsonOf(array, row));
  if (json.is_string()) return json.get<std::string>();
  if (json.is_null() && arrow::is_floating(array.type_id())) {
    // A number that JSON hasn't: NaN, an infinity.
    ARROW_ASSIGN_OR_RAISE(const auto scalar, array.GetScalar(row));
    return scalar->ToString();
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace infino::cli
