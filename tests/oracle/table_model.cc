#include "oracle/table_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>

#include "infino/common/random.h"

namespace infino {
namespace {

std::string Quoted(std::string_view text) {
  return '"' + std::string(text) + '"';
}

std::string RandomWords(Random& random) {
  std::string words;
  for (uint64_t i = random.Below(4); i > 0; --i) {
    if (!words.empty()) words += ' ';
    words += "w" + std::to_string(random.Below(6));
  }
  return Quoted(words);
}

std::string RandomInteger(const arrow::DataType& type, Random& random) {
  const auto id = type.id();
  const bool is_unsigned = id == arrow::Type::UINT8 || id == arrow::Type::UINT16 ||
                           id == arrow::Type::UINT32 || id == arrow::Type::UINT64;
  const int bits = static_cast<const arrow::FixedWidthType&>(type).bit_width();
  // The ends are what a wrong conversion breaks.
  const uint64_t all = ~uint64_t{0} >> (64 - bits);
  const uint64_t most = is_unsigned ? all : all >> 1;
  const uint64_t number = random.Below(3) == 0 ? most : random.Next() & most;
  if (is_unsigned) return std::to_string(number);
  const auto value = static_cast<int64_t>(number);
  return std::to_string(random.Below(2) == 0 ? value : -value - 1);
}

std::string RandomOf(const arrow::DataType& type, Random& random) {
  if (random.Below(8) == 0) return "null";
  switch (type.id()) {
    case arrow::Type::BOOL:
      return random.Below(2) == 0 ? "true" : "false";
    case arrow::Type::HALF_FLOAT:
      return std::to_string(static_cast<double>(random.Below(4000)) / 4 - 500);
    case arrow::Type::FLOAT:
      return std::to_string(static_cast<double>(random.Below(1 << 24)) - (1 << 23) + 0.5);
    case arrow::Type::DOUBLE:
      return std::to_string(static_cast<double>(random.Below(uint64_t{1} << 40)) / 8);
    case arrow::Type::DATE32:
      return std::to_string(random.Below(30'000));
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
      return Quoted(std::string(random.Below(30), static_cast<char>('a' + random.Below(26))));
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      const auto digits = static_cast<size_t>(decimal.precision() - decimal.scale());
      const std::string whole(1 + random.Below(digits), static_cast<char>('1' + random.Below(9)));
      return Quoted((random.Below(2) == 0 ? "-" : "") + whole + "." +
                    std::to_string(10 + random.Below(90)));
    }
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST: {
      std::string list = "[";
      for (uint64_t i = random.Below(4); i > 0; --i) {
        if (list.size() > 1) list += ',';
        list += RandomOf(*type.field(0)->type(), random);
      }
      return list + "]";
    }
    case arrow::Type::STRUCT: {
      std::string fields = "{";
      for (const auto& field : type.fields()) {
        if (fields.size() > 1) fields += ',';
        fields += Quoted(field->name()) + ":" + RandomOf(*field->type(), random);
      }
      return fields + "}";
    }
    default:
      return RandomInteger(type, random);
  }
}

ModelType Decimal(std::shared_ptr<arrow::DataType> type, const std::string& name) {
  const auto& decimal = static_cast<const arrow::DecimalType&>(*type);
  return {std::move(type), R"("type":")" + name + R"(","precision":)" +
                               std::to_string(decimal.precision()) + R"(,"scale":)" +
                               std::to_string(decimal.scale())};
}

ModelType Plain(std::shared_ptr<arrow::DataType> type, const std::string& name) {
  return {std::move(type), R"("type":")" + name + '"'};
}

std::vector<ModelType> Lists() {
  return {{arrow::list(arrow::int8()), R"("type":"list","item":{"name":"item","type":"i8"})"},
          {arrow::large_list(arrow::int32()),
           R"("type":"large_list","item":{"name":"item","type":"i32"})"},
          {arrow::list(arrow::int64()), R"("type":"list","item":{"name":"item","type":"i64"})"}};
}

std::vector<ModelType> Structs() {
  const auto a = [](const auto& type) { return arrow::field("a", type); };
  return {{arrow::struct_({a(arrow::int8())}),
           R"("type":"struct","fields":[{"name":"a","type":"i8"}])"},
          {arrow::struct_({arrow::field("b", arrow::utf8()), a(arrow::int32())}),
           R"("type":"struct","fields":[{"name":"b","type":"utf8"},{"name":"a","type":"i32"}])"},
          {arrow::struct_({a(arrow::float64()), arrow::field("b", arrow::large_utf8())}),
           R"("type":"struct","fields":[{"name":"a","type":"f64"},)"
           R"({"name":"b","type":"large_utf8"}])"}};
}

}  // namespace

const std::vector<std::vector<ModelType>>& TypeChains() {
  static const std::vector<std::vector<ModelType>> kChains = {
      {Plain(arrow::large_utf8(), "large_utf8")},
      {Plain(arrow::int8(), "i8"), Plain(arrow::int16(), "i16"), Plain(arrow::int32(), "i32"),
       Plain(arrow::int64(), "i64")},
      {Plain(arrow::uint8(), "u8"), Plain(arrow::uint16(), "u16"), Plain(arrow::uint32(), "u32"),
       Plain(arrow::uint64(), "u64")},
      {Plain(arrow::uint8(), "u8"), Plain(arrow::int16(), "i16"), Plain(arrow::float64(), "f64")},
      {Plain(arrow::uint32(), "u32"), Plain(arrow::int64(), "i64")},
      {Plain(arrow::int32(), "i32"), Plain(arrow::float64(), "f64")},
      {Plain(arrow::float16(), "f16"), Plain(arrow::float32(), "f32"),
       Plain(arrow::float64(), "f64")},
      {Plain(arrow::utf8(), "utf8"), Plain(arrow::large_utf8(), "large_utf8"),
       Plain(arrow::utf8_view(), "utf8_view"), Plain(arrow::utf8(), "utf8")},
      {Plain(arrow::large_binary(), "large_binary"), Plain(arrow::binary(), "binary"),
       Plain(arrow::binary_view(), "binary_view")},
      {Decimal(arrow::decimal128(5, 2), "decimal"), Decimal(arrow::decimal128(18, 2), "decimal"),
       Decimal(arrow::decimal128(38, 2), "decimal"),
       Decimal(arrow::decimal256(50, 2), "decimal256")},
      Lists(),
      Structs(),
      {Plain(arrow::boolean(), "bool")},
      {Plain(arrow::date32(), "date32")},
  };
  return kChains;
}

int TableModel::Add(ModelColumn column) {
  columns_.emplace(next_id_, std::move(column));
  return next_id_++;
}

bool TableModel::HasName(std::string_view name) const {
  return std::ranges::any_of(columns_, [&](const auto& each) { return each.second.name == name; });
}

std::vector<int> TableModel::ids() const {
  std::vector<int> ids;
  for (const auto& [id, column] : columns_) ids.push_back(id);
  return ids;
}

std::shared_ptr<arrow::Array> TableModel::Values(int id, size_t first) const {
  std::string json = "[";
  for (size_t i = first; i < rows_.size(); ++i) {
    if (i > first) json += ',';
    const auto value = rows_[i].find(id);
    json += value == rows_[i].end() ? "null" : value->second;
  }
  return arrow::json::ArrayFromJSONString(columns_.at(id).type().type, json + "]").ValueOrDie();
}

uint64_t TableModel::CountWord(int id, std::string_view word) const {
  uint64_t count = 0;
  for (const Row& row : rows_) {
    const auto value = row.find(id);
    if (value == row.end() || value->second == "null") continue;
    std::istringstream words(value->second.substr(1, value->second.size() - 2));
    bool found = false;
    for (std::string each; words >> each;) found = found || each == word;
    if (found) ++count;
  }
  return count;
}

std::string RandomValue(const ModelColumn& column, Random& random) {
  if (column.text) return random.Below(6) == 0 ? "null" : RandomWords(random);
  return RandomOf(*column.type().type, random);
}

}  // namespace infino
