#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_decimal.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/util/decimal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/connection.h"
#include "infino/error.h"
#include "infino/search.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "infino/table.h"
#include "support/builders.h"
#include "support/matchers.h"
#include "support/predicate_connection.h"
#include "support/seed.h"

namespace infino {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Names = std::vector<std::string>;

std::vector<arrow::Decimal128> Decimals(const std::vector<RowId>& ids) {
  std::vector<arrow::Decimal128> decimals;
  for (const RowId& id : ids) decimals.emplace_back(static_cast<int64_t>(id.high), id.low);
  return decimals;
}

class ChangedTable : public ::testing::Test {
 protected:
  ChangedTable()
      : store_(MakeMemoryStore(SystemClock())),
        connection_(ConnectWithPredicates(store_)),
        table_(connection_->CreateTable("docs", RowTextSchema(), TextIndex()).ValueOrDie()) {}

  void Append(const std::vector<NullableText>& texts, int64_t first_row) {
    MustSucceed(table_->Append(ReaderOf(texts, first_row)).status());
  }

  /// The ids of the rows by their numbers.
  std::map<int64_t, RowId> Ids() {
    const auto found =
        table_->TokenMatch({.column = "text", .query = "all", .projection = Names{"row", "_id"}});
    EXPECT_THAT(found, IsOk());
    const std::vector<int64_t> rows = Int64Column(**found, "row");
    const std::vector<RowId> ids = IdColumn(**found);
    std::map<int64_t, RowId> by_row;
    for (size_t i = 0; i < rows.size(); ++i) by_row.emplace(rows[i], ids[i]);
    return by_row;
  }

  std::vector<int64_t> Find(const std::string& query) {
    const auto found =
        table_->TokenMatch({.column = "text", .query = query, .projection = Names{"row"}});
    EXPECT_THAT(found, IsOk());
    return Int64Column(**found, "row");
  }

