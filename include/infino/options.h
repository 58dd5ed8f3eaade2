#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <arrow/util/cancel.h>

namespace infino {

/// How a running call is stopped from outside. Copyable; the default never stops.
struct StopCondition {
  /// May be signalled from any thread.
  arrow::StopToken token = arrow::StopToken::Unstoppable();

  /// Asked only by the calling thread, at least every 50 ms while the call waits and between pieces
  /// of work: true ends the call with kCancelled. Python's signal check goes here.
  std::function<bool()> poll = nullptr;
};

/// How the stored columns of a superfile are compressed.
enum class Compression : uint8_t { kZstd, kLz4, kNone };

/// Which bytes a cold read brings along. Accepted for every store; a store without a cache folder
/// ignores it.
enum class ColdFetchMode : uint8_t {
  kHybridWithPrefetch,
  kRangeOnly,
  kLazyForegroundWithBackgroundFill,
};

/// Options of a connection.
struct ConnectOptions {
  /// Options of the store, by the names that users of object stores know. Local disk and memory
  /// ignore them.
  std::map<std::string, std::string> storage_options = {};

  /// Folder of the disk cache for remote stores; unused for local disk and memory.
  std::optional<std::string> cache_dir = std::nullopt;

  /// Budget of the cache, in bytes.
  std::optional<uint64_t> cache_budget_bytes = std::nullopt;

  /// What building and querying may hold in memory, in bytes: an append that would exceed it fails
  /// with kResourceExhausted. Unset or 0: measure only, and build within `build_memory_bytes`.
  std::optional<uint64_t> memory_budget_bytes = std::nullopt;

  /// What all builders of an append may hold together, in bytes. What keyword indexes hold above
  /// their part goes to `scratch_dir`, and so does a superfile of more than a few MiB, which is
  /// ended when it is as long as its part, and the next one started. It never fails an append.
  uint64_t build_memory_bytes = uint64_t{1} << 30;

  /// Existing folder on a local disk for what an append holds neither in memory nor in the store
  /// yet: about the size of the superfiles and the index data that it builds at a time, gone when
  /// it ends. Unset: the system's folder for temporary files. Used only by appends whose superfiles
  /// get larger than 8 MiB, or less where memory is short.
  std::optional<std::string> scratch_dir = std::nullopt;

  /// Memory for what queries have read, in bytes; half of it for vector indexes. Their searches are
  /// quickest where that holds the codes and stored vectors of all superfiles.
  uint64_t memory_cache_bytes = uint64_t{512} << 20;

  ColdFetchMode cold_fetch_mode = ColdFetchMode::kLazyForegroundWithBackgroundFill;

  /// Read the catalog at once instead of at the first use.
  bool validate = false;

  /// How old a snapshot may be before a query asks the store again. Unset: 1000 ms on object
  /// stores, 0 on local disk and memory, where asking costs a stat.
  std::optional<int64_t> freshness_ms = std::nullopt;

  /// Threads of the work pool; 0: one a core.
  int thread_count = 0;

  /// How long a commit tries to get its turn, and a pointer write to get an answer, in
  /// milliseconds.
  int64_t commit_timeout_ms = 60'000;

  Compression compression = Compression::kZstd;

  /// Whether an append with a column that the table does not have is refused. Without it, the
  /// column is added to the table.
  bool strict_schema = false;
};

}  // namespace infino
