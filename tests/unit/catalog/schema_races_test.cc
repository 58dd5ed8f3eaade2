#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/json.h"
#include "infino/connection.h"
#include "infino/error.h"
#include "infino/search.h"
#include "infino/table.h"
#include "support/builders.h"
#include "support/matchers.h"
#include "support/temporary_folder.h"

namespace infino {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// One batch, before which something else happens: the append has taken its schema by then.
class InterruptedReader final : public arrow::RecordBatchReader {
 public:
  InterruptedReader(std::shared_ptr<arrow::RecordBatch> batch, std::function<void()> interrupt)
      : schema_(batch->schema()), batch_(std::move(batch)), interrupt_(std::move(interrupt)) {}

  [[nodiscard]] std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    if (batch_ != nullptr) interrupt_();
    *out = std::exchange(batch_, nullptr);
    return arrow::Status::OK();
  }

 private:
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::function<void()> interrupt_;
};

struct Column {
  std::string name;
  std::shared_ptr<arrow::DataType> type;
  std::string json;
};

std::shared_ptr<arrow::RecordBatch> BatchOf(const std::vector<Column>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const Column& column : columns) {
    fields.push_back(arrow::field(column.name, column.type));
    arrays.push_back(arrow::json::ArrayFromJSONString(column.type, column.json).ValueOrDie());
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), arrays.front()->length(), arrays);
}

/// Two connections to one folder, whose commits race.
class SchemaRaces : public ::testing::Test {
 protected:
  SchemaRaces()
      : here_(Connect(folder_.path()).ValueOrDie()), there_(Connect(folder_.path()).ValueOrDie()) {
    MustSucceed(here_
                    ->EvolveSchema("t", R"({"fields": [
        {"name": "all", "type": "large_utf8", "index": {"kind": "fts"}},
        {"name": "n", "type": "i32"}]})")
                    .status());
    table_ = here_->OpenTable("t").ValueOrDie();
    other_ = there_->OpenTable("t").ValueOrDie();
  }

  void PatchThere(const std::string& field) {
    MustSucceed(there_->EvolveSchema("t", R"({"fields": [)" + field + "]}").status());
  }

  /// An append here, with something committed there while it is under way.
  arrow::Status AppendWhile(const std::vector<Column>& columns,
                            const std::function<void()>& interrupt) {
    return table_->Append(std::make_shared<InterruptedReader>(BatchOf(columns), interrupt))
        .status();
  }

  /// The values of a column of all rows.
  std::shared_ptr<arrow::Array> Values(const std::string& column) {
    MatchRequest request{.column = "all", .query = "x"};
    request.projection = {column};
    const auto rows = table_->TokenMatch(request).ValueOrDie();
    return rows->column(0)->num_chunks() == 0 ? nullptr : rows->column(0)->chunk(0);
  }

  void ExpectValues(const std::string& column, const std::shared_ptr<arrow::DataType>& type,
                    const std::string& json) {
    const auto values = Values(column);
    ASSERT_NE(values, nullptr);
    EXPECT_TRUE(values->Equals(*arrow::json::ArrayFromJSONString(type, json).ValueOrDie()))
        << values->ToString();
  }

  [[nodiscard]] std::vector<std::string> Names() {
    return table_->GetSchema().ValueOrDie()->field_names();
  }

  TemporaryFolder folder_;
  std::shared_ptr<Connection> here_;
  std::shared_ptr<Connection> there_;
  std::shared_ptr<Table> table_;
  std::shared_ptr<Table> other_;
};

Column All() {
  return {"all", arrow::large_utf8(), R"(["x"])"};
}

TEST_F(SchemaRaces, AnAppendLosesAColumnThatWasDroppedMeanwhile) {
  INFINO_ASSERT_OK(AppendWhile({All(), {"n", arrow::int32(), "[7]"}},
                               [&] { PatchThere(R"({"name": "n", "dropped": true})"); }));
  EXPECT_THAT(Names(), ElementsAre("all"));
  INFINO_ASSERT_OK(AppendWhile({All(), {"n", arrow::utf8(), R"(["again"])"}}, [] {}));
  ExpectValues("n", arrow::utf8(), R"([null, "again"])");
}

TEST_F(SchemaRaces, AnAppendFollowsARenamedAndWidenedColumn) {
  INFINO_ASSERT_OK(AppendWhile({All(), {"n", arrow::int32(), "[7]"}}, [&] {
    PatchThere(R"({"name": "n", "type": "i64"})");
    PatchThere(R"({"id": 2, "name": "m"})");
  }));
  EXPECT_THAT(Names(), ElementsAre("all", "m"));
  ExpectValues("m", arrow::int64(), "[7]");
}

