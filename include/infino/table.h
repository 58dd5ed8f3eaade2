#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type_fwd.h>

#include "infino/index_spec.h"
#include "infino/options.h"
#include "infino/search.h"

namespace infino {

/// How far an append has come; handed to AppendOptions::progress on the calling thread.
struct AppendProgress {
  uint64_t rows_read = 0;
  uint64_t superfiles_written = 0;
  uint64_t bytes_written = 0;
};

struct AppendOptions {
  std::function<void(const AppendProgress&)> progress = nullptr;
  StopCondition stop = {};
};

/// What one append did.
struct AppendResult {
  uint64_t rows = 0;
  uint64_t superfiles = 0;
  uint64_t bytes = 0;    ///< Of its superfiles.
  uint64_t version = 0;  ///< The table version it published; the current one if it had no rows.
};

struct ChangeOptions {
  StopCondition stop = {};
};

/// What a delete, an update or an upsert did.
struct ChangeResult {
  uint64_t matched = 0;     ///< Rows that the predicate selected, or whose key was given.
  uint64_t tombstoned = 0;  ///< Of those, how many this change removed or replaced.
  uint64_t not_found = 0;   ///< Rows of an upsert that no row had the key of: they were added.
  uint64_t version = 0;  ///< The table version it published; the current one if it had no effect.
};

/// What a table is at one version.
struct TableStats {
  uint64_t version = 0;
  uint64_t rows = 0;
  uint64_t superfiles = 0;
  uint64_t bytes = 0;  ///< Of its superfiles.
};

/// One table of a connection. Every call pins the newest version it may see (see
/// ConnectOptions::freshness_ms) and keeps to it. All functions block, are thread-safe, and fail
/// with the kinds of infino/error.h; kNotFound once the table has been dropped. Changes through one
/// handle queue up. Changes of all handles and processes together leave what they would have left
/// one after the other, in the order of the versions they published.
class Table {
 public:
  virtual ~Table() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;

  /// The declared columns, without `_id`, exactly as they were declared; no metadata.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::Schema>> GetSchema() = 0;

  [[nodiscard]] virtual arrow::Result<IndexSpec> GetIndexSpec() = 0;

  [[nodiscard]] virtual arrow::Result<TableStats> Stats() = 0;

  /// Adds all rows of `rows` as one commit, durable on return; nothing if it fails, except with
  /// kCommitUnknown. Columns are matched by name, in any order; a missing nullable column is null;
  /// a mistyped one is kInvalidArgument, and so is a null where the schema forbids it. An unknown
  /// one is added to the table as a nullable column, unless it is of type null or the connection
  /// has ConnectOptions::strict_schema. Types are converted only where nothing is lost. Memory
  /// stays within ConnectOptions however long the stream is. A stream without rows commits nothing.
  /// kConflict if the schema changed meanwhile and the rows don't fit it any more.
  [[nodiscard]] virtual arrow::Result<AppendResult> Append(
      std::shared_ptr<arrow::RecordBatchReader> rows, const AppendOptions& options = {}) = 0;

  /// Deletes the rows for which `predicate`, one boolean SQL expression over the stored columns and
  /// `_id`, is true (not null), as one commit; no row, no commit. Rows that a concurrent change
  /// deleted first are not counted. kInvalidArgument for a predicate that is none; kConflict if
  /// other commits won again and again.
  [[nodiscard]] virtual arrow::Result<ChangeResult> Delete(const std::string& predicate,
                                                           const ChangeOptions& options = {}) = 0;

  /// Replaces the rows that `predicate` selects, as one commit: the i-th of `rows` takes the place
  /// of the i-th in `_id` order, and its `_id`. Columns as for Append; what is missing becomes
  /// null. Afterwards there is one row of each `_id`, whatever is done concurrently.
  /// kInvalidArgument unless there are as many rows as match, as for Delete, and as for Append;
  /// kConflict if that number has changed by the time it was this change's turn.
  [[nodiscard]] virtual arrow::Result<ChangeResult> Update(
      const std::string& predicate, std::shared_ptr<arrow::RecordBatchReader> rows,
      const ChangeOptions& options = {}) = 0;

  /// Replaces the rows that have the same value in the column `on`, each by the one given, under
  /// the
  /// `_id` it had, and adds the others, as one commit. A null equals nothing. `on` is a stored
  /// column of integers, booleans, text, bytes, decimals, dates or times, or `_id`, which may then
  /// be among the columns of `rows`. kInvalidArgument, naming the value, if it is given twice or
  /// several rows have it; as for Append otherwise.
  [[nodiscard]] virtual arrow::Result<ChangeResult> Upsert(
      std::shared_ptr<arrow::RecordBatchReader> rows, const std::string& on,
      const ChangeOptions& options = {}) = 0;

  /// The rows of these ids, in the order in which they are asked for.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::Table>> Get(
      const GetRequest& request) = 0;

  /// The best rows by BM25, best first, ties by `_id`. Columns as projected; `_id` is
  /// decimal128(38, 0) and `score` float32, both not null.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::Table>> Search(
      const TextSearchRequest& request) = 0;

  /// All rows whose tokens match, in `_id` order.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::Table>> TokenMatch(
      const MatchRequest& request) = 0;

  /// The rows that hold a text exactly; see ExactMatchRequest. kInvalidArgument for a column
  /// without a keyword index, or one that is not stored.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::Table>> ExactMatch(
      const ExactMatchRequest& request) = 0;

  /// The nearest rows by a vector index, nearest first, ties by `_id`; of several queries one
  /// after the other. A distance depends on row and query alone, whatever the layout (with the tier
  /// "none", an estimate); which rows are found is as good as the effort says. kInvalidArgument for
  /// a column without a vector index, a wrong dimension, numbers that are not finite.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::Table>> VectorSearch(
      const VectorSearchRequest& request) = 0;

  /// The best rows of a keyword and a vector search together, best first, ties by `_id`: Cormack,
  /// Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
  /// Learning Methods" (SIGIR 2009), with weights.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::Table>> HybridSearch(
      const HybridSearchRequest& request) = 0;

  /// How many rows TokenMatch would give.
  [[nodiscard]] virtual arrow::Result<uint64_t> Count(const CountRequest& request) = 0;
};

}  // namespace infino
