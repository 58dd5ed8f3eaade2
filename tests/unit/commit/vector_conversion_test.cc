#include "infino/commit/vector_conversion.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/compute/cast.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/commit/row_coercion.h"
#include "infino/error.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"

namespace infino {
namespace {

using ::testing::HasSubstr;

using ArrayPtr = std::shared_ptr<arrow::Array>;
using TypePtr = std::shared_ptr<arrow::DataType>;

constexpr int kDimension = 16;

/// `row` int64, and `v`, vectors of 16 dimensions with a child name of its own, that may be null as
/// far as Arrow goes.
TableSchema VectorSchema() {
  TableSchema schema;
  schema.columns.push_back(
      {.field_id = 1, .field = arrow::field("row", arrow::int64()), .text = {}});
  const auto number = arrow::field("number", arrow::float32(), /*nullable=*/false);
  TableColumn column{.field_id = 2,
                     .field = arrow::field("v", arrow::fixed_size_list(number, kDimension)),
                     .text = {}};
  column.vector = TableVectorIndex{.column = {.dimension = kDimension}, .stored = true};
  schema.columns.push_back(std::move(column));
  schema.last_field_id = 2;
  return schema;
}

ArrayPtr FromJson(const TypePtr& type, const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

/// A list of numbers `first`, `first` + 1, … with `count` of them.
std::string Counted(double first, int count = kDimension) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i > 0 ? "," : "") + std::to_string(first + i);
  return "[" + list + "]";
}

/// The same with another text in one place.
std::string With(const std::string& number, int place) {
  std::string list;
  for (int i = 0; i < kDimension; ++i) {
    list += (i > 0 ? "," : "") + (i == place ? number : std::to_string(i));
  }
  return "[" + list + "]";
}

arrow::Result<ArrayPtr> Coerce(const ArrayPtr& vectors, uint64_t first_row = 0) {
  const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("v", vectors->type())}),
                                              vectors->length(), arrow::ArrayVector{vectors});
  ARROW_RETURN_NOT_OK(ValidateRows(*batch, first_row));
  ARROW_ASSIGN_OR_RAISE(const RowCoercion coercion,
                        RowCoercion::Make(VectorSchema(), *batch->schema()));
  ARROW_ASSIGN_OR_RAISE(const auto rows, coercion.Coerce(*batch, first_row));
  return rows->column(1);
}

void ExpectRefused(const ArrayPtr& vectors, const std::string& message, uint64_t first_row = 0) {
  const auto coerced = Coerce(vectors, first_row);
  EXPECT_THAT(coerced, IsError(ErrorKind::kInvalidArgument)) << message;
  EXPECT_THAT(coerced.status().message(), HasSubstr(message));
}

TEST(VectorConversion, TakesListsOfAnyLayoutAndWidth) {
  const std::string rows = "[" + Counted(1) + "," + Counted(-7.5) + "," + Counted(0) + "]";
  const TypePtr declared = VectorSchema().columns[1].field->type();
  const ArrayPtr expected = FromJson(declared, rows);
  for (const TypePtr& number : {arrow::float16(), arrow::float32(), arrow::float64()}) {
    for (const TypePtr& type :
         {arrow::fixed_size_list(number, kDimension), arrow::list(number),
          arrow::large_list(number), arrow::list_view(number), arrow::large_list_view(number)}) {
      SCOPED_TRACE(type->ToString());
      const ArrayPtr given = FromJson(type, rows);
      INFINO_ASSERT_OK_AND_ASSIGN(const ArrayPtr whole, Coerce(given));
      INFINO_ASSERT_OK(whole->ValidateFull());
      EXPECT_TRUE(whole->type()->Equals(declared));
      EXPECT_TRUE(whole->Equals(*expected));
      INFINO_ASSERT_OK_AND_ASSIGN(const ArrayPtr sliced, Coerce(given->Slice(1, 2)));
      EXPECT_TRUE(sliced->Equals(*expected->Slice(1, 2)));
    }
  }
  const std::string counted = "[" + With("0", 0) + "]";
  const ArrayPtr integers = FromJson(arrow::list(arrow::int8()), counted);
  EXPECT_TRUE(Coerce(integers).ValueOrDie()->Equals(*FromJson(declared, counted)));
}

TEST(VectorConversion, RoundsToFloats) {
  const ArrayPtr doubles = FromJson(arrow::list(arrow::float64()), "[" + Counted(0.1) + "]");
  INFINO_ASSERT_OK_AND_ASSIGN(const ArrayPtr coerced, Coerce(doubles));
  const auto& lists = static_cast<const arrow::FixedSizeListArray&>(*coerced);
  const auto& numbers = static_cast<const arrow::FloatArray&>(*lists.values());
  for (int i = 0; i < kDimension; ++i) {
    EXPECT_EQ(numbers.Value(i), static_cast<float>(std::stod(std::to_string(0.1 + i))));
  }
}

