#include "infino/connection.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <arrow/table.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/catalog/catalog.h"
#include "infino/catalog/connect_to_store.h"
#include "infino/catalog/session.h"
#include "infino/commit/table_writer.h"
#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/search.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "infino/table.h"
#include "support/builders.h"
#include "support/faulty_store.h"
#include "support/matchers.h"
#include "support/temporary_folder.h"

namespace infino {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::shared_ptr<Connection> ConnectTo(const std::shared_ptr<ObjectStore>& store,
                                      const ConnectOptions& options = {}) {
  const PartsSource source = [store]() -> arrow::Result<RuntimeParts> {
    return RuntimeParts{.store = store, .clock = SystemClock(), .random = Random::FromSystem()};
  };
  return ConnectToStore("test://", source, options).ValueOrDie();
}

std::vector<int64_t> RowsFor(Table& table, const std::string& query) {
  const auto found = table.Search(
      {.column = "text", .query = query, .projection = std::vector<std::string>{"row"}});
  EXPECT_THAT(found, IsOk());
  return found.ok() ? Int64Column(**found, "row") : std::vector<int64_t>{-1};
}

arrow::Status AppendTexts(Table& table, const std::vector<NullableText>& texts,
                          int64_t first_row = 0) {
  return table.Append(ReaderOf(texts, first_row)).status();
}

/// The same for tables in memory and on disk.
class ConnectionTest : public ::testing::TestWithParam<bool> {
 protected:
  ConnectionTest() : uri_(GetParam() ? "memory://" : folder_.path()) {}

  std::shared_ptr<Connection> Open() { return Connect(uri_).ValueOrDie(); }

  static std::shared_ptr<Table> CreateDocs(Connection& connection) {
    return connection.CreateTable("docs", RowTextSchema(), TextIndex()).ValueOrDie();
  }

