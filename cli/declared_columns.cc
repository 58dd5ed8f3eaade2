#include "cli/declared_columns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "cli/input.h"
#include "infino/index_spec.h"

namespace infino::cli {

namespace {

constexpr std::string_view kVectorType = "vector(";

const std::map<std::string, std::shared_ptr<arrow::DataType>>& TypeNames() {
  static const std::map<std::string, std::shared_ptr<arrow::DataType>> names{
      {"bool", arrow::boolean()},
      {"int8", arrow::int8()},
      {"int16", arrow::int16()},
      {"int32", arrow::int32()},
      {"int64", arrow::int64()},
      {"uint8", arrow::uint8()},
      {"uint16", arrow::uint16()},
      {"uint32", arrow::uint32()},
      {"uint64", arrow::uint64()},
      {"float", arrow::float32()},
      {"double", arrow::float64()},
      {"text", arrow::large_utf8()},
      {"binary", arrow::large_binary()},
      {"date", arrow::date32()},
      {"time", arrow::time64(arrow::TimeUnit::MICRO)},
      {"timestamp", arrow::timestamp(arrow::TimeUnit::MICRO)},
      {"timestamptz", arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")}};
  return names;
}

/// A whole number of at most 9 digits and nothing else.
std::optional<int32_t> NumberOf(std::string_view text) {
  constexpr size_t kDigitsMax = 9;
  int32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || text.size() > kDigitsMax || error != std::errc() || stop != end ||
      number < 0) {
    return std::nullopt;
  }
  return number;
}

std::shared_ptr<arrow::DataType> VectorType(int32_t dimension) {
  return arrow::fixed_size_list(arrow::float32(), dimension);
}

std::shared_ptr<arrow::DataType> TypeOf(const std::string& name) {
  const auto found = TypeNames().find(name);
  if (found != TypeNames().end()) return found->second;
  if (!name.starts_with(kVectorType) || !name.ends_with(')')) return nullptr;
  const std::string_view digits =
      std::string_view(name).substr(kVectorType.size(), name.size() - kVectorType.size() - 1);
  const std::optional<int32_t> dimension = NumberOf(digits);
  return dimension ? VectorType(*dimension) : nullptr;
}

/// What follows the last colon of `text`, which loses it, if `fits` says that it is meant.
template <typename Fits>
std::optional<std::string> TakeEnding(std::string& text, const Fits& fits) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  std::string ending = text.substr(colon + 1);
  if (!fits(ending)) return std::nullopt;
  text.resize(colon);
  return ending;
}

bool IsMetric(const std::string& text) {
  constexpr std::array<std::string_view, 5> kMetrics = {"cosine", "l2sq", "l2", "negdot", "dot"};
  return std::ranges::find(kMetrics, text) != kMetrics.end();
}

/// The type of a column of vectors; the file may have wider or narrower numbers, in lists of any
/// kind.
arrow::Result<std::shared_ptr<arrow::DataType>> VectorTypeOf(const arrow::Field& field,
                                                             std::optional<int32_t> dimension) {
  const arrow::DataType& type = *field.type();
  const bool is_fixed = type.id() == arrow::Type::FIXED_SIZE_LIST;
  const bool is_list =
      is_fixed || type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST ||
      type.id() == arrow::Type::LIST_VIEW || type.id() == arrow::Type::LARGE_LIST_VIEW;
  if (!is_list || !arrow::is_numeric(type.field(0)->type()->id())) {
    return arrow::Status::Invalid("column '", field.name(), "' is ", type.ToString(),
                                  ", no list of numbers");
  }
  if (is_fixed) {
    const int32_t size = static_cast<const arrow::FixedSizeListType&>(type).list_size();
    if (dimension && *dimension != size) {
      return arrow::Status::Invalid("column '", field.name(), "' has vectors of ", size,
                                    " numbers, not ", *dimension);
    }
    dimension = size;
  }
  if (!dimension) {
    return arrow::Status::Invalid("column '", field.name(), "' is ", type.ToString(),
                                  ", which does not say how many numbers a vector has; write ",
                                  field.name(), ":384, if it has 384");
  }
  return VectorType(*dimension);
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Field>> ParseColumn(const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::shared_ptr<arrow::DataType> type =
      colon == std::string::npos || colon == 0 ? nullptr : TypeOf(text.substr(colon + 1));
  if (type != nullptr) return arrow::field(text.substr(0, colon), type);
  std::string known;
  for (const auto& [name, unused] : TypeNames()) known += name + ", ";
  return arrow::Status::Invalid("--column '", text, "': write NAME:TYPE with one of ", known,
                                "vector(N)");
}

arrow::Result<std::shared_ptr<arrow::Schema>> SchemaOfFile(const InputSource& source) {
  ARROW_ASSIGN_OR_RAISE(const OpenedInput input, OpenInput(source, nullptr));
  arrow::FieldVector fields;
  for (const auto& field : input.rows->schema()->fields()) {
    auto type = field->type();
    if (type->id() == arrow::Type::STRING) type = arrow::large_utf8();
    if (type->id() == arrow::Type::NA) type = arrow::large_utf8();
    fields.push_back(arrow::field(field->name(), std::move(type), field->nullable()));
  }
  return arrow::schema(std::move(fields));
}

arrow::Status AddVectorIndex(const std::string& text, VectorIndexOptions options,
                             Declaration& declaration) {
  std::string name = text;
  if (auto metric = TakeEnding(name, IsMetric)) options.metric = *std::move(metric);
  std::optional<int32_t> dimension;
  if (const auto digits =
          TakeEnding(name, [](const std::string& each) { return NumberOf(each).has_value(); })) {
    dimension = NumberOf(*digits);
  }
  const int place = declaration.schema->GetFieldIndex(name);
  if (place < 0) {
    return arrow::Status::Invalid(
        "--vector '", text, "': there is no column '", name,
        "'; write COLUMN[:DIMENSION][:METRIC], METRIC one of cosine, l2sq, negdot");
  }
  const std::shared_ptr<arrow::Field>& field = declaration.schema->field(place);
  const auto type = VectorTypeOf(*field, dimension);
  if (!type.ok()) {
    return arrow::Status::Invalid("--vector '", text, "': ", type.status().message());
  }
  ARROW_ASSIGN_OR_RAISE(declaration.schema,
                        declaration.schema->SetField(place, field->WithType(*type)));
  const auto& vectors = static_cast<const arrow::FixedSizeListType&>(**type);
  declaration.indexes.Vector(name, static_cast<uint32_t>(vectors.list_size()), std::move(options));
  return arrow::Status::OK();
}

}  // namespace infino::cli
