#include "infino/common/json.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/error.h"
#include "support/matchers.h"

namespace infino {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kText =
    R"({"s":"x","u":18446744073709551615,"i":-3,"d":1.5,"b":true,"a":[1],"o":{"k":2},"n":null})";

TEST(Json, GettersReturnValuesOfTheirType) {
  INFINO_ASSERT_OK_AND_ASSIGN(const nlohmann::json json, ParseJson(kText, "doc"));
  EXPECT_THAT(GetString(json, "s", "doc"), HasValue("x"));
  EXPECT_THAT(GetUint64(json, "u", "doc"), HasValue(std::numeric_limits<uint64_t>::max()));
  EXPECT_THAT(GetInt64(json, "i", "doc"), HasValue(-3));
  EXPECT_THAT(GetDouble(json, "d", "doc"), HasValue(1.5));
  EXPECT_THAT(GetDouble(json, "i", "doc"), HasValue(-3.0));
  EXPECT_THAT(GetBool(json, "b", "doc"), HasValue(true));
  INFINO_ASSERT_OK_AND_ASSIGN(const nlohmann::json* array, GetArray(json, "a", "doc"));
  EXPECT_EQ(array->size(), 1U);
  INFINO_ASSERT_OK_AND_ASSIGN(const nlohmann::json* inner, GetObject(json, "o", "doc"));
  EXPECT_THAT(GetUint64(*inner, "k", "doc"), HasValue(2U));
  EXPECT_TRUE(HasKey(json, "s"));
  EXPECT_FALSE(HasKey(json, "n"));
  EXPECT_FALSE(HasKey(json, "missing"));
}

TEST(Json, WrongTypesAndMissingKeysAreCorruptAndNamed) {
  INFINO_ASSERT_OK_AND_ASSIGN(const nlohmann::json json, ParseJson(kText, "doc"));
  EXPECT_THAT(GetString(json, "u", "doc"), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(GetUint64(json, "i", "doc"), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(GetUint64(json, "d", "doc"), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(GetInt64(json, "u", "doc"), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(GetDouble(json, "s", "doc"), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(GetBool(json, "n", "doc"), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(GetArray(json, "o", "doc"), IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(GetObject(json, "a", "doc"), IsError(ErrorKind::kCorrupt));
  const arrow::Status missing = GetString(json, "none", "the doc").status();
  EXPECT_THAT(missing, IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(missing.message(), AllOf(HasSubstr("the doc"), HasSubstr("none")));
  EXPECT_THAT(GetString(json["a"], "k", "doc"), IsError(ErrorKind::kCorrupt));
}

TEST(Json, EveryTruncationOfADocumentIsCorrupt) {
  for (size_t length = 0; length < kText.size(); ++length) {
    EXPECT_THAT(ParseJson(kText.substr(0, length), "doc"), IsError(ErrorKind::kCorrupt));
  }
}

TEST(Json, FormatsEqualValuesAlikeWithSortedKeys) {
  INFINO_ASSERT_OK_AND_ASSIGN(const nlohmann::json json, ParseJson(R"({"b":1,"a":"é"})", "doc"));
  EXPECT_EQ(FormatJson(json), R"({"a":"é","b":1})");
  EXPECT_EQ(FormatJson(nlohmann::json("\xff")), "\"\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace infino