  std::shared_ptr<ObjectStore> store_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<Table> table_;
};

TEST_F(ChangedTable, KeepsTheIdsOfRowsThatAnUpdateReplaces) {
  Append({"all a", "all b", "all c"}, 0);
  Append({"all d", "all e"}, 3);
  const std::map<int64_t, RowId> before = Ids();
  const auto updated = table_->Update(
      "row % 2 = 0",
      ReaderOf(std::vector<NullableText>{"all new a", "all new c", "all new e"}, 100));
  ASSERT_THAT(updated, IsOk());
  EXPECT_EQ(updated->matched, 3U);
  EXPECT_EQ(updated->tombstoned, 3U);
  EXPECT_EQ(updated->not_found, 0U);
  EXPECT_EQ(updated->version, table_->Stats()->version);
  // The i-th new row has the place of the i-th by id.
  const std::map<int64_t, RowId> expected = {{1, before.at(1)},
                                             {3, before.at(3)},
                                             {100, before.at(0)},
                                             {101, before.at(2)},
                                             {102, before.at(4)}};
  EXPECT_EQ(Ids(), expected);
  EXPECT_THAT(Find("a"), ElementsAre(100));
  EXPECT_THAT(Find("new"), ElementsAre(100, 101, 102));
  EXPECT_EQ(table_->Stats()->rows, 5U);
}

TEST_F(ChangedTable, RefusesAnUpdateWithAnotherNumberOfRows) {
  Append({"all a", "all b", "all c"}, 0);
  const uint64_t version = table_->Stats()->version;
  for (const size_t given : {size_t{0}, size_t{1}, size_t{3}}) {
    const std::vector<NullableText> texts(given, "all new");
    const auto updated = table_->Update("row < 2", ReaderOf(texts));
    ASSERT_THAT(updated, IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT(updated.status().message(),
                HasSubstr("cardinality mismatch: predicate matched 2 rows; new_rows has " +
                          std::to_string(given)));
  }
  EXPECT_THAT(table_->Update("row = 77", ReaderOf(std::vector<NullableText>{"x"})),
              IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(table_->Update("row is odd", ReaderOf(std::vector<NullableText>{"x"})),
              IsError(ErrorKind::kInvalidArgument));
  const auto nothing = table_->Update("row = 77", ReaderOf(std::vector<NullableText>{}));
  ASSERT_THAT(nothing, IsOk());
  EXPECT_EQ(nothing->matched, 0U);
  EXPECT_EQ(table_->Stats()->version, version);
  EXPECT_THAT(Find("all"), ElementsAre(0, 1, 2));
}

TEST_F(ChangedTable, ReplacesByKeyAndAddsTheOthers) {
  Append({"all a", "all b", "all c"}, 0);
  const std::map<int64_t, RowId> before = Ids();
  const auto upserted =
      table_->Upsert(ReaderOf(std::vector<NullableText>{"all b2", "all c2", "all d2"}, 1), "row");
  ASSERT_THAT(upserted, IsOk());
  EXPECT_EQ(upserted->matched, 2U);
  EXPECT_EQ(upserted->tombstoned, 2U);
  EXPECT_EQ(upserted->not_found, 1U);
  const std::map<int64_t, RowId> after = Ids();
  ASSERT_EQ(after.size(), 4U);
  for (const int64_t row : {0, 1, 2}) EXPECT_EQ(after.at(row), before.at(row)) << row;
  EXPECT_GT(after.at(3), before.at(2));
  EXPECT_THAT(Find("b2"), ElementsAre(1));
  EXPECT_THAT(Find("b"), IsEmpty());
}

TEST_F(ChangedTable, UpsertsByTextAndTellsWhatIsAmbiguous) {
  Append({"all a", "all b", "all b", NullableText()}, 0);
  const auto upserted = table_->Upsert(
      ReaderOf(std::vector<NullableText>{"all a", NullableText(), NullableText()}, 50), "text");
  ASSERT_THAT(upserted, IsOk()) << "nulls equal nothing, not even each other";
  EXPECT_EQ(upserted->matched, 1U);
  EXPECT_EQ(upserted->not_found, 2U);
  EXPECT_THAT(Find("a"), ElementsAre(50));
  const auto stored_twice =
      table_->Upsert(ReaderOf(std::vector<NullableText>{"all b"}, 60), "text");
  ASSERT_THAT(stored_twice, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(stored_twice.status().message(), HasSubstr("'all b'"));
  const auto given_twice =
      table_->Upsert(ReaderOf(std::vector<NullableText>{"all z", "all z"}, 60), "text");
  ASSERT_THAT(given_twice, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(given_twice.status().message(), HasSubstr("'all z'"));
  EXPECT_THAT(table_->Upsert(ReaderOf(std::vector<NullableText>{"x"}), "nope"),
              IsError(ErrorKind::kInvalidArgument));
}

TEST_F(ChangedTable, UpsertsByIdAndGetsRowsByIt) {
  Append({"all a", "all b"}, 0);
  Append({"all c"}, 2);
  const std::map<int64_t, RowId> ids = Ids();
  arrow::Decimal128Builder id_builder(arrow::decimal128(38, 0));
  MustSucceed(id_builder.Append(Decimals({ids.at(2)})[0]));
  MustSucceed(id_builder.AppendNull());
  MustSucceed(id_builder.Append(Decimals({ids.at(0)})[0]));
  const auto rows = RowsOf(std::vector<NullableText>{"all c2", "all new", "all a2"}, 10);
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("_id", arrow::decimal128(38, 0)), rows->schema()->field(0),
                     rows->schema()->field(1)}),
      3, {id_builder.Finish().ValueOrDie(), rows->column(0), rows->column(1)});
  const auto upserted = table_->Upsert(ReaderOf(batch), "_id");
  ASSERT_THAT(upserted, IsOk());
  EXPECT_EQ(upserted->matched, 2U);
  EXPECT_EQ(upserted->not_found, 1U);
  const std::map<int64_t, RowId> after = Ids();
  EXPECT_EQ(after.at(10), ids.at(2));
  EXPECT_EQ(after.at(12), ids.at(0));
  EXPECT_EQ(after.at(1), ids.at(1));

  const auto got =
      table_->Get({.ids = Decimals({ids.at(2), ids.at(1), ids.at(2), RowId{}, ids.at(0)})});
  ASSERT_THAT(got, IsOk());
  EXPECT_THAT((*got)->ColumnNames(), ElementsAre("_id", "row", "text"));
  EXPECT_THAT(Int64Column(**got, "row"), ElementsAre(10, 1, 10, 12));
  MustSucceed(table_->Delete("row = 1").status());
  const auto without =
      table_->Get({.ids = Decimals({ids.at(1), ids.at(0)}), .projection = Names{"text", "_id"}});
  ASSERT_THAT(without, IsOk());
  EXPECT_THAT(TextColumn(**without, "text"), ElementsAre("all a2"));
  EXPECT_THAT(table_->Get({.ids = {}, .projection = Names{"score"}}),
              IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(table_->Get({.ids = {arrow::Decimal128(-1)}}), IsOk());
}

/// Keys of every type that can tell rows apart, against a map; also after superfiles were ruled out
/// by what the manifest knows of them.
TEST(UpsertKeys, TellRowsApartInEveryType) {
  struct Case {
    std::shared_ptr<arrow::DataType> type;
    std::string stored;  ///< Three values, in JSON, in two superfiles: two and one.
    std::string more;
    std::string given;  ///< One of the first, one of the second, one of neither.
  };

  const std::vector<Case> cases = {
      {arrow::int8(), "[-5, 7]", "[100]", "[100, -5, 8]"},
      {arrow::uint64(), "[1, 18446744073709551615]", "[7]", "[18446744073709551615, 7, 0]"},
      {arrow::int64(), "[-9223372036854775808, 3]", "[-1]", "[-1, -9223372036854775808, 5]"},
      {arrow::utf8(), R"(["a", ""])", R"(["long long long long long long long long 1"])",
       R"(["long long long long long long long long 1", "", "b"])"},
      {arrow::large_binary(), R"(["a", "b"])", R"(["c"])", R"(["a", "c", "d"])"},
      {arrow::utf8_view(), R"(["a", "b"])", R"(["c"])", R"(["c", "a", "d"])"},
      {arrow::date32(), "[1, 2]", "[-3]", "[-3, 1, 0]"},
      {arrow::date64(), "[86400000, 172800000]", "[0]", "[0, 172800000, 345600000]"},
      {arrow::timestamp(arrow::TimeUnit::SECOND), "[5, 6]", "[7]", "[7, 5, 1]"},
      {arrow::timestamp(arrow::TimeUnit::NANO, "UTC"), "[5, 6]", "[7]", "[7, 5, 1]"},
      {arrow::time32(arrow::TimeUnit::SECOND), "[5, 6]", "[7]", "[7, 5, 1]"},
      {arrow::decimal128(20, 2), R"(["1.50", "-2.00"])", R"(["3.00"])",
       R"(["3.00", "-2.00", "9.00"])"},
      {arrow::fixed_size_binary(2), R"(["ab", "cd"])", R"(["ef"])", R"(["ef", "ab", "zz"])"},
      {arrow::dictionary(arrow::int32(), arrow::utf8()), R"(["a", "b"])", R"(["c"])",
       R"(["c", "a", "d"])"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.type->ToString());
    const auto schema =
        arrow::schema({arrow::field("row", arrow::int64(), false), arrow::field("key", each.type)});
    const auto connection = ConnectWithPredicates(MakeMemoryStore(SystemClock()));
    const auto table = connection->CreateTable("docs", schema, IndexSpec()).ValueOrDie();
    const auto batch_of = [&](const std::string& keys, int64_t first_row) {
      const auto values = arrow::json::ArrayFromJSONString(each.type, keys).ValueOrDie();
      arrow::Int64Builder rows;
      for (int64_t i = 0; i < values->length(); ++i) MustSucceed(rows.Append(first_row + i));
      return ReaderOf(
          arrow::RecordBatch::Make(schema, values->length(), {rows.Finish().ValueOrDie(), values}));
    };
    MustSucceed(table->Append(batch_of(each.stored, 0)).status());
    MustSucceed(table->Append(batch_of(each.more, 2)).status());
    const auto upserted = table->Upsert(batch_of(each.given, 10), "key");
    ASSERT_THAT(upserted, IsOk());
    EXPECT_EQ(upserted->matched, 2U);
    EXPECT_EQ(upserted->not_found, 1U);
    EXPECT_EQ(table->Stats()->rows, 4U);
    const auto again = table->Upsert(batch_of(each.given, 20), "key");
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ(again->matched, 3U);
  }
}

TEST(UpsertKeys, AreNoFloatsAndNothingNested) {
  const auto schema = arrow::schema({arrow::field("row", arrow::int64(), false),
                                     arrow::field("float", arrow::float64()),
                                     arrow::field("list", arrow::list(arrow::int64()))});
  const auto connection = ConnectWithPredicates(MakeMemoryStore(SystemClock()));
  const auto table = connection->CreateTable("docs", schema, IndexSpec()).ValueOrDie();
  for (const std::string on : {"float", "list"}) {
    const auto batch = arrow::RecordBatch::MakeEmpty(schema).ValueOrDie();
    const auto upserted = table->Upsert(ReaderOf(batch), on);
    ASSERT_THAT(upserted, IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT(upserted.status().message(), HasSubstr("'" + on + "'"));
  }
}

}  // namespace
}  // namespace infino
