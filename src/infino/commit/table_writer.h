#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/common/scratch.h"
#include "infino/common/work_pool.h"
#include "infino/options.h"
#include "infino/query/query_environment.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/snapshot.h"
#include "infino/table.h"

namespace infino {

/// What a writer works with. Shared by all tables of a connection.
struct WriterEnvironment {
  std::shared_ptr<ObjectStore> store;
  std::shared_ptr<Clock> clock;
  std::shared_ptr<Random> random;
  std::shared_ptr<WorkPool> pool;
  int64_t build_memory_bytes = int64_t{1} << 30;
  int64_t memory_budget_bytes = 0;                  ///< 0: none.
  std::shared_ptr<ScratchSpace> scratch = nullptr;  ///< Null: an append uses memory only.
  int64_t commit_timeout_ms = 60'000;
  Compression compression = Compression::kZstd;
  QueryEnvironment querying = {};  ///< For changes that look for rows first.
};

/// Turns rows into commits of one table: builds superfiles in parallel within the memory budget,
/// stages them, and publishes them as one version. Thread-safe: calls queue up.
class TableWriter {
 public:
  /// `folder` is the table's. `loader` and `pointer` are the handle's own.
  [[nodiscard]] static std::unique_ptr<TableWriter> Make(
      WriterEnvironment environment, std::string folder, std::shared_ptr<SnapshotLoader> loader,
      std::shared_ptr<const PointerStore> pointer);

  virtual ~TableWriter() = default;

  /// As Table::Append.
  [[nodiscard]] virtual arrow::Result<AppendResult> Append(
      std::shared_ptr<arrow::RecordBatchReader> rows, const AppendOptions& options) = 0;

  /// As in Table.
  [[nodiscard]] virtual arrow::Result<ChangeResult> Delete(const std::string& predicate,
                                                           const ChangeOptions& options) = 0;
  [[nodiscard]] virtual arrow::Result<ChangeResult> Update(
      const std::string& predicate, std::shared_ptr<arrow::RecordBatchReader> rows,
      const ChangeOptions& options) = 0;
  [[nodiscard]] virtual arrow::Result<ChangeResult> Upsert(
      std::shared_ptr<arrow::RecordBatchReader> rows, const std::string& on,
      const ChangeOptions& options) = 0;
};

/// Writes version 1 of a new table into `folder`, which must be new: root, then pointer.
[[nodiscard]] arrow::Status CommitNewTable(const WriterEnvironment& environment,
                                           const std::string& folder, const TableSchema& schema);

/// Swaps the pointer of a table to the state `dropped`. OK if it was already; kNotFound if there is
/// no pointer.
[[nodiscard]] arrow::Status CommitDrop(const WriterEnvironment& environment,
                                       const std::string& folder);

}  // namespace infino