TEST_F(SchemaRaces, AChangeDoesNotWaitForAnAppendOfTheSameConnection) {
  INFINO_ASSERT_OK(AppendWhile({All(), {"n", arrow::int32(), "[7]"}}, [&] {
    MustSucceed(here_->EvolveSchema("t", R"({"fields": [{"name": "n", "type": "f64"}]})").status());
  }));
  ExpectValues("n", arrow::float64(), "[7]");
}

TEST_F(SchemaRaces, AppendsThatAddOneColumnShareIt) {
  INFINO_ASSERT_OK(AppendWhile({All(), {"new", arrow::int64(), "[1]"}}, [&] {
    MustSucceed(
        other_
            ->Append(ReaderOf(BatchOf(
                {All(), {"new", arrow::int64(), "[2]"}, {"more", arrow::utf8(), R"(["a"])"}})))
            .status());
  }));
  EXPECT_THAT(Names(), ElementsAre("all", "n", "new", "more"));
  ASSERT_EQ(Values("new")->null_count(), 0);
  EXPECT_EQ(Values("new")->length(), 2);
  EXPECT_EQ(Values("more")->null_count(), 1);
}

TEST_F(SchemaRaces, AppendsThatAddDifferentColumnsBothDo) {
  INFINO_ASSERT_OK(AppendWhile({All(), {"mine", arrow::int8(), "[1]"}}, [&] {
    MustSucceed(
        other_->Append(ReaderOf(BatchOf({All(), {"yours", arrow::utf8(), R"(["a"])"}}))).status());
  }));
  EXPECT_THAT(Names(), ElementsAre("all", "n", "yours", "mine"));
  EXPECT_EQ(Values("mine")->null_count(), 1);
  EXPECT_EQ(Values("yours")->null_count(), 1);
}

