#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/failpoint.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/connection.h"
#include "infino/error.h"
#include "infino/search.h"
#include "infino/storage/local_store.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "infino/table.h"
#include "support/builders.h"
#include "support/faulty_store.h"
#include "support/matchers.h"
#include "support/predicate_connection.h"
#include "support/row_predicates.h"
#include "support/seed.h"
#include "support/temporary_folder.h"

namespace infino {
namespace {

/// One change as it was asked for, and what its caller was told.
struct Change {
  enum class Kind : uint8_t { kAppend, kDelete, kUpdate, kUpsert };

  Kind kind = Kind::kAppend;
  std::string predicate = {};      ///< Of a delete or an update.
  std::vector<int64_t> rows = {};  ///< Of the others: the `row` column of what was given.
  std::string text = {};           ///< What all given rows say.
  bool succeeded = false;
  ErrorKind error = ErrorKind::kInternal;
  ChangeResult result = {};
};

/// A table as a plain map. `row` is a key here, for no two rows get the same.
class Model {
 public:
  [[nodiscard]] uint64_t CountOf(const std::string& predicate) const {
    return static_cast<uint64_t>(std::ranges::count_if(
        rows_, [&](const auto& row) { return HoldsFor(predicate, row.first); }));
  }

  /// Makes a change that was published, and says whether it could have been told that.
  [[nodiscard]] bool Make(const Change& change) {
    const ChangeResult& told = change.result;
    switch (change.kind) {
      case Change::Kind::kAppend:
        for (const int64_t row : change.rows) rows_[row] = change.text;
        return true;
      case Change::Kind::kDelete: {
        const uint64_t matched = CountOf(change.predicate);
        std::erase_if(rows_,
                      [&](const auto& row) { return HoldsFor(change.predicate, row.first); });
        return told.matched == matched && told.tombstoned == matched;
      }
      case Change::Kind::kUpdate: {
        // All given rows match, so which one replaces which does not show.
        const uint64_t matched = CountOf(change.predicate);
        std::erase_if(rows_,
                      [&](const auto& row) { return HoldsFor(change.predicate, row.first); });
        for (const int64_t row : change.rows) rows_[row] = change.text;
        return told.matched == matched && matched == change.rows.size();
      }
      case Change::Kind::kUpsert: {
        uint64_t matched = 0;
        for (const int64_t row : change.rows) matched += rows_.contains(row) ? 1U : 0U;
        for (const int64_t row : change.rows) rows_[row] = change.text;
        return told.matched == matched && told.not_found == change.rows.size() - matched;
      }
    }
    return false;
  }

  [[nodiscard]] const std::map<int64_t, std::string>& rows() const { return rows_; }

 private:
  std::map<int64_t, std::string> rows_;
};

std::shared_ptr<arrow::RecordBatchReader> ReaderFor(const Change& change) {
  arrow::Int64Builder rows;
  arrow::LargeStringBuilder texts;
  for (const int64_t row : change.rows) {
    MustSucceed(rows.Append(row));
    MustSucceed(texts.Append(change.text));
  }
  return ReaderOf(
      arrow::RecordBatch::Make(RowTextSchema(), static_cast<int64_t>(change.rows.size()),
                               {rows.Finish().ValueOrDie(), texts.Finish().ValueOrDie()}));
}

/// Random changes of one table through several handles, and the check that they are what the same
/// changes would have been one after the other, in the order of their versions.
class History {
 public:
  History(std::shared_ptr<ObjectStore> store, size_t handles) : store_(std::move(store)) {
    for (size_t i = 0; i < handles; ++i) connections_.push_back(ConnectWithPredicates(store_));
    const auto first = connections_[0]->CreateTable("docs", RowTextSchema(), TextIndex());
    MustSucceed(first.status());
    for (const auto& connection : connections_) {
      tables_.push_back(connection->OpenTable("docs").ValueOrDie());
    }
  }

  /// Makes a random change through a handle.
  void ChangeSomething(size_t handle, Random& random) {
    Change change = Draw(random);
    Table& table = *tables_[handle];
    if (change.kind == Change::Kind::kUpdate) FillIn(table, change);
    arrow::Result<ChangeResult> result = Run(table, change);
    change.succeeded = result.ok();
    if (result.ok()) {
      change.result = *result;
    } else {
      change.error = KindOf(result.status()).value_or(ErrorKind::kInternal);
      // An update whose rows were changed by others on the way may fail; nothing else may.
      const bool may_fail =
          change.kind == Change::Kind::kUpdate &&
          (change.error == ErrorKind::kInvalidArgument || change.error == ErrorKind::kConflict);
      EXPECT_TRUE(may_fail) << result.status().ToString();
    }
    const std::lock_guard lock(mutex_);
    changes_.push_back(std::move(change));
  }

