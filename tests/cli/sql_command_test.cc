// `infino sql` without a terminal, as a process.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_test.h"

namespace infino::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class SqlCommand : public CommandTest {
 protected:
  void SetUp() override {
    const Outcome created = Run({"create", "$DB", "notes", "--column", "id:int64", "--column",
                                 "body:text", "--column", "price:double", "--fts", "body"});
    ASSERT_EQ(created.exit_code, 0) << created.errors;
    const Outcome appended = Run({"append", "$DB", "notes", "-", "--input-format", "jsonl"},
                                 R"({"id":1,"body":"red apple","price":0.5})"
                                 "\n"
                                 R"({"id":20,"body":"検索 with \"quotes\", and more","price":null})"
                                 "\n"
                                 R"({"id":300,"body":null,"price":12.25})"
                                 "\n");
    ASSERT_EQ(appended.exit_code, 0) << appended.errors;
  }
};

TEST_F(SqlCommand, RunsTheStatementGiven) {
  const Outcome outcome =
      Run({"sql", "$DB", "SELECT id FROM notes WHERE price > 1 OR price IS NULL ORDER BY id DESC"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.Column("id"), ElementsAre(300, 20));
  EXPECT_THAT(outcome.errors, IsEmpty());
}

TEST_F(SqlCommand, SearchesFromSql) {
  EXPECT_THAT(
      Run({"sql", "$DB", "SELECT id FROM bm25_search('notes', 'body', 'apple', 10)"}).Column("id"),
      ElementsAre(1));
}

TEST_F(SqlCommand, PrintsTablesByDisplayWidth) {
  const Outcome outcome =
      Run({"sql", "$DB", "--format", "table", "SELECT id, body, price FROM notes ORDER BY id"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out,
            " id  body                          price\n"
            "---  ----------------------------  -----\n"
            "  1  red apple                       0.5\n"
            " 20  検索 with \"quotes\", and more   NULL\n"
            "300  NULL                          12.25\n"
            "(3 rows)\n");
  EXPECT_THAT(outcome.errors, IsEmpty());
}

TEST_F(SqlCommand, CutsCellsToTheWidth) {
  const Outcome outcome =
      Run({"sql", "$DB", "--format", "table",
           "SELECT 7 AS seven, repeat('x', 500) AS wide, repeat('検', 90) AS b"});
  EXPECT_EQ(
      outcome.out, "seven  " + std::string("wide") + std::string(51, ' ') + "  b\n" + "-----  " +
                       std::string(55, '-') + "  " + std::string(56, '-') + "\n" + "    7  " +
                       std::string(54, 'x') + "…  " +
                       [] {
                         std::string wide;
                         for (int i = 0; i < 27; ++i) wide += "検";
                         return wide;
                       }() +
                       "…\n(1 row)\n");
}

TEST_F(SqlCommand, PrintsCsv) {
  const Outcome outcome =
      Run({"--format", "csv", "sql", "$DB", "SELECT id, body, price FROM notes ORDER BY id"});
  EXPECT_EQ(outcome.out,
            "id,body,price\r\n1,red apple,0.5\r\n20,\"検索 with \"\"quotes\"\", and more\",\r\n"
            "300,,12.25\r\n");
}

TEST_F(SqlCommand, ShowsNumbersThatJsonHasNot) {
  const std::string sql = "SELECT 'nan'::DOUBLE AS a, '-inf'::FLOAT AS b";
  EXPECT_EQ(Run({"sql", "$DB", "--format", "csv", sql}).out, "a,b\r\nnan,-inf\r\n");
  EXPECT_EQ(Run({"sql", "$DB", sql}).out, "{\"a\":null,\"b\":null}\n");
}

TEST_F(SqlCommand, DrawsPlans) {
  const std::string plan =
      Run({"sql", "$DB", "--format", "table", "EXPLAIN SELECT id FROM notes WHERE id > 5"}).out;
  EXPECT_THAT(plan, HasSubstr("│"));
  EXPECT_THAT(plan, Not(HasSubstr("explain_value")));
}

TEST_F(SqlCommand, RunsStandardInputStatementByStatement) {
  const std::string script =
      "-- a remark;\nSELECT 1 AS n;\nSELECT ';' AS n; SELECT count(*)\n  AS n FROM notes;\n"
      "/* the last needs\n no end */ SELECT 4 AS n";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"sql", "$DB"}, std::vector<std::string>{"sql", "$DB", "-"}}) {
    const Outcome outcome = Run(arguments, script);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.Column("n"), ElementsAre(1, ";", 3, 4));
    EXPECT_THAT(outcome.errors, IsEmpty());
  }
  EXPECT_EQ(Run({"sql", "$DB"}, "").exit_code, 0);
  EXPECT_EQ(Run({"sql", "$DB"}, "SELECT 1 AS n;\r\nSELECT 2 AS n;\r\n").out,
            "{\"n\":1}\n{\"n\":2}\n");
}

