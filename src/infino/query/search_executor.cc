#include "infino/query/search_executor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/common/wait.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/options.h"

namespace infino {
namespace {

/// A task with what it waits for between two waves.
struct Running {
  SearchTask* task = nullptr;
  std::vector<ByteRange> wanted;
  std::optional<Buffers> arrived;
};

/// As CheckStop, but on pool threads only the token is looked at: the poll is the caller's.
arrow::Status CheckStopAnywhere(const StopCondition& stop, const WorkPool* pool) {
  if (pool == nullptr || !pool->OwnsThisThread()) return CheckStop(stop);
  if (!stop.token.IsStopRequested()) return arrow::Status::OK();
  return MakeError(ErrorKind::kCancelled, "the call was cancelled");
}

/// Takes the task as far as resident bytes go. Afterwards `wanted` is empty if it has ended.
arrow::Status Advance(Running& running, const StopCondition& stop, const WorkPool* pool) {
  SearchTask& task = *running.task;
  ARROW_RETURN_NOT_OK(CheckStopAnywhere(stop, pool));
  if (running.arrived) {
    ARROW_RETURN_NOT_OK(task.feed(*std::exchange(running.arrived, std::nullopt)));
  }
  while (true) {
    running.wanted.clear();
    if (task.skip && task.skip()) {
      task.skipped = true;
      return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(running.wanted, task.next_reads());
    if (running.wanted.empty()) return arrow::Status::OK();
    std::optional<Buffers> resident = task.reader->TryRead(running.wanted);
    if (!resident) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(task.feed(*std::move(resident)));
    ARROW_RETURN_NOT_OK(CheckStopAnywhere(stop, pool));
  }
}

/// Reads what all tasks want, in one wave, and returns how many bytes that were.
arrow::Result<int64_t> ReadWave(std::span<Running> all, const StopCondition& stop) {
  std::vector<arrow::Future<Buffers>> reads;
  reads.reserve(all.size());
  int64_t bytes = 0;
  for (Running& running : all) {
    for (const ByteRange& range : running.wanted) bytes += range.length;
    reads.push_back(running.task->reader->Read(std::move(running.wanted)));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(all[i].arrived, Wait(reads[i], stop));
  }
  return bytes;
}

}  // namespace

arrow::Status RunTasks(std::span<SearchTask> tasks, const RunOptions& options,
                       const StopCondition& stop) {
  std::vector<Running> active(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) active[i].task = &tasks[i];
  int64_t work_bytes = options.work_bytes;
  while (!active.empty()) {
    WorkPool* const pool = work_bytes >= kWorthAPoolBytes ? options.pool : nullptr;
    ARROW_RETURN_NOT_OK(
        ParallelFor(pool, static_cast<int64_t>(active.size()), [&](int64_t i) -> arrow::Status {
          return Advance(active[static_cast<size_t>(i)], stop, pool);
        }));
    std::erase_if(active, [](const Running& running) { return running.wanted.empty(); });
    if (active.empty()) break;
    ARROW_ASSIGN_OR_RAISE(const int64_t read_bytes, ReadWave(active, stop));
    work_bytes = std::max(options.work_bytes, read_bytes);
  }
  return arrow::Status::OK();
}

}  // namespace infino
