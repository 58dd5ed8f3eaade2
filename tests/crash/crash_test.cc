#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "infino/commit/table_writer.h"
#include "infino/common/clock.h"
#include "infino/common/failpoint.h"
#include "infino/common/random.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/storage/local_store.h"
#include "support/matchers.h"
#include "support/temporary_folder.h"
#include "unit/commit/table_harness.h"

namespace infino {
namespace {

const std::string kFolder = "crash-1";

/// What a child process does. Given to it on its command line, in this order.
struct Job {
  std::string work;       ///< "create", "append", "append-long", "delete", "upsert" or "drop".
  std::string root;       ///< The store's folder.
  std::string acks;       ///< File that gets a line for each acknowledged append: its first row.
  int64_t first_row = 0;  ///< Of the first append.
  int64_t rows = 0;       ///< Of each append.
  int appends = 0;
  std::string failpoint;  ///< Where the child dies, or "-".
  int passes = 0;         ///< How often it passes there before.
};

arrow::Result<WriterEnvironment> DiskEnvironment(const std::string& root) {
  WriterEnvironment environment;
  ARROW_ASSIGN_OR_RAISE(environment.store, OpenLocalStore(root));
  environment.clock = SystemClock();
  environment.random = Random::FromSystem();
  ARROW_ASSIGN_OR_RAISE(environment.pool, WorkPool::Make(2));
  return environment;
}

// ---- The child.

arrow::Status AppendAll(const Job& job, WriterEnvironment environment) {
  // Long appends upload on their way.
  if (job.work == "append-long") environment.build_memory_bytes = int64_t{12} << 20;
  const TableHandle handle = OpenHandle(environment, kFolder);
  std::ofstream acks(job.acks, std::ios::app);
  for (int i = 0; i < job.appends; ++i) {
    const int64_t first_row = job.first_row + i * job.rows;
    ARROW_RETURN_NOT_OK(handle.writer->Append(NumberedStream(first_row, job.rows, 10'000), {}));
    acks << first_row << '\n' << std::flush;
  }
  return arrow::Status::OK();
}

/// Deletes the rows from `first_row` on, or replaces those up to `rows` by themselves.
arrow::Status ChangeRows(const Job& job, WriterEnvironment environment) {
  environment.querying = TestQuerying(environment.store);
  const TableHandle handle = OpenHandle(environment, kFolder);
  if (job.work == "delete") {
    return handle.writer->Delete("row >= " + std::to_string(job.first_row), {}).status();
  }
  return handle.writer->Upsert(NumberedStream(0, job.rows, job.rows), "row", {}).status();
}

arrow::Status DoJob(const Job& job) {
  const auto passes = std::make_shared<std::atomic<int>>(job.passes);
  SetFailpointHook([&job, passes](std::string_view name) {
    if (name == job.failpoint && passes->fetch_sub(1) == 0) raise(SIGKILL);
  });
  ARROW_ASSIGN_OR_RAISE(const WriterEnvironment environment, DiskEnvironment(job.root));
  if (job.work == "create") return CommitNewTable(environment, kFolder, RowTextTableSchema());
  if (job.work == "drop") return CommitDrop(environment, kFolder);
  if (job.work == "delete" || job.work == "upsert") return ChangeRows(job, environment);
  return AppendAll(job, environment);
}

int RunChild(const std::vector<std::string>& arguments) {
  const Job job{.work = arguments[0],
                .root = arguments[1],
                .acks = arguments[2],
                .first_row = std::stoll(arguments[3]),
                .rows = std::stoll(arguments[4]),
                .appends = std::stoi(arguments[5]),
                .failpoint = arguments[6],
                .passes = std::stoi(arguments[7])};
  const arrow::Status status = DoJob(job);
  if (!status.ok()) std::cerr << "child: " << status.ToString() << '\n';
  return status.ok() ? 0 : 1;
}

// ---- The parent.

pid_t StartChild(const Job& job) {
  std::vector<std::string> arguments = {"crash_test",
                                        "--child",
                                        job.work,
                                        job.root,
                                        job.acks,
                                        std::to_string(job.first_row),
                                        std::to_string(job.rows),
                                        std::to_string(job.appends),
                                        job.failpoint,
                                        std::to_string(job.passes)};
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, pointers.data(), environ), 0);
  return child;
}

/// Whether the child was killed; anything but that or success fails the test.
bool WasKilled(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) {
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    return true;
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return false;
}

std::vector<int64_t> ReadAcks(const std::string& path) {
  std::ifstream file(path);
  std::vector<int64_t> acks;
  for (int64_t first_row = 0; file >> first_row;) acks.push_back(first_row);
  return acks;
}

std::vector<int64_t> UpTo(int64_t end) {
  std::vector<int64_t> numbers(static_cast<size_t>(end));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

class CrashTest : public ::testing::Test {
 protected:
  Job JobOf(std::string work, int64_t first_row, int64_t rows, int appends) {
    return {.work = std::move(work),
            .root = folder_.path() + "/store",
            .acks = folder_.path() + "/acks",
            .first_row = first_row,
            .rows = rows,
            .appends = appends,
            .failpoint = "-",
            .passes = 0};
  }

  arrow::Result<std::vector<int64_t>> RowsThere() {
    ARROW_ASSIGN_OR_RAISE(const WriterEnvironment environment,
                          DiskEnvironment(folder_.path() + "/store"));
    return ReadRowNumbers(environment, kFolder);
  }

  void Create() {
    INFINO_ASSERT_OK_AND_ASSIGN(const WriterEnvironment environment,
                                DiskEnvironment(folder_.path() + "/store"));
    INFINO_ASSERT_OK(CommitNewTable(environment, kFolder, RowTextTableSchema()));
  }

  /// Appends until killed at a failpoint, looks what is there, and appends again.
  void KillAnAppend(const Job& job) {
    EXPECT_TRUE(WasKilled(StartChild(job))) << "never came by " << job.failpoint;
    const auto acknowledged = static_cast<int64_t>(ReadAcks(job.acks).size());
    INFINO_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> rows, RowsThere());
    const auto row_count = static_cast<int64_t>(rows.size());
    EXPECT_EQ(rows, UpTo(row_count));
    EXPECT_EQ(row_count % job.rows, 0) << "half a commit is visible";
    EXPECT_GE(row_count, acknowledged * job.rows) << "an acknowledged commit is gone";
    EXPECT_LE(row_count, (acknowledged + 1) * job.rows);
    EXPECT_FALSE(WasKilled(StartChild(JobOf("append", row_count, 10, 2))));
    EXPECT_THAT(RowsThere(), HasValue(UpTo(row_count + 20)));
  }

  TemporaryFolder folder_;
};

class KilledAt : public CrashTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(KilledAt, LeavesWholeCommitsOnly) {
  Create();
  Job job = JobOf("append", 0, 50, 5);
  job.failpoint = GetParam();
  for (const int passes : {0, 2}) {
    job.passes = passes;
    KillAnAppend(job);
    std::filesystem::remove_all(job.root);
    std::filesystem::remove(job.acks);
    Create();
  }
}

INSTANTIATE_TEST_SUITE_P(Failpoints, KilledAt,
                         ::testing::Values("commit.applied", "commit.staged",
                                           "local_store.swap_synced", "local_store.swapped",
                                           "commit.swapped"));

/// Until the pointer is swapped the table is as it was, then it is changed; and the change can be
/// made again.
class ChangeKilledAt : public KilledAt {};

TEST_P(ChangeKilledAt, LeavesItAsItWasOrChanged) {
  const std::string failpoint = GetParam();
  const bool is_published = failpoint == "local_store.swapped" || failpoint == "commit.swapped";
  for (const std::string work : {"delete", "upsert"}) {
    Create();
    EXPECT_FALSE(WasKilled(StartChild(JobOf("append", 0, 20, 2))));
    Job job = JobOf(work, 30, work == "delete" ? 0 : 45, 0);
    job.failpoint = failpoint;
    const bool comes_by = failpoint != (work == "delete" ? "replace.built" : "delete.marked");
    EXPECT_EQ(WasKilled(StartChild(job)), comes_by);
    const int64_t changed = work == "delete" ? 30 : 45;
    EXPECT_THAT(RowsThere(), HasValue(UpTo(is_published || !comes_by ? changed : 40)));
    job.failpoint = "-";
    EXPECT_FALSE(WasKilled(StartChild(job)));
    EXPECT_THAT(RowsThere(), HasValue(UpTo(changed)));
    std::filesystem::remove_all(job.root);
  }
}

INSTANTIATE_TEST_SUITE_P(Failpoints, ChangeKilledAt,
                         ::testing::Values("delete.marked", "replace.built", "commit.applied",
                                           "commit.staged", "local_store.swap_synced",
                                           "local_store.swapped", "commit.swapped"));

TEST_F(CrashTest, ALongAppendKilledOnItsWayLeavesNothingVisible) {
  Create();
  Job job = JobOf("append-long", 0, 300'000, 1);
  job.failpoint = "append.superfile_staged";
  job.passes = 1;
  KillAnAppend(job);
}

TEST_F(CrashTest, AKilledCreateLeavesATableOrNone) {
  for (const char* failpoint : {"create.staged", "create.swapped"}) {
    Job job = JobOf("create", 0, 0, 0);
    job.failpoint = failpoint;
    EXPECT_TRUE(WasKilled(StartChild(job)));
    const bool is_there = std::string_view(failpoint) == "create.swapped";
    if (is_there) {
      EXPECT_THAT(RowsThere(), HasValue(UpTo(0)));
    } else {
      EXPECT_THAT(RowsThere(), IsError(ErrorKind::kNotFound));
    }
    std::filesystem::remove_all(job.root);
  }
}

TEST_F(CrashTest, AKilledDropCanBeRepeated) {
  for (const char* failpoint : {"drop.read", "drop.swapped"}) {
    Create();
    Job job = JobOf("drop", 0, 0, 0);
    job.failpoint = failpoint;
    EXPECT_TRUE(WasKilled(StartChild(job)));
    job.failpoint = "-";
    EXPECT_FALSE(WasKilled(StartChild(job)));
    EXPECT_THAT(RowsThere(), IsError(ErrorKind::kNotFound));
    std::filesystem::remove_all(job.root);
  }
}

TEST_F(CrashTest, ProcessesThatAppendAtOnceLoseNothing) {
  constexpr int kProcesses = 4;
  constexpr int kAppends = 25;
  constexpr int64_t kRows = 20;
  Create();
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(StartChild(JobOf("append", i * kAppends * kRows, kRows, kAppends)));
  }
  for (const pid_t child : children) EXPECT_FALSE(WasKilled(child));
  EXPECT_THAT(RowsThere(), HasValue(UpTo(kProcesses * kAppends * kRows)));
}

TEST_F(CrashTest, ProcessesGoOnWhenOneOfThemDies) {
  constexpr int kAppends = 15;
  constexpr int64_t kRows = 20;
  Create();
  Job victim = JobOf("append", 2 * kAppends * kRows, kRows, kAppends);
  victim.failpoint = "local_store.swap_synced";  // It holds the lock of the swap there.
  victim.passes = 5;
  std::vector<pid_t> others;
  for (int i = 0; i < 2; ++i) {
    others.push_back(StartChild(JobOf("append", i * kAppends * kRows, kRows, kAppends)));
  }
  EXPECT_TRUE(WasKilled(StartChild(victim)));
  for (const pid_t other : others) EXPECT_FALSE(WasKilled(other));
  const std::vector<int64_t> acks = ReadAcks(victim.acks);
  EXPECT_THAT(RowsThere(), HasValue(UpTo(static_cast<int64_t>(acks.size()) * kRows)));
}

}  // namespace
}  // namespace infino

int main(int argc, char** argv) {
  constexpr int kChildArguments = 10;
  if (argc == kChildArguments && std::string_view(argv[1]) == "--child") {
    return infino::RunChild({argv + 2, argv + argc});
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
