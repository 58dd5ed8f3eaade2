#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "infino/commit/table_writer.h"
#include "infino/common/clock.h"
#include "infino/common/failpoint.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "infino/storage/retrying_store.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/snapshot.h"
#include "infino/table.h"
#include "sim/swap_checking_store.h"
#include "support/faulty_store.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/commit/table_harness.h"

namespace infino {
namespace {

const std::string kFolder = "sim-1";

/// What became of one append, as its caller was told.
enum class Told : uint8_t { kUnderWay, kDone, kFailed, kUnknown };

struct Attempt {
  int64_t first_row = 0;
  int64_t row_count = 0;
  Told told = Told::kUnderWay;
  std::string column;  ///< That it adds to the table unless it is there; empty: none.
};

/// One schema change: a column that nobody else adds.
struct ChangeAttempt {
  std::string column;
  Told told = Told::kUnderWay;
};

/// Several writers of one table on a store that fails, loses and delays. Everything happens on one
/// thread: at the failpoints inside a commit, other writers get to run whole commits of their own.
/// All chance comes from the seed.
class Simulation {
 public:
  explicit Simulation(uint64_t seed) : seed_(seed), random_(seed) {}

  void Run();

  [[nodiscard]] const std::vector<std::string>& trace() const { return trace_; }

  [[nodiscard]] const std::map<std::string, int>& told_count() const { return told_count_; }

 private:
  static constexpr size_t kWriterCount = 4;
  static constexpr int kStepCount = 6;
  static constexpr int kDepthMax = 3;

  void SetUp();
  FaultPlan RandomFaults();
  FaultPlan Outage();
  void DoSomething(size_t writer);
  void AppendSomething(size_t writer);
  void ChangeSomething(size_t writer);
  Told Tell(const std::string& what, const arrow::Status& status);
  StopCondition RandomStop();
  void OnFailpoint(std::string_view name);
  void Check();
  void CheckRows(const Snapshot& snapshot);
  void CheckSchema(const TableSchema& schema);
  const std::vector<int64_t>& RowsOf(const SuperfileEntry& entry, const Snapshot& snapshot);

  void Note(std::string line) { trace_.push_back(std::move(line)); }