  /// Replays what was told in version order.
  void Check() {
    std::map<uint64_t, const Change*> published;
    std::vector<const Change*> without_effect;
    for (const Change& change : changes_) {
      if (!change.succeeded) continue;
      const bool has_effect = change.kind == Change::Kind::kAppend ||
                              change.result.tombstoned > 0 || change.result.not_found > 0;
      if (has_effect) {
        ASSERT_TRUE(published.emplace(change.result.version, &change).second)
            << "version " << change.result.version << " was published twice";
      } else {
        without_effect.push_back(&change);
      }
    }
    Model model;
    uint64_t version = 1;
    CheckIdle(without_effect, version, model);
    for (const auto& [at, change] : published) {
      ASSERT_EQ(at, ++version) << "a version is missing";
      ASSERT_TRUE(model.Make(*change))
          << "version " << at << " told matched=" << change->result.matched << " kind "
          << static_cast<int>(change->kind) << " " << change->predicate;
      CheckIdle(without_effect, version, model);
    }
    for (const auto& table : tables_) CheckRows(*table, model);
    const auto reopened = ConnectWithPredicates(store_);
    CheckRows(*reopened->OpenTable("docs").ValueOrDie(), model);
  }

  [[nodiscard]] size_t change_count() const { return changes_.size(); }

 private:
  static constexpr int64_t kKeys = 24;

  Change Draw(Random& random) {
    Change change;
    change.text = "all says " + std::to_string(random.Below(1'000'000));
    switch (random.Below(10)) {
      case 0:
      case 1:
      case 2: {
        const std::lock_guard lock(mutex_);
        for (uint64_t i = 1 + random.Below(12); i > 0; --i) change.rows.push_back(next_row_++);
        return change;
      }
      case 3:
      case 4:
        change.kind = Change::Kind::kDelete;
        change.predicate = DrawPredicate(random);
        return change;
      case 5:
      case 6:
        change.kind = Change::Kind::kUpdate;
        change.predicate = DrawPredicate(random);
        return change;
      default: {
        change.kind = Change::Kind::kUpsert;
        std::set<int64_t> keys;
        for (uint64_t i = 1 + random.Below(6); i > 0; --i) {
          keys.insert(static_cast<int64_t>(random.Below(kKeys)));
        }
        change.rows.assign(keys.begin(), keys.end());
        for (size_t i = change.rows.size(); i > 1; --i) {
          std::swap(change.rows[i - 1], change.rows[random.Below(i)]);
        }
        return change;
      }
    }
  }

  static std::string DrawPredicate(Random& random) {
    if (random.Below(3) == 0) {
      const uint64_t divisor = 5 + random.Below(20);
      return "row % " + std::to_string(divisor) + " = " + std::to_string(random.Below(divisor));
    }
    return "row = " + std::to_string(random.Below(kKeys));
  }

  /// Reads the rows that an update will replace, so that it gives as many, in their order.
  static void FillIn(Table& table, Change& change) {
    const auto found = table.TokenMatch({.column = "text",
                                         .query = "all",
                                         .projection = std::vector<std::string>{"row"},
                                         .where = change.predicate});
    ASSERT_THAT(found, IsOk());
    change.rows = Int64Column(**found, "row");
  }

  static arrow::Result<ChangeResult> Run(Table& table, const Change& change) {
    switch (change.kind) {
      case Change::Kind::kAppend: {
        ARROW_ASSIGN_OR_RAISE(const AppendResult result, table.Append(ReaderFor(change)));
        return ChangeResult{.version = result.version};
      }
      case Change::Kind::kDelete:
        return table.Delete(change.predicate);
      case Change::Kind::kUpdate:
        return table.Update(change.predicate, ReaderFor(change));
      case Change::Kind::kUpsert:
        break;
    }
    return table.Upsert(ReaderFor(change), "row");
  }

  /// A change that told of no effect at a version had none to have there.
  static void CheckIdle(const std::vector<const Change*>& changes, uint64_t version,
                        const Model& model) {
    for (const Change* change : changes) {
      if (change->result.version != version) continue;
      ASSERT_EQ(model.CountOf(change->predicate), 0U) << change->predicate << " at " << version;
    }
  }

