#pragma once

#include <chrono>
#include <memory>

#include <arrow/result.h>
#include <arrow/util/functional.h>
#include <arrow/util/thread_pool.h>

namespace infino {

/// Makes a pool of Arrow's; the one way by which we get threads, so that two things hold.
///
/// The end of a process waits, up to ten seconds, until no pool has a task any more. A task
/// completes its future before it is over, so whoever waited for the future may reach the end of
/// main first; but Arrow's threads use statics of Arrow's around each task, and what a task holds
/// may need others. A forked child waits for its own tasks only.
///
/// And a pool's thread can be told from others; see RunOffPool. Thread-safe.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::internal::ThreadPool>> MakeThreadPool(
    int thread_count);

/// Whether the caller is a thread of a pool that MakeThreadPool made.
[[nodiscard]] bool OnPoolThread();

/// Runs `work`, which takes threads down, where it can't be waiting for itself: at once, or if the
/// caller is a pool's thread, later on one thread that the process keeps for this. For destructors:
/// the last reference to the owner of a pool may be let go anywhere, also by a task of that pool.
void RunOffPool(arrow::internal::FnOnce<void()> work);

/// Waits until no pool has a task any more, at most so long; whether that came true. What the end
/// of the process does by itself. REQUIRES: the caller is no pool's thread.
bool AwaitPoolTasks(std::chrono::milliseconds at_most);

}  // namespace infino