  TemporaryFolder folder_;
  std::string uri_;
};

INSTANTIATE_TEST_SUITE_P(Stores, ConnectionTest, ::testing::Values(true, false),
                         [](const auto& store) { return store.param ? "memory" : "local"; });

TEST_P(ConnectionTest, CreatesAppendsAndSearches) {
  const auto connection = Open();
  const auto table = CreateDocs(*connection);
  EXPECT_EQ(table->name(), "docs");
  EXPECT_THAT(RowsFor(*table, "fox"), IsEmpty());
  ASSERT_THAT(AppendTexts(*table, {"a fox", "a dog", {}, "fox fox"}), IsOk());
  EXPECT_THAT(RowsFor(*table, "fox"), ElementsAre(3, 0));
  EXPECT_THAT(table->Count({.column = "text", .query = "fox dog"}), HasValue(Eq(3U)));
  const auto stats = table->Stats();
  ASSERT_THAT(stats, IsOk());
  EXPECT_EQ(stats->rows, 4U);
  EXPECT_EQ(stats->version, 2U);
  EXPECT_EQ(stats->superfiles, 1U);
  EXPECT_GT(stats->bytes, 0U);
}

TEST_P(ConnectionTest, GivesBackTheDeclaredSchemaAndIndexes) {
  const auto connection = Open();
  const TextIndexOptions options{.k1 = 0.9, .b = 0.4};
  ASSERT_THAT(connection->CreateTable("docs", RowTextSchema(), TextIndex(options)), IsOk());
  const auto table = connection->OpenTable("docs");
  ASSERT_THAT(table, IsOk());
  const auto schema = (*table)->GetSchema();
  ASSERT_THAT(schema, IsOk());
  EXPECT_TRUE((*schema)->Equals(*RowTextSchema(), /*check_metadata=*/true));
  EXPECT_THAT((*table)->GetIndexSpec(), HasValue(Eq(TextIndex(options))));
}

TEST_P(ConnectionTest, ShowsOwnWritesThroughOtherHandlesAtOnce) {
  const auto connection = Open();
  const auto writer = CreateDocs(*connection);
  const auto reader = connection->OpenTable("docs").ValueOrDie();
  EXPECT_THAT(RowsFor(*reader, "fox"), IsEmpty());
  ASSERT_THAT(AppendTexts(*writer, {"a fox"}), IsOk());
  EXPECT_THAT(RowsFor(*reader, "fox"), ElementsAre(0));
}

TEST_P(ConnectionTest, RefusesATakenNameAndABadOne) {
  const auto connection = Open();
  CreateDocs(*connection);
  EXPECT_THAT(connection->CreateTable("docs", RowTextSchema(), TextIndex()),
              IsError(ErrorKind::kAlreadyExists));
  EXPECT_THAT(connection->CreateTable("../docs", RowTextSchema(), TextIndex()),
              IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(connection->CreateTable("other", RowTextSchema(), IndexSpec().Fts("nope")),
              IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(connection->CreateTable("other", nullptr, {}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(connection->ListTables(), HasValue(ElementsAre("docs")));
}

TEST_P(ConnectionTest, ListsNamesInByteOrder) {
  const auto connection = Open();
  EXPECT_THAT(connection->ListTables(), HasValue(IsEmpty()));
  for (const char* name : {"b", "a", "B", "9"}) {
    ASSERT_THAT(connection->CreateTable(name, RowTextSchema(), {}), IsOk());
  }
  EXPECT_THAT(connection->ListTables(), HasValue(ElementsAre("9", "B", "a", "b")));
}

TEST_P(ConnectionTest, FailsToOpenWhatIsNotThere) {
  const auto connection = Open();
  const auto table = connection->OpenTable("docs");
  EXPECT_THAT(table, IsError(ErrorKind::kNotFound));
  EXPECT_THAT(table.status().message(), HasSubstr("docs"));
  EXPECT_THAT(connection->OpenTable("../docs"), IsError(ErrorKind::kNotFound));
}

TEST_P(ConnectionTest, DroppingAnUnknownNameIsNoError) {
  EXPECT_THAT(Open()->DropTable("docs"), IsOk());
}

TEST_P(ConnectionTest, HandlesOfADroppedTableFindNothingAndCannotAppend) {
  for (const bool purge : {false, true}) {
    const auto connection = Open();
    const auto table = CreateDocs(*connection);
    ASSERT_THAT(AppendTexts(*table, {"a fox"}), IsOk());
    ASSERT_THAT(connection->DropTable("docs", purge), IsOk());
    const auto expect_gone = [](const arrow::Status& status) {
      EXPECT_THAT(status, IsError(ErrorKind::kNotFound));
      EXPECT_THAT(status.message(), HasSubstr("'docs'"));
    };
    expect_gone(AppendTexts(*table, {"a fox"}));
    expect_gone(table->Search({.column = "text", .query = "fox"}).status());
    expect_gone(table->TokenMatch({.column = "text", .query = "fox"}).status());
    expect_gone(table->Count({.column = "text", .query = "fox"}).status());
    expect_gone(table->GetSchema().status());
    expect_gone(table->GetIndexSpec().status());
    expect_gone(table->Stats().status());
    EXPECT_THAT(connection->ListTables(), HasValue(IsEmpty()));
    EXPECT_THAT(connection->OpenTable("docs"), IsError(ErrorKind::kNotFound));
  }
}

TEST_P(ConnectionTest, ANameThatIsMadeAnewIsAnEmptyTable) {
  for (const bool purge : {false, true}) {
    const auto connection = Open();
    const auto old_table = CreateDocs(*connection);
    ASSERT_THAT(AppendTexts(*old_table, {"a fox"}), IsOk());
    ASSERT_THAT(connection->DropTable("docs", purge), IsOk());
    const auto new_table = CreateDocs(*connection);
    EXPECT_THAT(RowsFor(*new_table, "fox"), IsEmpty());
    EXPECT_EQ(new_table->Stats()->rows, 0U);
    EXPECT_THAT(AppendTexts(*old_table, {"a fox"}), IsError(ErrorKind::kNotFound));
    ASSERT_THAT(AppendTexts(*new_table, {"new fox"}, 7), IsOk());
    EXPECT_THAT(RowsFor(*new_table, "fox"), ElementsAre(7));
    ASSERT_THAT(connection->DropTable("docs", purge), IsOk());
  }
}

TEST_P(ConnectionTest, OneOfManyCreatorsOfANameWins) {
  const auto connection = Open();
  const auto pool = WorkPool::Make(4).ValueOrDie();
  constexpr int64_t kCreators = 12;
  std::vector<arrow::Status> outcomes(kCreators);
  ASSERT_THAT(
      ParallelFor(pool.get(), kCreators,
                  [&](int64_t i) -> arrow::Status {
                    outcomes[static_cast<size_t>(i)] =
                        connection->CreateTable("docs", RowTextSchema(), TextIndex()).status();
                    return arrow::Status::OK();
                  }),
      IsOk());
  int winners = 0;
  for (const arrow::Status& outcome : outcomes) {
    EXPECT_THAT(outcome, AnyOf(IsOk(), IsError(ErrorKind::kAlreadyExists)));
    if (outcome.ok()) ++winners;
  }
  EXPECT_EQ(winners, 1);
  ASSERT_THAT(AppendTexts(*connection->OpenTable("docs").ValueOrDie(), {"a fox"}), IsOk());
}

TEST(LocalConnection, SeesWhatAnotherConnectionWroteAtTheNextQuery) {
  const TemporaryFolder folder;
  const auto one = Connect(folder.path()).ValueOrDie();
  const auto other = Connect("file://" + folder.path()).ValueOrDie();
  const auto writer = one->CreateTable("docs", RowTextSchema(), TextIndex()).ValueOrDie();
  const auto reader = other->OpenTable("docs").ValueOrDie();
  EXPECT_THAT(RowsFor(*reader, "fox"), IsEmpty());
  for (int64_t i = 0; i < 5; ++i) {
    ASSERT_THAT(AppendTexts(*writer, {"a fox"}, i), IsOk());
    EXPECT_THAT(RowsFor(*reader, "fox"), SizeIs(static_cast<size_t>(i) + 1));
  }
  ASSERT_THAT(one->DropTable("docs"), IsOk());
  EXPECT_THAT(AppendTexts(*reader, {"a fox"}), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(reader->Count({.column = "text", .query = "fox"}), IsError(ErrorKind::kNotFound));
}

TEST(LocalConnection, APurgeLeavesNothingOfTheTable) {
  const TemporaryFolder folder;
  const auto connection = Connect(folder.path()).ValueOrDie();
  const auto table = connection->CreateTable("docs", RowTextSchema(), TextIndex()).ValueOrDie();
  ASSERT_THAT(AppendTexts(*table, {"a fox"}), IsOk());
  ASSERT_THAT(AppendTexts(*table, {"a dog"}), IsOk());
  ASSERT_THAT(connection->DropTable("docs", /*purge=*/true), IsOk());
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    left.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(left, ElementsAre("_catalog"));
}

TEST(MemoryConnection, StartsEmptyEachTime) {
  const auto one = Connect("memory://").ValueOrDie();
  ASSERT_THAT(one->CreateTable("docs", RowTextSchema(), {}), IsOk());
  EXPECT_THAT(Connect("memory://").ValueOrDie()->ListTables(), HasValue(IsEmpty()));
}

TEST(Connect, RefusesOptionsOutOfRange) {
  EXPECT_THAT(Connect("memory://", {.freshness_ms = -1}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Connect("memory://", {.thread_count = -1}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Connect("memory://", {.commit_timeout_ms = -1}),
              IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Connect("s4://bucket"), IsError(ErrorKind::kInvalidArgument));
}

TEST(Connect, ValidatesOnlyWhenAsked) {
  const auto memory = MakeMemoryStore(SystemClock());
  ASSERT_THAT(memory->PutIfAbsent("_catalog/current", arrow::Buffer::FromString("{")).status(),
              IsOk());
  const PartsSource source = [memory]() -> arrow::Result<RuntimeParts> {
    return RuntimeParts{.store = memory, .clock = SystemClock(), .random = Random::FromSystem()};
  };
  EXPECT_THAT(ConnectToStore("test://", source, {}), IsOk());
  EXPECT_THAT(ConnectToStore("test://", source, {.validate = true}), IsError(ErrorKind::kCorrupt));
}

/// A table whose drop was cut short right after its pointer said so.
class HalfDropped : public ::testing::Test {
 protected:
  HalfDropped() {
    const auto connection = ConnectTo(memory_);
    const auto table = connection->CreateTable("docs", RowTextSchema(), TextIndex()).ValueOrDie();
    MustSucceed(AppendTexts(*table, {"a fox"}));
    const Catalog catalog(memory_, {.clock = SystemClock(), .random = Random::FromSystem()});
    folder_ = catalog.Read()->tables.at("docs");
    const WriterEnvironment environment{.store = memory_,
                                        .clock = SystemClock(),
                                        .random = Random::FromSystem(),
                                        .pool = WorkPool::Make(1).ValueOrDie()};
    MustSucceed(CommitDrop(environment, folder_));
  }

  std::shared_ptr<ObjectStore> memory_ = MakeMemoryStore(SystemClock());
  std::string folder_;
};

TEST_F(HalfDropped, CountsAsAbsentWhenOpened) {
  EXPECT_THAT(ConnectTo(memory_)->OpenTable("docs"), IsError(ErrorKind::kNotFound));
}

TEST_F(HalfDropped, IsReplacedByWhoCreatesThatName) {
  const auto connection = ConnectTo(memory_);
  const auto table = connection->CreateTable("docs", RowTextSchema(), TextIndex());
  ASSERT_THAT(table, IsOk());
  EXPECT_EQ((*table)->Stats()->rows, 0U);
  EXPECT_THAT(connection->ListTables(), HasValue(ElementsAre("docs")));
}

TEST_F(HalfDropped, IsCleanedUpByASecondDrop) {
  const auto connection = ConnectTo(memory_);
  ASSERT_THAT(connection->DropTable("docs"), IsOk());
  EXPECT_THAT(connection->ListTables(), HasValue(IsEmpty()));
  EXPECT_THAT(memory_->List(folder_ + "/").result(), HasValue(IsEmpty()));
}

TEST(CreateTable, LeavesNothingBehindWhenItLosesTheName) {
  const auto memory = MakeMemoryStore(SystemClock());
  const auto connection = ConnectTo(memory);
  ASSERT_THAT(connection->CreateTable("docs", RowTextSchema(), TextIndex()), IsOk());
  const size_t before = memory->List("").result()->size();
  EXPECT_THAT(connection->CreateTable("docs", RowTextSchema(), TextIndex()),
              IsError(ErrorKind::kAlreadyExists));
  EXPECT_THAT(memory->List("").result(), HasValue(SizeIs(before)));
}

TEST(CreateTable, SurvivesUnclearAnswersOfTheCatalog) {
  for (const Faults& fault : {Faults{.lose_answer = 1}, Faults{.echo = 1}, Faults{.fail_before = 1},
                              Faults{.delay_put = 1}}) {
    for (size_t call = 0; call < 12; ++call) {
      const auto store =
          std::make_shared<FaultyStore>(MakeMemoryStore(SystemClock()), 1, FaultPlan());
      const auto connection = ConnectTo(store);
      ASSERT_THAT(connection->CreateTable("first", RowTextSchema(), TextIndex()), IsOk());
      store->FailCall(store->call_count() + call, fault);
      const auto table = connection->CreateTable("docs", RowTextSchema(), TextIndex());
      ASSERT_THAT(table, IsOk()) << call;
      store->Settle();
      ASSERT_THAT(AppendTexts(**table, {"a fox"}), IsOk());
      EXPECT_THAT(RowsFor(*connection->OpenTable("docs").ValueOrDie(), "fox"), ElementsAre(0));
      EXPECT_THAT(connection->ListTables(), HasValue(ElementsAre("docs", "first")));
    }
  }
}

}  // namespace
}  // namespace infino
