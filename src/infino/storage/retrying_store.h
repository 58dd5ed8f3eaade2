#pragma once

#include <cstdint>
#include <memory>

#include <arrow/result.h>

#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/storage/object_store.h"

namespace infino {

/// How often and for how long a failed request is repeated.
struct RetryOptions {
  int tries_max = 6;            ///< The first one included.
  int64_t first_delay_ms = 50;  ///< Doubles with every try; each pause is 50 to 100 % of it.
  int64_t longest_delay_ms = 5'000;
  int64_t deadline_ms = 30'000;  ///< No try starts later than this after the first one.
};

/// Wraps `store` and repeats what failed with kUnavailable: reads, Head, List, Delete, PutIfAbsent
/// and PutAllIfAbsent, and of an upload every step. Any other failure, and the last kUnavailable,
/// goes to the caller.
///
/// PutIfMatch passes through once: whether an unanswered swap took place is for PointerStore to
/// find out.
///
/// An unanswered PutIfAbsent may have landed, so that the next try finds the path taken by itself.
/// Then the object is read back: equal bytes make it kWritten. So it is with an upload, whose parts
/// are read back one by one and told by their hashes. This is right for staged objects,
/// whose names contain their commit or content; a path that several writers race for (the first
/// pointer of a table) must tell its writers apart by its bytes.
///
/// Back-off: while the tries below come back finished (memory, small local reads), the loop runs on
/// the calling thread and pauses there by `clock`, which keeps simulations deterministic. Once a
/// try is still under way when its call returns, the caller gets an unfinished future, and further
/// pauses and tries happen on a thread of this store or of the one below. No thread ever waits for
/// a future.
[[nodiscard]] arrow::Result<std::shared_ptr<ObjectStore>> MakeRetryingStore(
    std::shared_ptr<ObjectStore> store, std::shared_ptr<Clock> clock,
    std::shared_ptr<Random> random, const RetryOptions& options = {});

}  // namespace infino
