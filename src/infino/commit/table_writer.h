#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
#include "infino/superfile/table_schema.h"
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
  bool strict_schema = false;      ///< Whether an append may not add columns.
  QueryEnvironment querying = {};  ///< For changes that look for rows first.
};

/// What a schema becomes, or nothing if it stays: then no version is published. `has_superfiles`
/// says whether the version has any, with columns of their own. Called once for each try.
using SchemaChange = std::function<arrow::Result<std::optional<TableSchema>>(
    const TableSchema& schema, bool has_superfiles)>;

/// Turns rows into commits of one table: builds superfiles in parallel within the memory budget,
/// stages them, and publishes them as one version. Thread-safe: appends queue up.
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

  /// Publishes what `change` makes of the newest schema as one version, without waiting for appends
  /// that are under way; it is asked again when
  /// another commit comes first, and its failures are the call's. Returns the schema that is then
  /// the table's. The schema's id must be one more than that of the one it was made of.
  [[nodiscard]] virtual arrow::Result<TableSchema> ChangeSchema(const SchemaChange& change,
                                                                const StopCondition& stop) = 0;
};

/// Writes version 1 of a new table into `folder`, which must be new: root, then pointer.
[[nodiscard]] arrow::Status CommitNewTable(const WriterEnvironment& environment,
                                           const std::string& folder, const TableSchema& schema);

/// Swaps the pointer of a table to the state `dropped`. OK if it was already; kNotFound if there is
/// no pointer.
[[nodiscard]] arrow::Status CommitDrop(const WriterEnvironment& environment,
                                       const std::string& folder);

}  // namespace infino