  const uint64_t seed_;
  Random random_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(kTestNowMs);
  std::shared_ptr<ObjectStore> memory_ = MakeMemoryStore(clock_);
  std::shared_ptr<FaultyStore> faulty_;
  std::vector<TableHandle> writers_;
  std::vector<bool> busy_ = std::vector<bool>(kWriterCount, false);
  int depth_ = 0;
  int64_t next_row_ = 0;
  std::vector<Attempt> attempts_;
  std::vector<ChangeAttempt> changes_;
  uint64_t last_version_ = 1;
  std::map<SuperfileId, std::vector<int64_t>> known_rows_;
  std::vector<std::string> trace_;
  std::map<std::string, int> told_count_;
};

FaultPlan Simulation::RandomFaults() {
  const double storm = random_.Unit() * 0.15;
  FaultPlan plan = FaultPlan::Everywhere({.fail_before = storm * random_.Unit(),
                                          .lose_answer = storm * random_.Unit(),
                                          .delay_put = storm * random_.Unit(),
                                          .echo = storm * random_.Unit()});
  plan.Set(StoreOp::kPutIfMatch, {.fail_before = 0.3 * random_.Unit(),
                                  .lose_answer = 0.3 * random_.Unit(),
                                  .delay_put = 0.3 * random_.Unit(),
                                  .echo = 0.3 * random_.Unit()});
  return plan;
}

FaultPlan Simulation::Outage() {
  const double answered = 0.05;
  const double delayed = random_.Unit() * (1 - answered);
  FaultPlan plan;
  plan.Set(
      StoreOp::kPutIfMatch,
      {.fail_before = 1 - answered - delayed, .lose_answer = 0, .delay_put = delayed, .echo = 0});
  return plan;
}

void Simulation::SetUp() {
  const auto checking = std::make_shared<SwapCheckingStore>(memory_, kFolder);
  const auto asserting = std::make_shared<AssertingStore>(checking);
  faulty_ = std::make_shared<FaultyStore>(asserting, seed_, FaultPlan());
  for (size_t i = 0; i < kWriterCount; ++i) {
    WriterEnvironment environment = TestEnvironment(faulty_, seed_ * 31 + i);
    environment.clock = clock_;
    environment.commit_timeout_ms = 1500;
    environment.compression = Compression::kNone;
    // Half of the writers repeat staging puts and reads, as connections do.
    if (i % 2 == 0) {
      auto retrying = MakeRetryingStore(faulty_, clock_, std::make_shared<Random>(seed_ + i));
      INFINO_ASSERT_OK(retrying);
      environment.store = *retrying;
    }
    if (i == 0) {
      INFINO_ASSERT_OK(CommitNewTable(environment, kFolder, RowTextTableSchema()));
    }
    writers_.push_back(OpenHandle(environment, kFolder));
  }
  faulty_->SetPlan(RandomFaults());
}

void Simulation::Run() {
  SetUp();
  if (::testing::Test::HasFatalFailure()) return;
  SetFailpointHook([this](std::string_view name) { OnFailpoint(name); });
  for (int step = 0; step < kStepCount && !::testing::Test::HasFailure(); ++step) {
    // Now and then no swap is answered at all, for as long as a commit tries.
    const bool is_outage = random_.Below(8) == 0;
    if (is_outage) faulty_->SetPlan(Outage());
    DoSomething(random_.Below(kWriterCount));
    Check();
    if (is_outage) faulty_->SetPlan(RandomFaults());
    if (random_.Below(4) == 0) clock_->Advance(std::chrono::milliseconds(random_.Below(3000)));
  }
  SetFailpointHook({});
  faulty_->SetPlan(FaultPlan());
  Note("settled " + std::to_string(faulty_->Settle()));
  Check();
  for (const std::string& line : faulty_->Trace()) Note(line);
}

StopCondition Simulation::RandomStop() {
  StopCondition stop;
  if (random_.Below(10) != 0) return stop;
  stop.poll = [left = random_.Below(12)]() mutable { return left-- == 0; };
  return stop;
}

void Simulation::AppendSomething(size_t writer) {
  busy_[writer] = true;
  ++depth_;
  const auto count = static_cast<int64_t>(1 + random_.Below(3));
  const size_t number = attempts_.size();
  attempts_.push_back({.first_row = next_row_, .row_count = count, .column = {}});
  next_row_ += count;
  AppendOptions options;
  options.stop = RandomStop();
  std::shared_ptr<arrow::RecordBatch> rows = NumberedRows(attempts_[number].first_row, count, 1);
  if (random_.Below(3) == 0) {
    // One of few, so that appends add the same one at the same time.
    attempts_[number].column = "x" + std::to_string(random_.Below(3));
    const auto values = arrow::MakeArrayOfNull(arrow::int64(), count).ValueOrDie();
    rows = rows->AddColumn(rows->num_columns(), attempts_[number].column, values).ValueOrDie();
  }
  const auto result = writers_[writer].writer->Append(StreamOf(std::move(rows)), options);
  attempts_[number].told = Tell(
      "writer " + std::to_string(writer) + " append " + std::to_string(number), result.status());
  --depth_;
  busy_[writer] = false;
}

void Simulation::ChangeSomething(size_t writer) {
  busy_[writer] = true;
  ++depth_;
  const size_t number = changes_.size();
  const std::string column = "c" + std::to_string(number);
  changes_.push_back({.column = column});
  const auto result = writers_[writer].writer->ChangeSchema(
      [&](const TableSchema& schema, bool) -> arrow::Result<std::optional<TableSchema>> {
        if (schema.Find(column) != nullptr) return std::optional<TableSchema>();
        TableSchema next = schema;
        ++next.schema_id;
        next.columns.push_back({.field_id = ++next.last_field_id,
                                .field = arrow::field(column, arrow::utf8()),
                                .text = std::nullopt});
        return next;
      },
      RandomStop());
  changes_[number].told = Tell(
      "writer " + std::to_string(writer) + " change " + std::to_string(number), result.status());
  --depth_;
  busy_[writer] = false;
}

void Simulation::DoSomething(size_t writer) {
  if (random_.Below(5) == 0) {
    ChangeSomething(writer);
  } else {
    AppendSomething(writer);
  }
}

Told Simulation::Tell(const std::string& what, const arrow::Status& status) {
  EXPECT_FALSE(IsError(status, ErrorKind::kInternal)) << status.ToString();
  EXPECT_FALSE(IsError(status, ErrorKind::kCorrupt)) << status.ToString();
  EXPECT_FALSE(IsError(status, ErrorKind::kInvalidArgument)) << status.ToString();
  std::string told = "done";
  if (!status.ok()) told = NameOf(KindOf(status).value_or(ErrorKind::kInternal));
  ++told_count_[told];
  Note(what + ": " + told);
  if (status.ok()) return Told::kDone;
  return IsError(status, ErrorKind::kCommitUnknown) ? Told::kUnknown : Told::kFailed;
}

void Simulation::OnFailpoint(std::string_view name) {
  if (!name.starts_with("commit.") || depth_ >= kDepthMax || random_.Below(4) != 0) return;
  std::vector<size_t> idle;
  for (size_t i = 0; i < kWriterCount; ++i) {
    if (!busy_[i]) idle.push_back(i);
  }
  if (idle.empty()) return;
  Note("at " + std::string(name));
  DoSomething(idle[random_.Below(idle.size())]);
  Check();
}

/// Reads past the faults: what is really there.
void Simulation::Check() {
  WriterEnvironment environment = TestEnvironment(memory_);
  environment.clock = clock_;
  const TableHandle reader = OpenHandle(environment, kFolder);
  const auto snapshot = reader.loader->Newest({});
  ASSERT_THAT(snapshot, IsOk()) << "seed " << seed_;
  const ManifestRoot& root = (*snapshot)->root;
  EXPECT_GE(root.version, last_version_) << "seed " << seed_;
  for (size_t i = 0; i + 1 < root.versions.size(); ++i) {
    EXPECT_EQ(root.versions[i].version, root.versions[i + 1].version + 1) << "seed " << seed_;
  }
  last_version_ = root.version;
  CheckRows(**snapshot);
  CheckSchema(root.schema);
}

/// Each column came by one commit, which counted the schema's id up by one.
void Simulation::CheckSchema(const TableSchema& schema) {
  const auto declared = static_cast<int32_t>(RowTextTableSchema().columns.size());
  EXPECT_EQ(schema.schema_id, static_cast<int32_t>(schema.columns.size()) - declared + 1)
      << "seed " << seed_;
  std::set<std::string> names;
  for (const TableColumn& column : schema.columns) {
    EXPECT_TRUE(names.insert(column.field->name()).second) << "column twice, seed " << seed_;
  }
  for (const ChangeAttempt& change : changes_) {
    if (change.told == Told::kDone) {
      EXPECT_TRUE(names.contains(change.column)) << "change lost, seed " << seed_;
    }
    if (change.told == Told::kFailed) {
      EXPECT_FALSE(names.contains(change.column)) << "failed but there, seed " << seed_;
    }
  }
  for (const Attempt& attempt : attempts_) {
    if (attempt.told != Told::kDone || attempt.column.empty()) continue;
    EXPECT_TRUE(names.contains(attempt.column)) << "added column lost, seed " << seed_;
  }
}

const std::vector<int64_t>& Simulation::RowsOf(const SuperfileEntry& entry,
                                               const Snapshot& snapshot) {
  const auto [place, is_new] = known_rows_.try_emplace(entry.id);
  if (!is_new) {
    const auto head = Wait(memory_->Head(SuperfilePath(kFolder, entry.id)));
    EXPECT_THAT(head, IsOk()) << "seed " << seed_;
    return place->second;
  }
  Snapshot alone;
  alone.root.totals.row_count = entry.row_count;
  alone.files = {{.entry = &entry, .part = nullptr}};
  const auto rows = ReadAllRows(*memory_, kFolder, alone);
  EXPECT_THAT(rows, IsOk()) << "seed " << seed_ << ", version " << snapshot.version();
  if (!rows.ok()) return place->second;
  for (const StoredRow& row : *rows) place->second.push_back(row.row);
  return place->second;
}

void Simulation::CheckRows(const Snapshot& snapshot) {
  std::map<int64_t, int> copies;
  for (const Snapshot::File& file : snapshot.files) {
    for (const int64_t row : RowsOf(*file.entry, snapshot)) ++copies[row];
  }
  for (const Attempt& attempt : attempts_) {
    const int first = copies[attempt.first_row];
    EXPECT_LE(first, 1) << "rows twice, seed " << seed_;
    for (int64_t i = 1; i < attempt.row_count; ++i) {
      EXPECT_EQ(copies[attempt.first_row + i], first) << "half a commit, seed " << seed_;
    }
    if (attempt.told == Told::kDone) {
      EXPECT_EQ(first, 1) << "acknowledged rows lost, seed " << seed_;
    }
    if (attempt.told == Told::kFailed) {
      EXPECT_EQ(first, 0) << "failed but there, seed " << seed_;
    }
  }
}

TEST(Writers, NeverLoseNorRepeatARowWhateverTheStoreDoes) {
  constexpr uint64_t kSeedCount = 200;
  std::map<std::string, int> told;
  for (uint64_t i = 0; i < kSeedCount && !HasFailure(); ++i) {
    Simulation simulation(TestSeed() + i);
    simulation.Run();
    for (const auto& [outcome, count] : simulation.told_count()) told[outcome] += count;
  }
  // A simulation in which nothing went wrong would show nothing.
  EXPECT_GT(told["done"], 400);
  EXPECT_GT(told["commit_unknown"], 5);
  EXPECT_GT(told["unavailable"], 5);
  EXPECT_GT(told["cancelled"], 5);
  for (const auto& [outcome, count] : told) std::cerr << outcome << ": " << count << '\n';
}

TEST(Writers, DoTheSameForTheSameSeed) {
  for (uint64_t i = 0; i < 10; ++i) {
    Simulation first(TestSeed() + i);
    first.Run();
    Simulation second(TestSeed() + i);
    second.Run();
    EXPECT_EQ(first.trace(), second.trace());
  }
}

}  // namespace
}  // namespace infino
