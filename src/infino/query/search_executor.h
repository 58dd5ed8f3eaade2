#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/work_pool.h"
#include "infino/options.h"

namespace infino {

/// Work below this is done on the caller's thread: waking the pool costs about as much.
inline constexpr int64_t kWorthAPoolBytes = 256 << 10;

/// Something that asks for reads round by round and is fed: an IndexSearch with the blob it works
/// on, or a RowFetch with its file.
struct SearchTask {
  /// As IndexSearch::NextReads.
  std::function<arrow::Result<std::vector<ByteRange>>()> next_reads;

  /// As IndexSearch::Feed.
  std::function<arrow::Status(Buffers)> feed;

  /// Where the ranges are. Never null; outlives the run.
  const RangeReader* reader = nullptr;

  /// Asked before each round, from any thread: true ends the task where it stands. May be empty.
  std::function<bool()> skip;

  /// Whether the run ended it by `skip`, so that it has no result.
  bool skipped = false;
};

/// The task of a search or fetch. Both outlive it.
template <typename Search>
[[nodiscard]] SearchTask MakeTask(Search& search, const RangeReader& reader) {
  SearchTask task;
  task.next_reads = [&search]() -> arrow::Result<std::vector<ByteRange>> {
    return search.NextReads();
  };
  task.feed = [&search](Buffers bytes) { return search.Feed(std::move(bytes)); };
  task.reader = &reader;
  return task;
}

struct RunOptions {
  /// May be null.
  WorkPool* pool = nullptr;

  /// About how many bytes all tasks together have to work through.
  int64_t work_bytes = 0;
};

/// Feeds all tasks until none wants more; the only loop that does. What is resident is fed at once,
/// each task as far as it gets before the next one starts, in the given order. What all of them
/// lack then is read in one wave. Tasks run side by side on the pool once the work is worth it.
/// Returns the first failure; the tasks are of no further use then. Blocks in Wait. REQUIRES: the
/// caller is no pool thread.
[[nodiscard]] arrow::Status RunTasks(std::span<SearchTask> tasks, const RunOptions& options,
                                     const StopCondition& stop);

}  // namespace infino