TEST(VectorConversion, NamesTheRowOfTheAppend) {
  const auto type = arrow::list(arrow::float64());
  const std::string good = Counted(0);
  ExpectRefused(FromJson(type, "[" + good + ", null]"),
                "row 12: column 'v': a vector can't be null", 11);
  ExpectRefused(FromJson(type, "[" + good + "," + Counted(0, 15) + "]"),
                "row 1: column 'v': the vector has 15 dimensions; the column has 16");
  ExpectRefused(FromJson(type, "[[]]"), "row 0: column 'v': the vector has 0 dimensions");
  ExpectRefused(FromJson(type, "[" + good + "," + good + "," + With("null", 3) + "]"),
                "row 2: column 'v': the vector has a null at 3");
  ExpectRefused(FromJson(type, "[" + good + "," + With("NaN", 3) + "]"),
                "row 6: column 'v': the vector has a NaN at 3", 5);
  ExpectRefused(FromJson(type, "[" + With("-Inf", 15) + "]"),
                "row 0: column 'v': the vector has an infinity at 15");
  ExpectRefused(FromJson(type, "[" + With("1e39", 0) + "]"),
                "row 0: column 'v': the vector has a number that a float can't hold at 0");
  ExpectRefused(FromJson(arrow::list(arrow::null()),
                         "["
                         "[null,null,null,null,null,null,null,"
                         "null,null,null,null,null,null,null,"
                         "null,null]]"),
                "row 0: column 'v': the vector has a null at 0");
  ExpectRefused(FromJson(arrow::null(), "[null, null]"), "row 3: column 'v': a vector can't", 3);
}

TEST(VectorConversion, ChecksVectorsThatNeedNoConversion) {
  const auto number = arrow::field("number", arrow::float32());
  for (const TypePtr& type :
       {VectorSchema().columns[1].field->type(), arrow::fixed_size_list(number, kDimension)}) {
    ExpectRefused(FromJson(type, "[" + Counted(0) + "," + With("NaN", 4) + "]"),
                  "row 1: column 'v': the vector has a NaN at 4");
    ExpectRefused(FromJson(type, "[" + Counted(0) + ", null]"), "row 1: column 'v': a vector");
  }
  ExpectRefused(FromJson(arrow::fixed_size_list(number, kDimension), "[" + With("null", 9) + "]"),
                "row 0: column 'v': the vector has a null at 9");
}

TEST(VectorConversion, RefusesOtherTypes) {
  for (const TypePtr& type :
       {arrow::fixed_size_list(arrow::float32(), 17), arrow::list(arrow::utf8()), arrow::utf8(),
        arrow::list(arrow::boolean()), arrow::float32(),
        arrow::list(arrow::list(arrow::float32()))}) {
    ExpectRefused(FromJson(type, "[]"), "column 'v'");
    ExpectRefused(FromJson(type, "[]"), type->ToString());
  }
}

TEST(VectorConversion, AMissingColumnHasNullVectors) {
  const auto batch =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("row", arrow::int64())}), 2,
                               arrow::ArrayVector{FromJson(arrow::int64(), "[1, 2]")});
  INFINO_ASSERT_OK_AND_ASSIGN(const RowCoercion coercion,
                              RowCoercion::Make(VectorSchema(), *batch->schema()));
  const auto coerced = coercion.Coerce(*batch, 40);
  ASSERT_THAT(coerced, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(coerced.status().message(), HasSubstr("row 40: column 'v': a vector can't be null"));
}

TEST(VectorConversion, TakesNoRows) {
  for (const TypePtr& type : {arrow::null(), arrow::list(arrow::float64())}) {
    INFINO_ASSERT_OK_AND_ASSIGN(const ArrayPtr none, Coerce(FromJson(type, "[]")));
    EXPECT_EQ(none->length(), 0);
    EXPECT_TRUE(none->type()->Equals(VectorSchema().columns[1].field->type()));
  }
}

TEST(VectorConversion, LooksPastWhatLiesBehindNullsAndBetweenLists) {
  // Views in any order, with a stretch that no list names.
  const auto type = arrow::list_view(arrow::float32());
  const ArrayPtr first = FromJson(type, "[" + Counted(100) + "]");
  const ArrayPtr second = FromJson(type, "[" + Counted(1) + "]");
  INFINO_ASSERT_OK_AND_ASSIGN(const ArrayPtr both, arrow::Concatenate({first, second, first}));
  INFINO_ASSERT_OK_AND_ASSIGN(const ArrayPtr coerced, Coerce(both->Slice(1, 1)));
  EXPECT_TRUE(
      coerced->Equals(*FromJson(VectorSchema().columns[1].field->type(), "[" + Counted(1) + "]")));
}

}  // namespace
}  // namespace infino
