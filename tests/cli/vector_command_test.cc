// `infino vector`, `infino hybrid` and what `create` and `append` do with vectors, as processes.

#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_test.h"
#include "infino/common/json.h"
#include "support/matchers.h"

namespace infino::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Sixteen numbers of which the first two are given, the others 0.
std::string Vector(const std::string& first, const std::string& second) {
  std::string text = first + "," + second;
  for (int i = 2; i < 16; ++i) text += ",0";
  return text;
}

class VectorCommand : public CommandTest {
 protected:
  /// Rows at 0, 1, 3 and 6 on the first axis.
  void MakeTable() {
    const Outcome created =
        Run({"create", "$DB", "t", "--column", "id:int64", "--column", "body:text", "--column",
             "v:vector(16)", "--fts", "body", "--vector", "v:l2sq"});
    ASSERT_EQ(created.exit_code, 0) << created.errors;
    std::string lines;
    const std::vector<std::string> places = {"0", "1", "3", "6"};
    const std::vector<std::string> bodies = {"red apple", "red pear", "green apple", "green leaf"};
    for (size_t i = 0; i < places.size(); ++i) {
      lines += R"({"id":)" + std::to_string(i) + R"(,"body":")" + bodies[i] + R"(","v":[)" +
               Vector(places[i], "0") + "]}\n";
    }
    const Outcome appended = Run({"append", "$DB", "t", "-", "--input-format", "jsonl"}, lines);
    ASSERT_EQ(appended.exit_code, 0) << appended.errors;
  }
};

TEST_F(VectorCommand, FindsTheNearestRows) {
  MakeTable();
  const Outcome found =
      Run({"vector", "$DB", "t", "v", Vector("0.9", "0"), "-k", "3", "--columns", "id,score,v"});
  ASSERT_EQ(found.exit_code, 0) << found.errors;
  EXPECT_THAT(found.Column("id"), ElementsAre(1, 0, 2));
  const auto scores = found.Column("score");
  EXPECT_NEAR(scores[0].get<double>(), 0.01, 1e-4);
  EXPECT_NEAR(scores[1].get<double>(), 0.81, 1e-4);
  EXPECT_NEAR(scores[2].get<double>(), 4.41, 1e-3);
  EXPECT_NEAR(found.Column("v")[2][0].get<double>(), 3.0, 1e-3);
}

TEST_F(VectorCommand, ReplacesRowsByKeyAndChecksWhatThatLeaves) {
  MakeTable();
  const std::string lines = R"({"id":1,"body":"blue plum","v":[)" + Vector("9", "0") + "]}\n" +
                            R"({"id":7,"body":"blue fig","v":[)" + Vector("8", "0") + "]}\n";
  const Outcome upserted = Run({"upsert", "$DB", "t", "id", "-", "--input-format", "jsonl"}, lines);
  ASSERT_EQ(upserted.exit_code, 0) << upserted.errors;
  EXPECT_THAT(upserted.errors, HasSubstr("replaced 1 rows and added 1"));
  EXPECT_THAT(Run({"search", "$DB", "t", "body", "blue", "--columns", "id"}).Column("id"),
              ElementsAre(1, 7));
  EXPECT_THAT(Run({"search", "$DB", "t", "body", "pear", "--columns", "id"}).out, IsEmpty());
  const Outcome inspected = Run({"inspect", "$DB", "t"});
  ASSERT_EQ(inspected.exit_code, 0) << inspected.errors;
  EXPECT_EQ(nlohmann::json::parse(inspected.out).at("totals").at("deleted"), 1);
  // Without SQL in the build, or with a predicate that is none.
  EXPECT_EQ(Run({"delete", "$DB", "t", "id is what"}).exit_code, 1);
  EXPECT_EQ(
      Run({"update", "$DB", "t", "id is what", "-", "--input-format", "jsonl"}, lines).exit_code,
      1);
}

TEST_F(VectorCommand, TakesTheQueryFromAFileOrStandardInput) {
  MakeTable();
  Write("query", "[" + Vector("2.9", "0") + "]\n");
  const std::vector<std::string> tail = {"-k", "1", "--columns", "id"};
  std::vector<std::string> arguments = {"vector", "$DB", "t", "v", "@" + Path("query")};
  arguments.insert(arguments.end(), tail.begin(), tail.end());
  EXPECT_THAT(Run(arguments).Column("id"), ElementsAre(2));
  arguments[4] = "-";
  EXPECT_THAT(Run(arguments, Vector("5.5", "0")).Column("id"), ElementsAre(3));
}

