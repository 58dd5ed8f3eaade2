#include "infino/catalog/catalog.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/storage/memory_store.h"
#include "infino/supertable/layout.h"
#include "support/faulty_store.h"
#include "support/forwarding_store.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A store in which another writer changes the catalog just before each swap.
class RacingStore final : public ForwardingStore {
 public:
  RacingStore(std::shared_ptr<ObjectStore> store, const Catalog& rival)
      : ForwardingStore(std::move(store)), rival_(rival) {}

  arrow::Future<PutResult> PutIfMatch(std::string_view path, std::shared_ptr<arrow::Buffer> bytes,
                                      const ObjectVersion& expected) override {
    const std::string folder = "other-" + std::to_string(++rounds_);
    EXPECT_THAT(rival_.Add("other", folder, "other-" + std::to_string(rounds_ - 1)), IsOk());
    return ForwardingStore::PutIfMatch(path, std::move(bytes), expected);
  }

 private:
  const Catalog& rival_;
  int rounds_ = 0;
};

class CatalogTest : public ::testing::Test {
 protected:
  CatalogTest()
      : clock_(std::make_shared<ManualClock>(1'000'000)),
        memory_(MakeMemoryStore(clock_)),
        store_(std::make_shared<FaultyStore>(memory_, TestSeed(), FaultPlan())) {}

  [[nodiscard]] Catalog MakeCatalog(int64_t timeout_ms = 60'000) const {
    return {std::make_shared<AssertingStore>(store_),
            {.clock = clock_,
             .random = std::make_shared<Random>(TestSeed()),
             .timeout_ms = timeout_ms}};
  }

  void Overwrite(const std::string& text) {
    ASSERT_THAT(memory_->Delete(CatalogPath()).status(), IsOk());
    ASSERT_THAT(memory_->PutIfAbsent(CatalogPath(), arrow::Buffer::FromString(text)).status(),
                IsOk());
  }

  std::shared_ptr<ManualClock> clock_;
  std::shared_ptr<ObjectStore> memory_;
  std::shared_ptr<FaultyStore> store_;
};

TEST_F(CatalogTest, IsEmptyBeforeAnythingWasCreated) {
  EXPECT_THAT(MakeCatalog().Read(), HasValue(Eq(CatalogContent{})));
}

TEST_F(CatalogTest, KeepsWhatWasAdded) {
  const Catalog catalog = MakeCatalog();
  EXPECT_THAT(catalog.Add("docs", "docs-1", ""), HasValue(Eq("docs-1")));
  EXPECT_THAT(catalog.Add("Docs", "Docs-2", ""), HasValue(Eq("Docs-2")));
  const CatalogContent expected{.version = 2, .tables = {{"Docs", "Docs-2"}, {"docs", "docs-1"}}};
  EXPECT_THAT(catalog.Read(), HasValue(Eq(expected)));
}

TEST_F(CatalogTest, TellsWhoHasANameThatIsTaken) {
  const Catalog catalog = MakeCatalog();
  ASSERT_THAT(catalog.Add("docs", "docs-1", ""), IsOk());
  EXPECT_THAT(catalog.Add("docs", "docs-2", ""), HasValue(Eq("docs-1")));
  EXPECT_THAT(catalog.Add("docs", "docs-2", "docs-0"), HasValue(Eq("docs-1")));
  EXPECT_THAT(catalog.Add("docs", "docs-2", "docs-1"), HasValue(Eq("docs-2")));
}

TEST_F(CatalogTest, RemovesAnEntryOnlyIfItIsTheOneMeant) {
  const Catalog catalog = MakeCatalog();
  ASSERT_THAT(catalog.Add("docs", "docs-1", ""), IsOk());
  EXPECT_THAT(catalog.Remove("docs", "docs-0"), IsOk());
  EXPECT_EQ(catalog.Read()->tables.size(), 1U);
  EXPECT_THAT(catalog.Remove("docs", "docs-1"), IsOk());
  EXPECT_THAT(catalog.Read()->tables, IsEmpty());
  EXPECT_THAT(catalog.Remove("docs", "docs-1"), IsOk());
}

TEST_F(CatalogTest, SettlesALostAnswerByLookingForTheOwnFolder) {
  const Catalog catalog = MakeCatalog();
  store_->FailCall(1, {.lose_answer = 1});
  EXPECT_THAT(catalog.Add("docs", "docs-1", ""), HasValue(Eq("docs-1")));
  EXPECT_EQ(catalog.Read()->version, 1U);
}

TEST_F(CatalogTest, SettlesAnEchoedPreconditionFailureTheSameWay) {
  const Catalog catalog = MakeCatalog();
  store_->FailCall(1, {.echo = 1});
  EXPECT_THAT(catalog.Add("docs", "docs-1", ""), HasValue(Eq("docs-1")));
  EXPECT_EQ(catalog.Read()->version, 1U);
}

