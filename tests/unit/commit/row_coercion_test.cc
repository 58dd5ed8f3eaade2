#include "infino/commit/row_coercion.h"

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/array_dict.h>
#include <arrow/buffer.h>
#include <arrow/compute/cast.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/error.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"

namespace infino {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using ArrayPtr = std::shared_ptr<arrow::Array>;
using TypePtr = std::shared_ptr<arrow::DataType>;

TableSchema SchemaOf(const std::vector<std::shared_ptr<arrow::Field>>& fields) {
  TableSchema schema;
  for (const auto& field : fields) {
    schema.columns.push_back({.field_id = ++schema.last_field_id, .field = field, .text = {}});
  }
  return schema;
}

ArrayPtr FromJson(const TypePtr& type, const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

std::shared_ptr<arrow::RecordBatch> BatchOf(std::vector<std::string> names,
                                            std::vector<ArrayPtr> columns) {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  for (size_t i = 0; i < names.size(); ++i) {
    fields.push_back(arrow::field(names[i], columns[i]->type()));
  }
  const int64_t rows = columns.empty() ? 0 : columns[0]->length();
  return arrow::RecordBatch::Make(arrow::schema(fields), rows, std::move(columns));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Coerce(const TableSchema& schema,
                                                          const arrow::RecordBatch& rows,
                                                          uint64_t first_row = 0) {
  ARROW_RETURN_NOT_OK(ValidateRows(rows, first_row));
  ARROW_ASSIGN_OR_RAISE(const RowCoercion coercion, RowCoercion::Make(schema, *rows.schema()));
  return coercion.Coerce(rows, first_row);
}

/// One column 'x' of values into a column 'x' declared as `field`.
arrow::Result<ArrayPtr> CoerceColumn(const ArrayPtr& values,
                                     const std::shared_ptr<arrow::Field>& field) {
  ARROW_ASSIGN_OR_RAISE(const auto rows, Coerce(SchemaOf({field}), *BatchOf({"x"}, {values})));
  ARROW_RETURN_NOT_OK(rows->ValidateFull());
  return rows->column(0);
}

arrow::Result<ArrayPtr> CoerceColumn(const ArrayPtr& values, const TypePtr& type) {
  return CoerceColumn(values, arrow::field("x", type));
}

/// The same values without a dictionary, whose order is nobody's business.
ArrayPtr Plain(const ArrayPtr& values) {
  if (values->type_id() != arrow::Type::DICTIONARY) return values;
  const auto& type = static_cast<const arrow::DictionaryType&>(*values->type());
  return arrow::compute::Cast(*values, type.value_type()).ValueOrDie();
}

struct Conversion {
  TypePtr from;
  std::string json;
  TypePtr to;
  std::string expected;  ///< As JSON; empty: what `json` says.
};

/// How a failed case prints itself.
void PrintTo(const Conversion& conversion, std::ostream* out) {
  *out << conversion.from->ToString() << " -> " << conversion.to->ToString() << ' '
       << conversion.json;
}

class Lossless : public ::testing::TestWithParam<Conversion> {};

/// Also of a slice, whose arrays have an offset.
TEST_P(Lossless, KeepsEveryValue) {
  const Conversion& conversion = GetParam();
  const std::string& wanted = conversion.expected.empty() ? conversion.json : conversion.expected;
  const ArrayPtr input = FromJson(conversion.from, conversion.json);
  const ArrayPtr expected = FromJson(conversion.to, wanted);
  INFINO_ASSERT_OK_AND_ASSIGN(const ArrayPtr whole, CoerceColumn(input, conversion.to));
  EXPECT_TRUE(whole->type()->Equals(conversion.to));
  EXPECT_TRUE(Plain(whole)->Equals(Plain(expected))) << whole->ToString();
  for (int64_t at = 0; at < input->length(); ++at) {
    INFINO_ASSERT_OK_AND_ASSIGN(const ArrayPtr rest, CoerceColumn(input->Slice(at), conversion.to));
    EXPECT_TRUE(Plain(rest)->Equals(Plain(expected->Slice(at)))) << rest->ToString();
  }
}

std::vector<Conversion> LosslessConversions() {
  using namespace arrow;  // NOLINT(google-build-using-namespace): a table of types
  const std::string texts = R"(["a", null, "", "grün und länger als zwölf Byte"])";
  const std::string ints = "[1, null, -128, 127]";
  std::vector<Conversion> all;
  for (const auto& from : {utf8(), large_utf8(), utf8_view()}) {
    for (const auto& to : {utf8(), large_utf8(), utf8_view()}) {
      all.push_back({from, texts, to, ""});
      all.push_back({dictionary(int8(), from), texts, to, ""});
    }
    all.push_back({from, texts, dictionary(int32(), utf8()), ""});
  }
  for (const auto& from : {binary(), large_binary(), binary_view()}) {
    for (const auto& to : {binary(), large_binary(), binary_view()}) {
      all.push_back({from, texts, to, ""});
    }
  }
  for (const auto& from : {int8(), int16(), int32(), int64()}) {
    for (const auto& to : {int8(), int16(), int32(), int64(), float16(), float32(), float64()}) {
      all.push_back({from, ints, to, ""});
    }
    all.push_back({from, "[0, null, 127]", uint8(), ""});
    all.push_back({from, "[0, null, 127]", uint64(), ""});
  }
  const std::vector<Conversion> single = {
      {uint64(), "[0, null, 9223372036854775807]", int64(), ""},
      {uint8(), "[255]", int16(), ""},
      {int64(), "[1152921504606846976, -9223372036854775808]", float64(), ""},
      {float16(), "[1.5, null]", float32(), ""},
      {float32(), "[1.5, null, 0.1]", float64(), "[1.5, null, 0.10000000149011612]"},
      {float64(), "[1.5, null, -0.25]", float32(), ""},
      {float64(), "[1.5, null, -0.25]", float16(), ""},
      {null(), "[null, null]", large_utf8(), ""},
      {null(), "[null]", list(int8()), ""},
      {null(), "[null]", struct_({field("a", int8())}), ""},
      {null(), "[null]", dictionary(int8(), utf8()), ""},
      {date32(), "[1, null]", date64(), "[86400000, null]"},
      {date64(), "[86400000, null]", date32(), "[1, null]"},
      {date32(), "[1]", timestamp(TimeUnit::NANO), "[86400000000000]"},
      {timestamp(TimeUnit::NANO), "[86400000000000, null]", date32(), "[1, null]"},
      {timestamp(TimeUnit::NANO), "[5000000, null]", timestamp(TimeUnit::MILLI), "[5, null]"},
      {timestamp(TimeUnit::SECOND, "UTC"), "[5]", timestamp(TimeUnit::MICRO, "UTC"), "[5000000]"},
      {time32(TimeUnit::SECOND), "[5]", time64(TimeUnit::NANO), "[5000000000]"},
      {time64(TimeUnit::NANO), "[5000000000]", time32(TimeUnit::SECOND), "[5]"},
      {duration(TimeUnit::SECOND), "[5]", duration(TimeUnit::MILLI), "[5000]"},
      {decimal128(5, 2), R"(["1.20", null])", decimal128(10, 1), R"(["1.2", null])"},
      {decimal128(5, 2), R"(["1.20", null])", decimal256(50, 10), R"(["1.2000000000", null])"},
      {decimal128(5, 2), R"(["1.20"])", decimal128(3, 2), ""},
      {list(int64()), "[[1, 2], null, [], [3, null]]", list(int16()), ""},
      {list(int64()), "[[1, 2], null, [], [3]]", large_list(int64()), ""},
      {large_list(float64()), "[[1, 2], [3]]", list(float32()), ""},
      {list(field("element", int8())), "[[1], [2]]", list(field("item", int8())), ""},
      {list(float64()), "[[1, 2], null, [3, 4]]", fixed_size_list(float32(), 2), ""},
      {fixed_size_list(float64(), 2), "[[1, 2], null, [3, 4]]", fixed_size_list(float32(), 2), ""},
      {fixed_size_list(int8(), 2), "[[1, 2], null, [3, 4]]", list(int8()), ""},
      {list(utf8()), R"([["a", null], ["b"]])", list(large_utf8()), ""},
      {list(list(int8())), "[[[1], [2, 3]], null, [[], null]]", list(list(int64())), ""},
      {struct_({field("b", utf8()), field("a", int64())}), R"([{"b": "x", "a": 1}, null])",
       struct_({field("a", int8()), field("b", large_utf8()), field("c", float32())}),
       R"([{"a": 1, "b": "x", "c": null}, null])"},
      {map(utf8(), int64()), R"([[["k", 1]], null, [["l", 2], ["m", null]]])",
       map(large_utf8(), int8()), ""},
      {dictionary(int32(), utf8()), R"(["a", null, "b"])", dictionary(int8(), large_utf8()), ""},
      {dictionary(int64(), int64()), "[5, null, 6]", int8(), ""},
  };
  all.insert(all.end(), single.begin(), single.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Types, Lossless, ::testing::ValuesIn(LosslessConversions()));

class Refused : public ::testing::TestWithParam<Conversion> {};

TEST_P(Refused, NamesTheColumnAndTheTypes) {
  const Conversion& conversion = GetParam();
  const auto result = CoerceColumn(FromJson(conversion.from, conversion.json), conversion.to);
  ASSERT_THAT(result, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(result.status().message(), AllOf(HasSubstr("'x"), Not(HasSubstr("RecordBatch"))));
}

std::vector<Conversion> RefusedConversions() {
  using namespace arrow;  // NOLINT(google-build-using-namespace): a table of types
  return {
      {utf8(), R"(["1"])", int64(), ""},
      {utf8(), "[]", int64(), ""},
      {int64(), "[1]", utf8(), ""},
      {int64(), "[1]", boolean(), ""},
      {boolean(), "[true]", int8(), ""},
      {binary(), R"(["a"])", utf8(), ""},
      {utf8(), R"(["a"])", binary(), ""},
      {int64(), "[2147483648]", int32(), ""},
      {int64(), "[300]", uint8(), ""},
      {int64(), "[-1]", uint64(), ""},
      {uint64(), "[9223372036854775808]", int64(), ""},
      {int64(), "[9007199254740993]", float64(), ""},
      {int64(), "[9223372036854775807]", float64(), ""},
      {int32(), "[16777217]", float32(), ""},
      {int32(), "[2049]", float16(), ""},
      {int32(), "[100000]", float16(), ""},
      {float64(), "[0.1]", float32(), ""},
      {float64(), "[1e300]", float32(), ""},
      {float64(), "[0.1]", float16(), ""},
      {float64(), "[1.0]", int64(), ""},
      {int64(), "[5]", timestamp(TimeUnit::SECOND), ""},
      {date64(), "[86400001]", date32(), ""},
      {timestamp(TimeUnit::NANO), "[1]", date32(), ""},
      {timestamp(TimeUnit::NANO), "[1]", timestamp(TimeUnit::MILLI), ""},
      {timestamp(TimeUnit::SECOND), "[4611686018427387904]", timestamp(TimeUnit::NANO), ""},
      {timestamp(TimeUnit::NANO), "[1]", timestamp(TimeUnit::NANO, "UTC"), ""},
      {timestamp(TimeUnit::NANO, "UTC"), "[1]", timestamp(TimeUnit::NANO), ""},
      {timestamp(TimeUnit::NANO, "UTC"), "[1]", timestamp(TimeUnit::NANO, "Europe/Berlin"), ""},
      {date32(), "[1]", timestamp(TimeUnit::NANO, "UTC"), ""},
      {time64(TimeUnit::NANO), "[1]", time32(TimeUnit::SECOND), ""},
      {decimal128(5, 2), R"(["1.25"])", decimal128(5, 1), ""},
      {decimal128(5, 2), R"(["123.45"])", decimal128(4, 2), ""},
      {decimal128(5, 2), R"(["1.00"])", float64(), ""},
      {list(int64()), "[[1], [2, 3]]", fixed_size_list(int64(), 2), ""},
      {fixed_size_list(int64(), 3), "[[1, 2, 3]]", fixed_size_list(int64(), 2), ""},
      {list(int64()), "[[300]]", list(int8()), ""},
      {list(int64()), "[[1]]", int64(), ""},
      {list_view(int8()), "[[1]]", list(int8()), ""},
      {struct_({field("a", int8()), field("z", int8())}), R"([{"a": 1, "z": 2}])",
       struct_({field("a", int8())}), ""},
      {struct_({field("b", int8())}), R"([{"b": 1}])",
       struct_({field("a", int8(), false), field("b", int8())}), ""},
      {struct_({field("a", int64())}), R"([{"a": null}])", struct_({field("a", int8(), false)}),
       ""},
      {list(int64()), "[[null]]", list(field("item", int8(), false)), ""},
      {dictionary(int32(), utf8()), R"(["1"])", int64(), ""},
  };
}

INSTANTIATE_TEST_SUITE_P(Types, Refused, ::testing::ValuesIn(RefusedConversions()));

TEST(RowCoercion, MatchesColumnsByNameInAnyOrder) {
  const TableSchema schema =
      SchemaOf({arrow::field("id", arrow::int64()), arrow::field("body", arrow::large_utf8())});
  const auto batch = BatchOf(
      {"body", "id"}, {FromJson(arrow::utf8(), R"(["a"])"), FromJson(arrow::int64(), "[7]")});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, Coerce(schema, *batch));
  EXPECT_TRUE(rows->schema()->Equals(*schema.ToArrow()));
  EXPECT_TRUE(rows->column(0)->Equals(FromJson(arrow::int64(), "[7]")));
  EXPECT_TRUE(rows->column(1)->Equals(FromJson(arrow::large_utf8(), R"(["a"])")));
}

TEST(RowCoercion, FillsAMissingNullableColumnWithNulls) {
  const TableSchema schema =
      SchemaOf({arrow::field("id", arrow::int64()), arrow::field("body", arrow::large_utf8())});
  INFINO_ASSERT_OK_AND_ASSIGN(
      const auto rows, Coerce(schema, *BatchOf({"id"}, {FromJson(arrow::int64(), "[7, 8]")})));
  EXPECT_EQ(rows->column(1)->null_count(), 2);
}

TEST(RowCoercion, PassesEqualTypesOnWithoutACopy) {
  const ArrayPtr values = FromJson(arrow::large_utf8(), R"(["a"])");
  INFINO_ASSERT_OK_AND_ASSIGN(const ArrayPtr same, CoerceColumn(values, arrow::large_utf8()));
  EXPECT_EQ(same->data()->buffers[2], values->data()->buffers[2]);
}

void ExpectRefused(const TableSchema& schema, const arrow::RecordBatch& batch,
                   const std::string& words) {
  const auto result = Coerce(schema, batch, 40);
  ASSERT_THAT(result, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(result.status().message(), HasSubstr(words));
  EXPECT_THAT(result.status().message(), Not(HasSubstr("RecordBatch")));
}

TEST(RowCoercion, RefusesWhatTheTableDoesNotDeclare) {
  const TableSchema schema = SchemaOf(
      {arrow::field("id", arrow::int64(), false), arrow::field("body", arrow::large_utf8())});
  const ArrayPtr one = FromJson(arrow::int64(), "[1]");
  ExpectRefused(schema, *BatchOf({"id", "bdoy"}, {one, one}),
                "no column 'bdoy': its columns are 'id', 'body'");
  ExpectRefused(schema, *BatchOf({"id", "_id"}, {one, one}), "'_id'");
  ExpectRefused(schema, *BatchOf({"id", "id"}, {one, one}), "'id' more than once");
  ExpectRefused(schema, *BatchOf({"body"}, {FromJson(arrow::utf8(), R"(["a"])")}), "'id'");
  ExpectRefused(schema, *BatchOf({"id"}, {FromJson(arrow::utf8(), R"(["a"])")}),
                "column 'id' is int64 but the batch carries string");
}

TEST(RowCoercion, RefusesANullWhereTheSchemaForbidsIt) {
  const TableSchema schema = SchemaOf({arrow::field("id", arrow::int64(), false)});
  ExpectRefused(schema, *BatchOf({"id"}, {FromJson(arrow::int64(), "[1, 2, null]")}),
                "column 'id' is declared not null but the batch carries a null in it, in row 42");
  ExpectRefused(schema, *BatchOf({"id"}, {FromJson(arrow::null(), "[null]")}),
                "carries a null in it");
  const auto values = FromJson(arrow::int64(), "[5, null]");
  const auto encoded =
      arrow::DictionaryArray::FromArrays(arrow::dictionary(arrow::int8(), arrow::int64()),
                                         FromJson(arrow::int8(), "[0, 1]"), values)
          .ValueOrDie();
  ExpectRefused(schema, *BatchOf({"id"}, {encoded}), "carries a null in it");
}

TEST(RowCoercion, AcceptsANullChildOfANullParent) {
  const auto inner = arrow::struct_({arrow::field("a", arrow::int8(), false)});
  const ArrayPtr child = FromJson(arrow::int8(), "[1, null]");
  INFINO_ASSERT_OK_AND_ASSIGN(
      const auto parent,
      arrow::StructArray::Make({child}, inner->fields(),
                               FromJson(arrow::boolean(), "[true, false]")->data()->buffers[1], 1));
  EXPECT_THAT(CoerceColumn(parent, inner), IsOk());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto bad, arrow::StructArray::Make({child}, inner->fields()));
  EXPECT_THAT(CoerceColumn(bad, inner), IsError(ErrorKind::kInvalidArgument));
}

TEST(ValidateRows, NamesColumnAndRowOfTextThatIsNotUtf8) {
  const TypePtr types[] = {arrow::binary(), arrow::large_binary(), arrow::binary_view()};
  const TypePtr texts[] = {arrow::utf8(), arrow::large_utf8(), arrow::utf8_view()};
  for (size_t i = 0; i < 3; ++i) {
    auto data = FromJson(types[i], R"(["fine", null, "cut off here", "fine"])")->data()->Copy();
    // The views keep at most 12 bytes inside, so every value sits in the second buffer or the
    // third.
    data->type = texts[i];
    const size_t place = i == 2 ? 1 : 2;
    auto bytes = arrow::Buffer::FromString(data->buffers[place]->ToString());
    auto text = bytes->ToString();
    text[text.find("cut") + 1] = '\xff';
    data->buffers[place] = arrow::Buffer::FromString(text);
    const auto status = ValidateRows(*BatchOf({"body"}, {arrow::MakeArray(data)}), 10);
    ASSERT_THAT(status, IsError(ErrorKind::kInvalidArgument)) << texts[i]->ToString();
    EXPECT_THAT(status.message(), AllOf(HasSubstr("'body'"), HasSubstr("row 12")));
  }
}

TEST(ValidateRows, RefusesOffsetsOutsideOfTheText) {
  for (const int32_t bad : {-1, 100, 1}) {
    auto data = FromJson(arrow::utf8(), R"(["abc", "def"])")->data()->Copy();
    const std::vector<int32_t> offsets = {0, bad, bad == 1 ? 0 : 6};
    data->buffers[1] = arrow::Buffer::FromVector(offsets);
    EXPECT_THAT(ValidateRows(*BatchOf({"body"}, {arrow::MakeArray(data)}), 0),
                IsError(ErrorKind::kInvalidArgument));
  }
}

TEST(ValidateRows, RefusesDictionaryIndicesOutsideOfTheDictionary) {
  auto data =
      FromJson(arrow::dictionary(arrow::int8(), arrow::utf8()), R"(["a", "b"])")->data()->Copy();
  data->buffers[1] = arrow::Buffer::FromVector(std::vector<int8_t>{0, 2});
  EXPECT_THAT(ValidateRows(*BatchOf({"body"}, {arrow::MakeArray(data)}), 0),
              IsError(ErrorKind::kInvalidArgument));
}

TEST(ValidateRows, RefusesColumnsOfDifferentLengths) {
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("a", arrow::int8()), arrow::field("b", arrow::int8())}), 2,
      {FromJson(arrow::int8(), "[1, 2]"), FromJson(arrow::int8(), "[1]")});
  EXPECT_THAT(ValidateRows(*batch, 0), IsError(ErrorKind::kInvalidArgument));
}

}  // namespace
}  // namespace infino