TEST_F(VectorCommand, SeveralLinesAreABatch) {
  MakeTable();
  const Outcome found = Run({"vector", "$DB", "t", "v", "-", "-k", "2", "--columns", "id"},
                            Vector("6", "0") + "\n" + Vector("0", "0") + "\n");
  ASSERT_EQ(found.exit_code, 0) << found.errors;
  EXPECT_THAT(found.Column("query"), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(found.Column("id"), ElementsAre(3, 2, 0, 1));
}

TEST_F(VectorCommand, FiltersByText) {
  MakeTable();
  EXPECT_THAT(Run({"vector", "$DB", "t", "v", Vector("0", "0"), "--filter-column", "body",
                   "--filter", "green", "--columns", "id"})
                  .Column("id"),
              ElementsAre(2, 3));
  EXPECT_THAT(Run({"vector", "$DB", "t", "v", Vector("9", "0"), "--filter-column", "body",
                   "--filter", "red apple", "--filter-mode", "and", "--columns", "id"})
                  .Column("id"),
              ElementsAre(0));
  EXPECT_THAT(Run({"vector", "$DB", "t", "v", Vector("9", "0"), "--filter-column", "body",
                   "--filter", "nowhere"})
                  .out,
              IsEmpty());
}

TEST_F(VectorCommand, HybridSumsTheReciprocalsOfBothRanks) {
  MakeTable();
  const Outcome both = Run({"hybrid", "$DB", "t", "body", "leaf", "v", Vector("1", "0"), "-k", "2",
                            "--columns", "id,score"});
  ASSERT_EQ(both.exit_code, 0) << both.errors;
  // Each is the first of one search; the vector search's second is further back.
  EXPECT_THAT(both.Column("id"), ElementsAre(1, 3));
  EXPECT_NEAR(both.Column("score")[0].get<double>(), 1.0 / 61, 1e-7);
  const Outcome weighted =
      Run({"hybrid", "$DB", "t", "body", "leaf", "v", Vector("1", "0"), "--depth", "1", "--weights",
           "2,0.5", "--mode", "and", "--columns", "id,score"});
  ASSERT_EQ(weighted.exit_code, 0) << weighted.errors;
  EXPECT_THAT(weighted.Column("id"), ElementsAre(3, 1));
  EXPECT_NEAR(weighted.Column("score")[0].get<double>(), 2.0 / 61, 1e-7);
  EXPECT_NEAR(weighted.Column("score")[1].get<double>(), 0.5 / 61, 1e-7);
}

TEST_F(VectorCommand, SchemaDescribesTheIndex) {
  MakeTable();
  EXPECT_THAT(Run({"schema", "$DB", "t"}).Column("index"),
              ElementsAre("", "fts", "vector, 16 dimensions, l2sq, rerank sq8_residual"));
  ASSERT_EQ(Run({"create", "$DB", "u", "--column", "v:vector(32)", "--vector", "v:32", "--rerank",
                 "fp16", "--keep-vectors"})
                .exit_code,
            0);
  EXPECT_THAT(Run({"schema", "$DB", "u"}).Column("index"),
              ElementsAre("vector, 32 dimensions, cosine, rerank fp16, stored"));
}

TEST_F(VectorCommand, AFileWithoutVectorLengthsNeedsOne) {
  Write("rows.jsonl", R"({"id":1,"v":[)" + Vector("0.5", "1") + "]}\n");
  const Outcome refused =
      Run({"create", "$DB", "t", "--from", Path("rows.jsonl"), "--vector", "v"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("write v:384"));
  ASSERT_EQ(
      Run({"create", "$DB", "t", "--from", Path("rows.jsonl"), "--vector", "v:16:dot"}).exit_code,
      0);
  ASSERT_EQ(Run({"append", "$DB", "t", Path("rows.jsonl")}).exit_code, 0);
  const Outcome found = Run({"vector", "$DB", "t", "v", Vector("2", "1")});
  ASSERT_EQ(found.exit_code, 0) << found.errors;
  EXPECT_NEAR(found.Column("score")[0].get<double>(), -2.0, 1e-3);
}

TEST_F(VectorCommand, TheSampleIsLoadedAndARowFindsItself) {
  const std::string sample = std::string(INFINO_SAMPLE) + "/packages.parquet";
  const Outcome created =
      Run({"create", "$DB", "p", "--from", sample, "--fts", "text", "--vector", "embedding"});
  ASSERT_EQ(created.exit_code, 0) << created.errors;
  const Outcome appended = Run({"append", "$DB", "p", sample, "--quiet"});
  ASSERT_EQ(appended.exit_code, 0) << appended.errors;
  const Outcome row =
      Run({"search", "$DB", "p", "text", "csv", "-k", "1", "--columns", "_id,embedding"});
  ASSERT_EQ(row.exit_code, 0) << row.errors;
  ASSERT_THAT(row.Column("embedding"), ::testing::SizeIs(1));
  const Outcome found =
      Run({"vector", "$DB", "p", "embedding", "-", "-k", "5"}, row.Column("embedding")[0].dump());
  ASSERT_EQ(found.exit_code, 0) << found.errors;
  EXPECT_EQ(found.Column("_id")[0], row.Column("_id")[0]);
  EXPECT_LT(found.Column("score")[0].get<double>(), 1e-3);
}

TEST_F(VectorCommand, WrongRequestsSayWhatToDo) {
  MakeTable();

  struct Case {
    std::vector<std::string> arguments;
    std::string message;
  };

  const std::string vector = Vector("0", "0");
  for (const Case& each :
       {Case{{"vector", "$DB", "t", "v", "1,2,zebra"}, "'zebra' is no number"},
        Case{{"vector", "$DB", "t", "v", "1,2"}, "2 dimensions"},
        Case{{"vector", "$DB", "t", "v", "@/no/such/file"}, "/no/such/file"},
        Case{{"vector", "$DB", "t", "v", Vector("nan", "0")}, "not finite"},
        Case{{"vector", "$DB", "t", "body", vector}, "vector-indexed columns: v"},
        Case{{"vector", "$DB", "t", "v", vector, "--recall", "2"}, "target_recall"},
        Case{{"vector", "$DB", "t", "v", vector, "--nprobe", "0"}, "nprobe"},
        Case{{"vector", "$DB", "t", "v", vector, "--filter-column", "id", "--filter", "x"}, "id"},
        Case{{"hybrid", "$DB", "t", "body", "x", "v", vector + "\n" + vector}, "one query vector"},
        Case{{"hybrid", "$DB", "t", "body", "x", "v", vector, "--weights", "-1,1"}, "weight"},
        Case{{"hybrid", "$DB", "t", "body", "x", "v", vector, "--depth", "0"}, "depth"},
        Case{{"create", "$DB", "u", "--column", "v:vector(16)", "--vector", "v:inner"},
             "METRIC one of cosine, l2sq, negdot"},
        Case{{"create", "$DB", "u", "--column", "v:vector(16)", "--vector", "v:17"},
             "vectors of 16 numbers, not 17"},
        Case{{"create", "$DB", "u", "--column", "v:text", "--vector", "v"}, "no list of numbers"},
        Case{{"create", "$DB", "u", "--column", "v:vector(x)"}, "vector(N)"},
        Case{{"create", "$DB", "u", "--column", "v:vector(8)", "--vector", "v"}, "16"},
        Case{{"create", "$DB", "u", "--column", "v:vector(16)", "--vector", "v", "--rerank", "x"},
             "sq8_residual"}}) {
    const Outcome refused = Run(each.arguments);
    EXPECT_EQ(refused.exit_code, 1) << each.message;
    EXPECT_THAT(refused.errors, AllOf(HasSubstr("infino: "), HasSubstr(each.message)));
    EXPECT_THAT(refused.out, IsEmpty());
  }
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"vector", "$DB", "t", "v", vector, "--filter", "red"},
        std::vector<std::string>{"vector", "$DB", "t", "v", vector, "--filter-column", "body"},
        std::vector<std::string>{"vector", "$DB", "t", "v"},
        std::vector<std::string>{"hybrid", "$DB", "t", "body", "x", "v", vector, "--weights",
                                 "1"}}) {
    EXPECT_GE(Run(arguments).exit_code, 2);
  }
}