  static void CheckRows(Table& table, const Model& model) {
    const auto found =
        table.TokenMatch({.column = "text",
                          .query = "all",
                          .projection = std::vector<std::string>{"row", "text", "_id"}});
    ASSERT_THAT(found, IsOk());
    const std::vector<int64_t> rows = Int64Column(**found, "row");
    const std::vector<NullableText> texts = TextColumn(**found, "text");
    std::map<int64_t, std::string> there;
    for (size_t i = 0; i < rows.size(); ++i) {
      ASSERT_TRUE(there.emplace(rows[i], texts[i].value_or("null")).second)
          << "row " << rows[i] << " is there twice";
    }
    ASSERT_EQ(there, model.rows());
    const std::vector<RowId> ids = IdColumn(**found);
    ASSERT_TRUE(std::ranges::adjacent_find(ids) == ids.end()) << "an id is there twice";
    ASSERT_EQ(table.Stats()->rows, model.rows().size());
  }

  std::shared_ptr<ObjectStore> store_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<std::shared_ptr<Table>> tables_;
  std::mutex mutex_;
  int64_t next_row_ = 1000;
  std::vector<Change> changes_;
};

/// All on one thread: at the failpoints inside a change, other handles make whole changes of their
/// own. So a seed repeats every interleaving.
TEST(ChangeHistory, IsWhatItsChangesAreOneAfterTheOther) {
  constexpr size_t kHandles = 4;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(TestSeed() + seed);
    History history(MakeMemoryStore(SystemClock()), kHandles);
    std::vector<bool> busy(kHandles, false);
    int depth = 0;
    const auto change = [&](size_t handle) {
      busy[handle] = true;
      ++depth;
      history.ChangeSomething(handle, random);
      --depth;
      busy[handle] = false;
    };
    SetFailpointHook([&](std::string_view name) {
      const bool is_ours =
          name.starts_with("commit.") || name == "delete.marked" || name == "replace.built";
      if (!is_ours || name == "commit.swapped" || depth > 2 || random.Below(3) != 0) return;
      const size_t handle = random.Below(kHandles);
      if (!busy[handle]) change(handle);
    });
    for (int step = 0; step < 12; ++step) change(random.Below(kHandles));
    SetFailpointHook({});
    ASSERT_NO_FATAL_FAILURE(history.Check()) << "seed " << TestSeed() + seed;
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << TestSeed() + seed;
  }
}

void RunThreads(History& history, size_t threads, int changes, uint64_t seed) {
  std::vector<std::thread> running;
  for (size_t thread = 0; thread < threads; ++thread) {
    running.emplace_back([&history, thread, changes, seed] {
      Random random(seed + thread);
      // Two threads a handle, so that some of them queue up.
      for (int i = 0; i < changes; ++i) history.ChangeSomething(thread / 2, random);
    });
  }
  for (std::thread& thread : running) thread.join();
}

TEST(ChangeHistory, HoldsForThreadsThatChangeATableInMemory) {
  History history(MakeMemoryStore(SystemClock()), 3);
  RunThreads(history, 6, 25, TestSeed() + 100);
  EXPECT_EQ(history.change_count(), 150U);
  history.Check();
}

TEST(ChangeHistory, HoldsForThreadsThatChangeATableOnDisk) {
  const TemporaryFolder folder;
  History history(OpenLocalStore(folder.path()).ValueOrDie(), 2);
  RunThreads(history, 4, 15, TestSeed() + 200);
  EXPECT_EQ(history.change_count(), 60U);
  history.Check();
}

/// Swaps whose answers are lost, that fail, arrive late or twice: nothing is lost or done twice.
TEST(ChangeHistory, HoldsWhereSwapsGoUnanswered) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    FaultPlan plan;
    plan.Set(StoreOp::kPutIfMatch,
             {.fail_before = 0.1, .lose_answer = 0.2, .delay_put = 0.1, .echo = 0.1});
    const auto store = std::make_shared<FaultyStore>(MakeMemoryStore(SystemClock()),
                                                     TestSeed() + seed, FaultPlan());
    History history(store, 2);
    store->SetPlan(plan);
    RunThreads(history, 4, 12, TestSeed() + 300 + seed);
    store->SetPlan(FaultPlan());
    static_cast<void>(store->Settle());
    ASSERT_NO_FATAL_FAILURE(history.Check()) << "seed " << TestSeed() + seed;
  }
}

}  // namespace
}  // namespace infino
