#include "infino/catalog/runtime.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <arrow/result.h>

#include "infino/catalog/catalog.h"
#include "infino/catalog/sql_tables.h"
#include "infino/commit/table_writer.h"
#include "infino/common/fork.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/common/work_pool.h"
#include "infino/index/text/postings_cache.h"
#include "infino/index/vector/vector_cache.h"
#include "infino/options.h"
#include "infino/query/condition_cache.h"
#include "infino/query/superfile_cache.h"
#include "infino/query/term_filter_cache.h"
#include "infino/query/tombstones.h"
#include "infino/query/value_counts_cache.h"
#include "infino/sql/sql_engine.h"
#include "infino/storage/block_cache.h"
#include "infino/storage/local_scratch.h"
#include "infino/storage/metered_store.h"
#include "infino/storage/retrying_store.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/snapshot.h"

namespace infino {
namespace {

int64_t Clamp(uint64_t bytes) {
  return static_cast<int64_t>(std::min<uint64_t>(bytes, std::numeric_limits<int64_t>::max()));
}

/// Where statements spill to: a folder that is made when it is needed, and is nobody else's.
std::string TempFolder(const ConnectOptions& options, Random& random) {
  const std::string parent =
      options.scratch_dir.value_or(std::filesystem::temp_directory_path().string());
  return parent + "/infino-sql-" + random.NextId<CommitId>().ToHex();
}

}  // namespace

arrow::Result<std::unique_ptr<Runtime>> Runtime::Make(RuntimeParts parts,
                                                      const ConnectOptions& options) {
  auto runtime = std::make_unique<Runtime>(OnlyMake{});
  runtime->generation_ = ForkGeneration();
  runtime->freshness_ms_ = options.freshness_ms.value_or(parts.freshness_ms);
  runtime->meter_ = std::make_shared<StoreMeter>();
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<ObjectStore> store,
                        MakeRetryingStore(MakeMeteredStore(std::move(parts.store), runtime->meter_),
                                          parts.clock, parts.random, parts.retries));
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<WorkPool> pool, WorkPool::Make(options.thread_count));
  runtime->writing_ = {.store = store,
                       .clock = parts.clock,
                       .random = parts.random,
                       .pool = pool,
                       .build_memory_bytes = Clamp(options.build_memory_bytes),
                       .memory_budget_bytes = Clamp(options.memory_budget_bytes.value_or(0)),
                       .scratch = MakeLocalScratch(options.scratch_dir),
                       .commit_timeout_ms = options.commit_timeout_ms,
                       .compression = options.compression,
                       .strict_schema = options.strict_schema};

  // Opened files, filters, tombstones, value counts, rows of conditions, parsed postings and codes
  // save the most per byte, so they have shares of their own.
  const int64_t cache_bytes = Clamp(options.memory_cache_bytes);
  const int64_t superfile_bytes = cache_bytes / 16;
  const int64_t filter_bytes = cache_bytes / 16;
  const int64_t tombstone_bytes = cache_bytes / 16;
  const int64_t value_count_bytes = cache_bytes / 64;
  const int64_t condition_bytes = cache_bytes / 32;
  const int64_t postings_bytes = cache_bytes / 8;
  const int64_t vector_bytes = cache_bytes / 2;
  const auto blocks = std::make_shared<BlockCache>(cache_bytes - superfile_bytes - filter_bytes -
                                                   tombstone_bytes - postings_bytes - vector_bytes -
                                                   value_count_bytes - condition_bytes);
  runtime->querying_ = {
      .superfiles = std::make_shared<SuperfileCache>(store, blocks, superfile_bytes),
      .pool = pool,
      .term_filters = std::make_shared<TermFilterCache>(store, filter_bytes),
      .postings = std::make_shared<text::PostingsCache>(postings_bytes),
      .vectors = std::make_shared<vector::VectorCache>(vector_bytes),
      .tombstones = std::make_shared<TombstoneCache>(store, tombstone_bytes),
      .row_selector =
          parts.row_selector != nullptr ? std::move(parts.row_selector) : MakeSqlSelector(*runtime),
      .value_counts = std::make_shared<ValueCountsCache>(store, value_count_bytes),
      .conditions = std::make_shared<ConditionCache>(condition_bytes),
      .whole_vectors_bytes_max = vector_bytes / 2};
  runtime->writing_.querying = runtime->querying_;
  runtime->catalog_ =
      std::make_unique<Catalog>(store, Catalog::Options{.clock = parts.clock,
                                                        .random = parts.random,
                                                        .timeout_ms = options.commit_timeout_ms});
  runtime->sql_options_ = {.thread_count = options.thread_count,
                           .memory_bytes = Clamp(options.memory_budget_bytes.value_or(0)),
                           .temp_folder = TempFolder(options, *parts.random)};
  runtime->table_source_ = MakeTableSource(*runtime);
  return runtime;
}

arrow::Result<std::shared_ptr<sql::SqlEngine>> Runtime::Sql() {
  const std::lock_guard lock(sql_mutex_);
  if (sql_ == nullptr || sql_->broken()) {
    ARROW_ASSIGN_OR_RAISE(sql_, sql::SqlEngine::Make(sql_options_, querying_, *table_source_));
  }
  return sql_;
}

std::shared_ptr<OpenedTable> Runtime::Table(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<OpenedTable>& table = tables_[folder];
  if (table != nullptr) return table;
  table = std::make_shared<OpenedTable>();
  table->folder = folder;
  table->pointer = std::make_shared<PointerStore>(
      store(), folder,
      PointerStore::Options{.clock = writing_.clock,
                            .random = writing_.random,
                            .timeout_ms = writing_.commit_timeout_ms});
  table->loader = std::make_shared<SnapshotLoader>(
      store(), folder, table->pointer,
      SnapshotLoader::Options{.clock = writing_.clock, .freshness_ms = freshness_ms_});
  table->writer = TableWriter::Make(writing_, folder, table->loader, table->pointer);
  return table;
}

void Runtime::Forget(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  tables_.erase(folder);
}

}  // namespace infino
