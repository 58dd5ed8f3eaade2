#include "infino/query/text_executor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/scalar.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/query/superfile_cache.h"
#include "infino/search.h"
#include "infino/storage/block_cache.h"
#include "support/builders.h"
#include "support/matchers.h"
#include "unit/query/table_on_store.h"

namespace infino {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;

constexpr int64_t kBudget = int64_t{64} << 20;

class TextExecutor : public ::testing::Test {
 protected:
  TextExecutor() {
    environment_.superfiles = std::make_shared<SuperfileCache>(
        table_.store(), std::make_shared<BlockCache>(kBudget), kBudget);
  }

  arrow::Result<std::shared_ptr<arrow::Table>> Search(const TextSearchRequest& request) {
    return SearchText(environment_, table_.snapshot(), table_.folder(), request);
  }

  arrow::Result<std::shared_ptr<arrow::Table>> Match(const MatchRequest& request) {
    return MatchTokens(environment_, table_.snapshot(), table_.folder(), request);
  }

  arrow::Result<uint64_t> Count(const std::string& query) {
    return CountMatches(environment_, table_.snapshot(), table_.folder(),
                        {.column = "text", .query = query});
  }

  std::vector<int64_t> RowsFor(const std::string& query, uint64_t k = 10) {
    const auto found = Search(
        {.column = "text", .query = query, .k = k, .projection = std::vector<std::string>{"row"}});
    EXPECT_THAT(found, IsOk());
    return found.ok() ? Int64Column(**found, "row") : std::vector<int64_t>{-1};
  }

