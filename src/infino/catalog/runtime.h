#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <arrow/result.h>

#include "infino/catalog/catalog.h"
#include "infino/commit/table_writer.h"
#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/common/work_pool.h"
#include "infino/options.h"
#include "infino/query/query_environment.h"
#include "infino/sql/sql_engine.h"
#include "infino/sql/table_source.h"
#include "infino/storage/block_cache.h"
#include "infino/storage/metered_store.h"
#include "infino/storage/object_store.h"
#include "infino/storage/retrying_store.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/snapshot.h"

namespace infino {

/// What all handles of one table of a connection share, so that each sees at once what another one
/// wrote, and appends queue up. Thread-safe.
struct OpenedTable {
  std::string folder;
  std::shared_ptr<const PointerStore> pointer;
  std::shared_ptr<SnapshotLoader> loader;
  std::unique_ptr<TableWriter> writer;
};

/// Where a runtime gets what it does not make itself.
struct RuntimeParts {
  std::shared_ptr<ObjectStore> store;  ///< Bare: retries and counting are put round it.
  std::shared_ptr<Clock> clock;
  std::shared_ptr<Random> random;
  std::shared_ptr<RowSelector> row_selector = nullptr;  ///< Null: by SQL.
  RetryOptions retries = {};
  int64_t freshness_ms = 0;  ///< Where the options don't say.
};

/// The threads, caches and opened tables of a connection in one process: everything that a forked
/// child must build anew. Thread-safe.
class Runtime {
  struct OnlyMake {};

 public:
  [[nodiscard]] static arrow::Result<std::unique_ptr<Runtime>> Make(RuntimeParts parts,
                                                                    const ConnectOptions& options);

  explicit Runtime(OnlyMake /*only*/) {}

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  Runtime(Runtime&&) = delete;
  Runtime& operator=(Runtime&&) = delete;
  ~Runtime() = default;

  /// The table in `folder`. Reads nothing.
  [[nodiscard]] std::shared_ptr<OpenedTable> Table(const std::string& folder);

  /// Lets go of a table that is no more. Who still holds it may go on to use it.
  void Forget(const std::string& folder);

  /// The process this was made in, as ForkGeneration counts them.
  [[nodiscard]] uint64_t generation() const { return generation_; }

  [[nodiscard]] const std::shared_ptr<ObjectStore>& store() const { return writing_.store; }

  /// Counts what reached the store, retries included.
  [[nodiscard]] const StoreMeter& meter() const { return *meter_; }

  [[nodiscard]] const Catalog& catalog() const { return *catalog_; }

  [[nodiscard]] const QueryEnvironment& querying() const { return querying_; }

  [[nodiscard]] const WriterEnvironment& writing() const { return writing_; }

  /// DuckDB over the connection's tables; started at the first call. Shared: it stays with who runs
  /// a statement in it.
  [[nodiscard]] arrow::Result<std::shared_ptr<sql::SqlEngine>> Sql();

 private:
  uint64_t generation_ = 0;
  int64_t freshness_ms_ = 0;
  std::shared_ptr<StoreMeter> meter_;
  WriterEnvironment writing_;
  QueryEnvironment querying_;
  std::unique_ptr<Catalog> catalog_;
  sql::SqlEngineOptions sql_options_;

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<OpenedTable>> tables_;

  std::unique_ptr<sql::TableSource> table_source_;
  std::mutex sql_mutex_;
  std::shared_ptr<sql::SqlEngine> sql_;
};

}  // namespace infino