TEST_F(SqlCommand, RunsSeveralStatementsOfAnArgument) {
  EXPECT_THAT(Run({"sql", "$DB", "SELECT 1 AS n; SELECT ';' AS n;"}).Column("n"),
              ElementsAre(1, ";"));
}

TEST_F(SqlCommand, AFailureEndsAScriptAndSaysWhere) {
  const Outcome outcome =
      Run({"sql", "$DB"}, "SELECT 1 AS n;\n\n-- here\nSELECT nothing FROM notes;\nSELECT 3 AS n;");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.Column("n"), ElementsAre(1));
  EXPECT_THAT(outcome.errors, AllOf(StartsWith("infino: line 4: "), HasSubstr("nothing")));
}

TEST_F(SqlCommand, RefusesWhatWouldWrite) {
  for (const std::string sql : {"DELETE FROM notes", "CREATE TABLE t (a INT)", "SELECT FROM WHERE",
                                "SELECT * FROM 'in'", "SELECT * FROM absent", "", " -- nothing"}) {
    const Outcome outcome = Run({"sql", "$DB", sql});
    EXPECT_EQ(outcome.exit_code, 1) << sql;
    EXPECT_THAT(outcome.out, IsEmpty()) << sql;
    EXPECT_THAT(outcome.errors, StartsWith("infino: ")) << sql;
  }
  EXPECT_EQ(Run({"sql", "$DB", "SELECT count(*) AS n FROM notes"}).out, "{\"n\":3}\n");
}

TEST_F(SqlCommand, SaysHowLongAStatementTook) {
  const Outcome lines = Run({"sql", "$DB", "--timing", "SELECT id FROM notes"});
  EXPECT_THAT(lines.Column("id"), ::testing::SizeIs(3));
  EXPECT_THAT(lines.errors, MatchesRegex("3 rows, [0-9]+\\.[0-9]{3} s\n"));
  const Outcome table = Run({"sql", "$DB", "--timing", "--format", "table", "SELECT 1 AS n"});
  EXPECT_THAT(table.out, MatchesRegex("n\n-\n1\n\\(1 row, [0-9]+\\.[0-9]{3} s\\)\n"));
  EXPECT_THAT(table.errors, IsEmpty());
}

TEST_F(SqlCommand, ScriptsHaveDotCommands) {
  const Outcome outcome = Run({"sql", "$DB"},
                              ".mode csv\n.tables\n .schema notes;\nSELECT 1 AS n;\n.timing on\n"
                              "SELECT '\n.quit\n' AS n;\n.quit\nSELECT 3 AS n;");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out,
              MatchesRegex("table,rows,superfiles,bytes,version\r\nnotes,3,1,[0-9]+,[0-9]+\r\n"
                           "column,type,nullable,index\r\nid,int64,.*\r\n"
                           "body,large_string,.*fts.*\r\nprice,double,.*\r\n"
                           "n\r\n1\r\nn\r\n\"\n.quit\n\"\r\n"));
  EXPECT_THAT(outcome.errors, MatchesRegex("1 row, [0-9.]+ s\n"));
}

TEST_F(SqlCommand, SaysWhatIsWrongWithADotCommand) {
  for (const std::string line :
       {".nothing", ".mode", ".mode xml", ".timing", ".timing maybe", ".schema", ".schema absent",
        ".schema a b", ".tables now", ".help me", "."}) {
    const Outcome outcome = Run({"sql", "$DB"}, "\n" + line + "\nSELECT 1 AS n;");
    EXPECT_EQ(outcome.exit_code, 1) << line;
    EXPECT_THAT(outcome.out, IsEmpty()) << line;
    EXPECT_THAT(outcome.errors, AllOf(StartsWith("infino: line 2: "), EndsWith("\n"))) << line;
  }
  EXPECT_THAT(Run({"sql", "$DB"}, ".help").out, HasSubstr(".schema TABLE"));
}

TEST_F(SqlCommand, GivesUpOnAStatementWithoutEnd) {
  const Outcome outcome =
      Run({"sql", "$DB"}, "SELECT 'a\n" + std::string((16 << 20) + 1, 'x') + "\n';");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.errors, HasSubstr("no end within 16 MiB"));
}

TEST_F(SqlCommand, DescribesItselfInHelp) {
  EXPECT_THAT(Run({"sql", "--help"}).out, AllOf(HasSubstr("--timing"), HasSubstr("--history")));
}

}  // namespace
}  // namespace infino::cli
