// `infino schema` and what `append` does with columns that a table lacks, as processes.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_test.h"
#include "infino/common/json.h"
#include "support/matchers.h"

namespace infino::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SchemaCommand : public CommandTest {
 protected:
  void SetUp() override {
    const Outcome created = Run(
        {"create", "$DB", "t", "--column", "id:int32", "--column", "body:text", "--fts", "body"});
    ASSERT_EQ(created.exit_code, 0) << created.errors;
    Append(R"({"id": 1, "body": "x"})");
  }

  void Append(const std::string& lines) {
    const Outcome appended = Run({"append", "$DB", "t", "-", "--input-format", "jsonl"}, lines);
    ASSERT_EQ(appended.exit_code, 0) << appended.errors;
  }
};

TEST_F(SchemaCommand, ChangesTheSchemaAndShowsIt) {
  Write("patch", R"({"fields": [{"id": 1, "name": "number", "type": "i64"},
                               {"name": "price", "type": "double"}]})");
  const Outcome changed = Run({"schema", "$DB", "t", "--patch", Path("patch")});
  ASSERT_EQ(changed.exit_code, 0) << changed.errors;
  EXPECT_THAT(changed.Column("column"), ElementsAre("number", "body", "price"));
  EXPECT_THAT(changed.Column("type"), ElementsAre("int64", "large_string", "double"));
  Append(R"({"number": 9000000000, "body": "x", "price": 2.5})");
  const Outcome found = Run({"search", "$DB", "t", "body", "x", "--columns", "number,price"});
  ASSERT_EQ(found.exit_code, 0) << found.errors;
  EXPECT_THAT(found.Column("number"), ElementsAre(1, 9'000'000'000));
  EXPECT_THAT(found.Column("price"), ElementsAre(nlohmann::json(), 2.5));
}

TEST_F(SchemaCommand, TakesAPatchFromStandardInputAndPrintsTheDocument) {
  const Outcome changed = Run({"schema", "$DB", "t", "--patch", "-", "--document"},
                              R"({"fields": [{"name": "body", "dropped": true}]})");
  ASSERT_EQ(changed.exit_code, 0) << changed.errors;
  EXPECT_THAT(changed.Column("schema_id"), ElementsAre(2));
  EXPECT_THAT(changed.Column("tombstoned"), ElementsAre(nlohmann::json::array({2})));
  const Outcome shown = Run({"schema", "$DB", "t", "--document"});
  EXPECT_EQ(shown.out, changed.out);
}

TEST_F(SchemaCommand, SaysWhatIsWrong) {
  Write("patch", R"({"fields": [{"name": "id", "type": "i8"}]})");
  const Outcome refused = Run({"schema", "$DB", "t", "--patch", Path("patch")});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("can't become int8"));
  const Outcome conflict =
      Run({"schema", "$DB", "t", "--patch", "-", "--expected-schema-id", "7"}, "{}");
  EXPECT_EQ(conflict.exit_code, 1);
  EXPECT_THAT(conflict.errors, HasSubstr("schema_id is 1"));
  EXPECT_EQ(Run({"schema", "$DB", "t", "--patch", Path("absent")}).exit_code, 1);
  EXPECT_EQ(Run({"schema", "$DB", "absent", "--document"}).exit_code, 1);
}

TEST_F(SchemaCommand, AppendAddsColumnsUnlessItIsStrict) {
  const std::string row = R"({"id": 2, "body": "x", "more": "y"})";
  const Outcome refused =
      Run({"append", "$DB", "t", "-", "--input-format", "jsonl", "--strict-schema"}, row);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("'more'"));
  Append(row);
  const Outcome found = Run({"search", "$DB", "t", "body", "x", "--columns", "id,more"});
  EXPECT_THAT(found.Column("more"), ElementsAre(nlohmann::json(), "y"));
}

}  // namespace
}  // namespace infino::cli