TEST_F(SchemaRaces, AppendsThatAddOneColumnOfTwoTypesDoNotBothSucceed) {
  const arrow::Status failed = AppendWhile({All(), {"new", arrow::int64(), "[1]"}}, [&] {
    MustSucceed(
        other_->Append(ReaderOf(BatchOf({All(), {"new", arrow::utf8(), R"(["a"])"}}))).status());
  });
  EXPECT_THAT(failed, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(failed.message(), HasSubstr("'new'"));
  EXPECT_THAT(failed.message(), HasSubstr("int64"));
  EXPECT_THAT(failed.message(), HasSubstr("string"));
  ExpectValues("new", arrow::utf8(), R"(["a"])");
  // What a second try would bring to the column's type is a conflict instead.
  EXPECT_THAT(
      AppendWhile({All(), {"two", arrow::int64(), "[1]"}},
                  [&] {
                    MustSucceed(
                        other_->Append(ReaderOf(BatchOf({All(), {"two", arrow::int16(), "[2]"}})))
                            .status());
                  }),
      IsError(ErrorKind::kConflict));
}

TEST_F(SchemaRaces, AnAppendAndAPatchThatAddOneColumnConflict) {
  EXPECT_THAT(
      AppendWhile({All(), {"new", arrow::large_utf8(), R"(["a"])"}},
                  [&] {
                    PatchThere(
                        R"({"name": "new", "type": "large_utf8", "index": {"kind": "fts"}})");
                  }),
      IsError(ErrorKind::kConflict));
  INFINO_ASSERT_OK(AppendWhile({All(), {"new", arrow::large_utf8(), R"(["a"])"}}, [] {}));
  EXPECT_THAT(table_->Count({.column = "new", .query = "a"}), HasValue(1U));
}

TEST_F(SchemaRaces, AnAppendWithoutAColumnThatIsNotNullMeanwhileConflicts) {
  EXPECT_THAT(
      AppendWhile({All()},
                  [&] { PatchThere(R"({"name": "id", "type": "i64", "nullable": false})"); }),
      IsError(ErrorKind::kConflict));
  EXPECT_THAT(AppendWhile({All(), {"id", arrow::int64(), "[1]"}, {"n", arrow::int32(), "[1]"}},
                          [&] { PatchThere(R"({"name": "n", "nullable": false})"); }),
              IsError(ErrorKind::kConflict));
  INFINO_ASSERT_OK(
      AppendWhile({All(), {"id", arrow::int64(), "[1]"}, {"n", arrow::int32(), "[1]"}}, [] {}));
}

TEST_F(SchemaRaces, AnAppendMayAddTheColumnAgainThatWasAddedAndDropped) {
  INFINO_ASSERT_OK(AppendWhile({All(), {"new", arrow::int64(), "[1]"}}, [&] {
    MustSucceed(
        other_->Append(ReaderOf(BatchOf({All(), {"new", arrow::int64(), "[2]"}}))).status());
    PatchThere(R"({"name": "new", "dropped": true})");
  }));
  EXPECT_THAT(Names(), ElementsAre("all", "n"));
  INFINO_ASSERT_OK(AppendWhile({All(), {"new", arrow::int8(), "[3]"}}, [] {}));
  EXPECT_EQ(Values("new")->null_count(), 2);
}

TEST_F(SchemaRaces, PatchesOfManyThreadsAllTakeEffect) {
  constexpr int kThreads = 4;
  constexpr int kPatches = 8;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const auto connection = Connect(folder_.path()).ValueOrDie();
      for (int i = 0; i < kPatches; ++i) {
        const std::string name = "c" + std::to_string(thread) + "_" + std::to_string(i);
        MustSucceed(
            connection
                ->EvolveSchema("t", R"({"fields": [{"name": ")" + name + R"(", "type": "i8"}]})")
                .status());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto document =
      ParseJson(here_->GetSchemaDocument("t").ValueOrDie(), "document").ValueOrDie();
  EXPECT_EQ(document["fields"].size(), size_t{2 + kThreads * kPatches});
  EXPECT_EQ(document["schema_id"], 1 + kThreads * kPatches);
  EXPECT_EQ(document["last_field_id"], 2 + kThreads * kPatches);
}

TEST_F(SchemaRaces, OfPatchesThatExpectOneSchemaOneWins) {
  constexpr size_t kThreads = 4;
  std::vector<arrow::Status> outcomes(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const auto connection = Connect(folder_.path()).ValueOrDie();
      outcomes[i] =
          connection
              ->EvolveSchema(
                  "t", R"({"fields": [{"name": "c)" + std::to_string(i) + R"(", "type": "i8"}]})",
                  1)
              .status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  size_t won = 0;
  for (const arrow::Status& outcome : outcomes) {
    if (outcome.ok()) {
      ++won;
    } else {
      EXPECT_THAT(outcome, IsError(ErrorKind::kConflict));
    }
  }
  EXPECT_EQ(won, 1U);
  EXPECT_EQ(Names().size(), 3U);
}

TEST_F(SchemaRaces, APatchThatChangesNothingCommitsNothing) {
  INFINO_ASSERT_OK_AND_ASSIGN(const TableStats before, table_->Stats());
  INFINO_ASSERT_OK_AND_ASSIGN(const std::string document, here_->GetSchemaDocument("t"));
  EXPECT_THAT(here_->EvolveSchema("t", document), HasValue(document));
  EXPECT_THAT(here_->EvolveSchema("t", "{}", 1), HasValue(document));
  EXPECT_THAT(here_->EvolveSchema("t", "{}", 2), IsError(ErrorKind::kConflict));
  INFINO_ASSERT_OK_AND_ASSIGN(const TableStats after, table_->Stats());
  EXPECT_EQ(after.version, before.version);
  EXPECT_THAT(here_->GetSchemaDocument("nope"), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(here_->EvolveSchema("nope", "{}", 1), IsError(ErrorKind::kConflict));
  EXPECT_THAT(here_->EvolveSchema("nope", "{}"), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(here_->ListTables(), HasValue(ElementsAre("t")));
}

TEST_F(SchemaRaces, StrictConnectionsRefuseUnknownColumns) {
  ConnectOptions options;
  options.strict_schema = true;
  const auto strict = Connect(folder_.path(), options).ValueOrDie()->OpenTable("t").ValueOrDie();
  for (const auto& type : {arrow::int64(), arrow::null()}) {
    EXPECT_THAT(strict->Append(ReaderOf(BatchOf({All(), {"new", type, "[null]"}}))),
                IsError(ErrorKind::kInvalidArgument));
  }
  // Without a type there is nothing to add.
  INFINO_ASSERT_OK(
      table_->Append(ReaderOf(BatchOf({All(), {"new", arrow::null(), "[null]"}}))).status());
  EXPECT_THAT(Names(), ElementsAre("all", "n"));
}

}  // namespace
}  // namespace infino