TEST_F(VectorCommand, VectorsThatDoNotFitLeaveTheTableAsItWas) {
  MakeTable();
  const std::string good = R"({"id":7,"body":"x","v":[)" + Vector("9", "9") + "]}\n";

  struct Case {
    std::string line;
    std::string message;
  };

  for (const Case& each :
       {Case{R"({"id":8,"body":"x","v":[1,2,3]})", "3"},
        Case{R"({"id":8,"body":"x","v":null})", "null"}, Case{R"({"id":8,"body":"x"})", "v"}}) {
    const Outcome refused =
        Run({"append", "$DB", "t", "-", "--input-format", "jsonl"}, good + each.line + "\n");
    EXPECT_EQ(refused.exit_code, 1) << each.line;
    EXPECT_THAT(refused.errors, AllOf(HasSubstr("'v'"), HasSubstr(each.message))) << each.line;
  }
  const Outcome csv =
      Run({"append", "$DB", "t", "-", "--input-format", "csv"}, "id,v\n1,\"2,3\"\n");
  EXPECT_EQ(csv.exit_code, 1);
  EXPECT_THAT(csv.errors, HasSubstr("Parquet or JSON lines"));
  EXPECT_THAT(Run({"tables", "$DB"}).Column("rows"), ElementsAre(4));
}

}  // namespace
}  // namespace infino::cli