  TableOnStore table_;
  QueryEnvironment environment_;
};

TEST_F(TextExecutor, FindsTheBestRowsOfAllSuperfiles) {
  table_.AddSuperfile({"a fox and a dog", "fox", "cat"});
  table_.AddSuperfile({"fox fox", "nothing here"});
  EXPECT_THAT(RowsFor("fox"), ElementsAre(3, 1, 0));
  EXPECT_THAT(RowsFor("fox", 2), ElementsAre(3, 1));
  EXPECT_THAT(RowsFor("fox -dog"), ElementsAre(3, 1));
  EXPECT_THAT(RowsFor("+dog fox"), ElementsAre(0));
  EXPECT_THAT(RowsFor("unicorn"), IsEmpty());
}

TEST_F(TextExecutor, AtEqualScoresTheSmallerIdWinsWhereverItStands) {
  for (int i = 0; i < 5; ++i) table_.AddSuperfile({"same text", "same text"});
  EXPECT_THAT(RowsFor("same", 5), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(RowsFor("same", 7), ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

TEST_F(TextExecutor, GivesIdsAndScoresWithoutReadingRows) {
  table_.AddSuperfile({"a fox"});
  const auto found = Search({.column = "text", .query = "fox"});
  ASSERT_THAT(found, IsOk());
  EXPECT_THAT((*found)->schema()->field_names(), ElementsAre("_id", "score"));
  EXPECT_THAT(IdColumn(**found), ElementsAre(RowId{.high = 7, .low = 1000}));
  EXPECT_GT(FloatColumn(**found, "score").at(0), 0.0F);
  EXPECT_THAT((*found)->ValidateFull(), IsOk());
}

TEST_F(TextExecutor, PutsColumnsInTheOrderAskedFor) {
  table_.AddSuperfile({"a fox", "no"});
  table_.AddSuperfile({"fox"});
  const auto found = Search({.column = "text",
                             .query = "fox",
                             .projection = std::vector<std::string>{"text", "_id", "row", "text"}});
  ASSERT_THAT(found, IsOk());
  EXPECT_THAT((*found)->schema()->field_names(), ElementsAre("text", "_id", "row", "text"));
  EXPECT_THAT((*found)->ValidateFull(), IsOk());
  EXPECT_THAT(Int64Column(**found, "row"), ElementsAre(2, 0));
  EXPECT_EQ((*found)->column(0)->GetScalar(0).ValueOrDie()->ToString(), "fox");
  EXPECT_EQ((*found)->column(3)->GetScalar(1).ValueOrDie()->ToString(), "a fox");
}

TEST_F(TextExecutor, GivesRowsWithoutColumns) {
  table_.AddSuperfile({"a fox", "fox"});
  const auto found =
      Search({.column = "text", .query = "fox", .projection = std::vector<std::string>{}});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ((*found)->num_columns(), 0);
  EXPECT_EQ((*found)->num_rows(), 2);
}

TEST_F(TextExecutor, AnEmptyResultHasTheSchemaAskedFor) {
  const std::vector<std::string> names = {"score", "row", "text", "_id"};
  const auto expect_empty = [&](const std::string& query, uint64_t k) {
    const auto found = Search({.column = "text", .query = query, .k = k, .projection = names});
    ASSERT_THAT(found, IsOk());
    EXPECT_EQ((*found)->num_rows(), 0);
    EXPECT_EQ((*found)->schema()->field_names(), names);
    EXPECT_EQ((*found)->schema()->field(3)->type()->ToString(), "decimal128(38, 0)");
    EXPECT_EQ((*found)->schema()->field(2)->type()->id(), arrow::Type::LARGE_STRING);
  };
  expect_empty("fox", 10);
  table_.AddSuperfile({"a fox"});
  expect_empty("fox", 0);
  expect_empty("", 10);
  expect_empty("unicorn", 10);
}

TEST_F(TextExecutor, ChecksTheRequestAlsoWhereNothingWouldBeFound) {
  const std::vector<std::string> unknown = {"nope"};
  EXPECT_THAT(Search({.column = "row", .query = "fox"}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Search({.column = "text", .query = "fox", .k = 0, .projection = unknown}),
              IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Search({.column = "text", .query = "fox", .k1 = 1.0}),
              IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Search({.column = "text", .query = "-fox"}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Match({.column = "text", .query = "fox", .projection = unknown}),
              IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Count("-fox"), IsError(ErrorKind::kInvalidArgument));
}

TEST_F(TextExecutor, MatchesAllRowsInIdOrderWithScoreZero) {
  table_.AddSuperfile({"a fox", "dog"});
  table_.AddSuperfile({"fox fox fox", "fox dog"});
  const auto found = Match(
      {.column = "text", .query = "fox", .projection = std::vector<std::string>{"row", "score"}});
  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(Int64Column(**found, "row"), ElementsAre(0, 2, 3));
  EXPECT_THAT(FloatColumn(**found, "score"), ElementsAre(0.0F, 0.0F, 0.0F));
  EXPECT_THAT(Count("fox"), HasValue(Eq(3U)));
  EXPECT_THAT(Count("fox -dog"), HasValue(Eq(2U)));
  EXPECT_THAT(Count(""), HasValue(Eq(0U)));
}

TEST_F(TextExecutor, AWarmSearchAsksTheStoreForNothing) {
  for (int i = 0; i < 4; ++i) table_.AddSuperfile({"a fox", "a dog", "a cat"});
  EXPECT_THAT(RowsFor("fox dog"), ::testing::SizeIs(8));
  const auto before = table_.counters();
  EXPECT_THAT(RowsFor("fox dog"), ::testing::SizeIs(8));
  EXPECT_EQ(table_.counters().Since(before).requests(), 0);
}

TEST_F(TextExecutor, TotalsThatContradictTheFilesAreDamage) {
  table_.AddSuperfile({"fox", "fox", "fox"});
  Snapshot snapshot = table_.snapshot();
  snapshot.root.totals.texts[0].rows_with_token = 1;
  EXPECT_THAT(
      SearchText(environment_, snapshot, table_.folder(), {.column = "text", .query = "fox"}),
      IsError(ErrorKind::kCorrupt));
}

TEST_F(TextExecutor, StopsWhenTold) {
  table_.AddSuperfile({"a fox"});
  TextSearchRequest request{.column = "text", .query = "fox"};
  request.stop.poll = [] { return true; };
  EXPECT_THAT(Search(request), IsError(ErrorKind::kCancelled));
}

}  // namespace
}  // namespace infino
