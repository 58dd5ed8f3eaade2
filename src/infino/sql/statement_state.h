#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <pthread.h>

#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context_state.hpp"
#include "infino/options.h"
#include "infino/query/query_environment.h"
#include "infino/sql/table_source.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/superfile_summary.h"

namespace infino::sql {

/// A superfile that a statement scans.
struct ScannedFile {
  std::shared_ptr<const SuperfileReader> reader;
  ParquetFooter footer;  ///< As the manifest has it.
};

/// What one statement has pinned and what went wrong in it: it hangs on DuckDB's client context,
/// one a statement. Thread-safe.
class StatementState final : public duckdb::ClientContextState {
 public:
  static constexpr const char* kKey = "infino";

  /// All but `stop` outlive the statement. `parquet_scan` is DuckDB's own function of that name,
  /// taken before it was dropped.
  StatementState(const QueryEnvironment& environment, TableSource& source,
                 const duckdb::TableFunction& parquet_scan, StopCondition stop);

  /// The state of the statement that runs in `context`. REQUIRES: there is one.
  [[nodiscard]] static StatementState& Of(duckdb::ClientContext& context);

  /// The table of that name: exactly, or else the only one that differs in case. The same one each
  /// time, and lives as long as the statement. kNotFound, saying which tables there are;
  /// kInvalidArgument if several differ in case only.
  [[nodiscard]] arrow::Result<const PinnedTable*> Find(std::string_view name);

  /// As Find, for all tables of the connection that are still there.
  [[nodiscard]] arrow::Result<std::vector<const PinnedTable*>> FindAll();

  /// Makes `table` the one of its name, before the statement looks for any.
  void Preset(PinnedTable table);

  /// Reads the pointers of all pinned tables until none of them moved between two looks: then all
  /// pins are of one moment. Returns whether the pins are still those that the statement was bound
  /// to; if not, it has to be bound again, to new ones.
  [[nodiscard]] arrow::Result<bool> AreOfOneMoment();

  /// Has the statement bound anew, to the pins as they are now. What it was bound to stays until it
  /// ends: DuckDB's threads may still be reading it.
  void Unbind();

  /// The types of the result's columns that are columns of tables; see OriginsOf.
  void SetOrigins(std::vector<std::shared_ptr<arrow::DataType>> origins) {
    origins_ = std::move(origins);
  }

  [[nodiscard]] const std::vector<std::shared_ptr<arrow::DataType>>& origins() const {
    return origins_;
  }

  /// Whether each step of the plan takes so little that the caller's thread may do some of them and
  /// still see in time that the statement is to be stopped.
  void SetShortSteps(bool are_short) { has_short_steps_ = are_short; }

  [[nodiscard]] bool has_short_steps() const { return has_short_steps_; }

  /// Why a name was not found; what DuckDB says of it knows nothing of our tables.
  void NoteMissing(const std::string& name, const arrow::Status& why);
  [[nodiscard]] arrow::Status MissingIn(const std::string& message) const;

  /// Keeps the first failure of ours that DuckDB carries as an exception.
  void NoteFailure(const arrow::Status& failure);

  /// That failure, or OK.
  [[nodiscard]] arrow::Status failure() const;

  /// Lets the statement read `file`, which its scans then open under `path`.
  void AddFile(const std::string& path, ScannedFile file);

  /// A file added before, if it was.
  [[nodiscard]] std::optional<ScannedFile> FindFile(const std::string& path) const;

  [[nodiscard]] const QueryEnvironment& environment() const { return environment_; }

  [[nodiscard]] const StopCondition& stop() const { return stop_; }

  /// Whether this is the thread that made the state: the one whose poll may be asked.
  [[nodiscard]] bool IsCaller() const { return pthread_equal(caller_, pthread_self()) != 0; }

  [[nodiscard]] const duckdb::TableFunction& parquet_scan() const { return parquet_scan_; }

  /// The catalog entries that were handed to DuckDB, by table name: they live as long as the
  /// statement, and longer than its plan.
  [[nodiscard]] std::map<std::string, std::shared_ptr<void>>& entries() { return entries_; }

  [[nodiscard]] std::mutex& entries_mutex() { return entries_mutex_; }

 private:
  [[nodiscard]] arrow::Result<const PinnedTable*> Pin(const std::string& name);

  const QueryEnvironment& environment_;
  TableSource& source_;
  const duckdb::TableFunction& parquet_scan_;
  const StopCondition stop_;
  const pthread_t caller_ = pthread_self();

  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<PinnedTable>> pins_;
  size_t of_one_moment_ = 0;  // how many pins are, when that was last looked at
  std::vector<std::unique_ptr<PinnedTable>> outdated_;  // what a plan may still refer to
  std::unordered_map<std::string, ScannedFile> files_;
  std::vector<std::shared_ptr<arrow::DataType>> origins_;
  std::atomic<bool> has_short_steps_ = false;
  std::map<std::string, arrow::Status> missing_;
  arrow::Status failure_;

  std::mutex entries_mutex_;
  std::map<std::string, std::shared_ptr<void>> entries_;
  std::vector<std::shared_ptr<void>> outdated_entries_;  // what tasks may still be reading
};

}  // namespace infino::sql
