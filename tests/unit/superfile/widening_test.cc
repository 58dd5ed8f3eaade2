#include "infino/superfile/widening.h"

#include <memory>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "support/matchers.h"

namespace infino {
namespace {

using Type = std::shared_ptr<arrow::DataType>;

/// One value list, written once and read as either type.
struct Pair {
  Type from;
  Type to;
  std::string json;
};

Type StructOf(const arrow::FieldVector& fields) {
  return arrow::struct_(fields);
}

std::vector<Pair> Pairs() {
  const Type narrow =
      StructOf({arrow::field("a", arrow::int8()), arrow::field("b", arrow::utf8())});
  const Type wide =
      StructOf({arrow::field("new", arrow::float64()), arrow::field("b", arrow::large_utf8()),
                arrow::field("a", arrow::int64())});
  const Type strict = arrow::list(arrow::field("item", arrow::int16(), /*nullable=*/false));
  return {
      {arrow::int8(), arrow::int16(), "[-128, null, 127]"},
      {arrow::int8(), arrow::int32(), "[-128, null, 127]"},
      {arrow::int16(), arrow::int64(), "[-32768, null, 32767]"},
      {arrow::int32(), arrow::int64(), "[-2147483648, null, 2147483647]"},
      {arrow::uint8(), arrow::uint16(), "[255, null, 0]"},
      {arrow::uint8(), arrow::int16(), "[255, null, 0]"},
      {arrow::uint16(), arrow::int32(), "[65535, null, 0]"},
      {arrow::uint32(), arrow::int64(), "[4294967295, null, 0]"},
      {arrow::uint32(), arrow::uint64(), "[4294967295, null, 0]"},
      {arrow::int32(), arrow::float64(), "[-2147483648, null, 2147483647]"},
      {arrow::uint32(), arrow::float64(), "[4294967295, null, 1]"},
      {arrow::int8(), arrow::float64(), "[-128, null, 127]"},
      {arrow::float16(), arrow::float32(), "[1.5, null, -0.25]"},
      {arrow::float16(), arrow::float64(), "[1.5, null, 65504]"},
      {arrow::float32(), arrow::float64(), "[0.5, null, -16777215]"},
      {arrow::decimal128(5, 2), arrow::decimal128(20, 2), R"(["-999.99", null, "0.01"])"},
      {arrow::decimal128(5, 2), arrow::decimal256(50, 2), R"(["-999.99", null, "0.01"])"},
      {arrow::decimal32(5, 2), arrow::decimal64(12, 2), R"(["-999.99", null, "0.01"])"},
      {arrow::decimal64(12, 2), arrow::decimal128(12, 2), R"(["-999.99", null, "0.01"])"},
      {arrow::utf8(), arrow::large_utf8(), R"(["", null, "häß"])"},
      {arrow::large_utf8(), arrow::utf8(), R"(["", null, "a text of more than twelve bytes"])"},
      {arrow::utf8(), arrow::utf8_view(), R"(["", null, "a text of more than twelve bytes"])"},
      {arrow::utf8_view(), arrow::large_utf8(), R"(["", null, "a text of more than twelve"])"},
      {arrow::binary(), arrow::large_binary(), R"(["", null, "ab"])"},
      {arrow::large_binary(), arrow::binary_view(), R"(["", null, "ab"])"},
      {arrow::list(arrow::int8()), arrow::large_list(arrow::int64()), "[[1, null], null, [], [2]]"},
      {arrow::large_list(arrow::float32()), arrow::list(arrow::float64()), "[[1.5], null, [2, 3]]"},
      {strict, arrow::list(arrow::int32()), "[[1, 2], null, [3]]"},
      {narrow, wide, R"([{"a": 1, "b": "x"}, null, {"a": null, "b": null}, {"a": 3, "b": "z"}])"},
      {arrow::list(narrow), arrow::large_list(wide), R"([[{"a": 1, "b": "x"}], null, [null]])"},
  };
}

std::shared_ptr<arrow::Array> Read(const Type& type, const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

TEST(WideningTest, KeepsEveryValue) {
  for (const Pair& pair : Pairs()) {
    SCOPED_TRACE(pair.from->ToString() + " to " + pair.to->ToString());
    ASSERT_TRUE(IsWidening(*pair.from, *pair.to));
    const auto values = Read(pair.from, pair.json);
    const auto expected = Read(pair.to, pair.json);
    for (int64_t from = 0; from < values->length(); ++from) {
      INFINO_ASSERT_OK_AND_ASSIGN(const auto wide, Widen(values->Slice(from), pair.to));
      INFINO_ASSERT_OK(wide->ValidateFull());
      EXPECT_TRUE(wide->Equals(*expected->Slice(from))) << wide->ToString();
    }
    INFINO_ASSERT_OK_AND_ASSIGN(const auto none, Widen(values->Slice(1, 0), pair.to));
    EXPECT_EQ(none->length(), 0);
  }
}

TEST(WideningTest, RefusesWhatCouldChangeAValue) {
  const Type strict = arrow::list(arrow::field("item", arrow::int16(), /*nullable=*/false));
  const Type ab = StructOf({arrow::field("a", arrow::int8()), arrow::field("b", arrow::int8())});
  const std::vector<std::pair<Type, Type>> refused = {
      {arrow::int64(), arrow::int32()},
      {arrow::int64(), arrow::float64()},
      {arrow::uint64(), arrow::float64()},
      {arrow::uint64(), arrow::int64()},
      {arrow::int8(), arrow::uint16()},
      {arrow::uint8(), arrow::int8()},
      {arrow::int32(), arrow::float32()},
      {arrow::int32(), arrow::utf8()},
      {arrow::utf8(), arrow::int32()},
      {arrow::utf8(), arrow::binary()},
      {arrow::float64(), arrow::float32()},
      {arrow::float64(), arrow::int64()},
      {arrow::boolean(), arrow::int8()},
      {arrow::date32(), arrow::timestamp(arrow::TimeUnit::MILLI)},
      {arrow::timestamp(arrow::TimeUnit::SECOND), arrow::timestamp(arrow::TimeUnit::NANO)},
      {arrow::decimal128(5, 2), arrow::decimal128(6, 3)},
      {arrow::decimal128(6, 2), arrow::decimal128(5, 2)},
      {arrow::decimal256(6, 2), arrow::decimal128(6, 2)},
      {arrow::list(arrow::int16()), strict},
      {arrow::list(arrow::int16()), arrow::list(arrow::int8())},
      {arrow::int8(), arrow::list(arrow::int8())},
      {ab, StructOf({arrow::field("a", arrow::int8())})},
      {StructOf({arrow::field("a", arrow::int8())}),
       StructOf({arrow::field("a", arrow::int8()),
                 arrow::field("b", arrow::int8(), /*nullable=*/false)})},
      {arrow::null(), arrow::int8()},
  };
  for (const auto& [from, to] : refused) {
    EXPECT_FALSE(IsWidening(*from, *to)) << from->ToString() << " to " << to->ToString();
  }
}

}  // namespace
}  // namespace infino
