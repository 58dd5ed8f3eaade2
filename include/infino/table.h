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

/// What a table is at one version.
struct TableStats {
  uint64_t version = 0;
  uint64_t rows = 0;
  uint64_t superfiles = 0;
  uint64_t bytes = 0;  ///< Of its superfiles.
};

/// One table of a connection. Every call pins the newest version it may see (see
/// ConnectOptions::freshness_ms) and keeps to it. All functions block, are thread-safe, and fail
/// with the kinds of infino/error.h; kNotFound once the table has been dropped. Appends through one
/// handle queue up.
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
  /// a mistyped one is kInvalidArgument, and so is a null where the schema forbids it. A column
  /// that the table does not have is added to it in the same commit, as a nullable one of its type
  /// (but for columns of type null, which are left out); with ConnectOptions::strict_schema it is
  /// kInvalidArgument. An append that was on its way while the schema changed is kConflict if its
  /// rows don't fit the new one.
  /// Types are converted only where nothing is lost. Memory stays within ConnectOptions however
  /// long the stream is. A stream without rows commits nothing.
  [[nodiscard]] virtual arrow::Result<AppendResult> Append(
      std::shared_ptr<arrow::RecordBatchReader> rows, const AppendOptions& options = {}) = 0;

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