TEST_F(CatalogTest, MakesEveryChangeUnderFaultsExactlyOnce) {
  const Catalog catalog = MakeCatalog();
  store_->SetPlan(FaultPlan::Everywhere(
      {.fail_before = 0.1, .lose_answer = 0.1, .delay_put = 0.1, .echo = 0.1}));
  for (int i = 0; i < 40; ++i) {
    const std::string name = "t" + std::to_string(i);
    arrow::Result<std::string> added = catalog.Add(name, name + "-1", "");
    // The first read of a change may fail, before anything was sent.
    while (!added.ok()) added = catalog.Add(name, name + "-1", "");
    EXPECT_EQ(*added, name + "-1");
  }
  store_->SetPlan(FaultPlan());
  store_->Settle();
  EXPECT_EQ(catalog.Read()->tables.size(), 40U);
}

TEST_F(CatalogTest, GivesUpWithUnknownWhenNoAnswerEverComes) {
  const Catalog catalog = MakeCatalog(2000);
  store_->SetPlan(FaultPlan().Set(StoreOp::kPutIfAbsent, {.fail_before = 1}));
  const auto added = catalog.Add("docs", "docs-1", "");
  EXPECT_THAT(added, IsError(ErrorKind::kCommitUnknown));
}

TEST_F(CatalogTest, GivesUpWithConflictWhenOthersAreAlwaysFaster) {
  const Catalog rival = MakeCatalog();
  ASSERT_THAT(rival.Add("other", "other-0", ""), IsOk());
  const Catalog slow(
      std::make_shared<RacingStore>(store_, rival),
      {.clock = clock_, .random = std::make_shared<Random>(TestSeed()), .timeout_ms = 2000});
  EXPECT_THAT(slow.Add("docs", "docs-1", ""), IsError(ErrorKind::kConflict));
  EXPECT_FALSE(slow.Read()->tables.contains("docs"));
}

TEST_F(CatalogTest, RefusesDamage) {
  const std::vector<std::string> damaged = {
      "",
      "{",
      "[]",
      "{}",
      R"({"format_version":0,"version":1})",
      R"({"format_version":0,"version":1,"tables":[]})",
      R"({"format_version":0,"version":-1,"tables":{}})",
      R"({"format_version":0,"version":1,"tables":{"docs":7}})",
      R"({"format_version":0,"version":1,"tables":{"docs":"../etc"}})",
      R"({"format_version":0,"version":1,"tables":{"docs":""}})",
      R"({"format_version":0,"version":1,"tables":{"_catalog":"docs-1"}})",
      R"({"format_version":0,"version":1,"tables":{"a/b":"docs-1"}})",
  };
  const Catalog catalog = MakeCatalog();
  for (const std::string& text : damaged) {
    Overwrite(text);
    EXPECT_THAT(catalog.Read(), IsError(ErrorKind::kCorrupt)) << text;
    EXPECT_THAT(catalog.Add("x", "x-1", ""), IsError(ErrorKind::kCorrupt)) << text;
  }
}

TEST_F(CatalogTest, RefusesANewerFormat) {
  Overwrite(R"({"format_version":1,"version":1,"tables":{}})");
  EXPECT_THAT(MakeCatalog().Read(), IsError(ErrorKind::kUnsupportedVersion));
}

TEST_F(CatalogTest, EveryFlippedByteIsNoticedOrHarmless) {
  const CatalogContent content{.version = 12, .tables = {{"docs", "docs-1"}, {"x", "x-2"}}};
  const std::string good = EncodeCatalog(content)->ToString();
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x80);
    EXPECT_THAT(DecodeCatalog(*arrow::Buffer::FromString(bad)), IsError(ErrorKind::kCorrupt)) << i;
    EXPECT_THAT(DecodeCatalog(*arrow::Buffer::FromString(good.substr(0, i))),
                IsError(ErrorKind::kCorrupt))
        << i;
  }
  EXPECT_THAT(DecodeCatalog(*arrow::Buffer::FromString(good)), HasValue(Eq(content)));
}

TEST(TableName, IsOneHarmlessPathSegment) {
  for (const std::string& good : {std::string("a"), std::string("A-b_9"), std::string("9x"),
                                  std::string("-"), std::string(200, 'x')}) {
    EXPECT_THAT(CheckTableName(good), IsOk()) << good;
  }
  for (const std::string& bad :
       {std::string(), std::string("_x"), std::string("a/b"), std::string("../x"),
        std::string("a.b"), std::string("a b"), std::string("é"), std::string("a\0b", 3),
        std::string("'"), std::string(201, 'x')}) {
    const arrow::Status status = CheckTableName(bad);
    EXPECT_THAT(status, IsError(ErrorKind::kInvalidArgument)) << bad;
    EXPECT_THAT(status.message(), HasSubstr("invalid table name"));
  }
}

}  // namespace
}  // namespace infino
