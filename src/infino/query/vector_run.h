#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/index/doc_filter.h"
#include "infino/index/shared_floor.h"
#include "infino/index/vector/cluster_choice.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_search.h"
#include "infino/index/vector/vector_space.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/search_executor.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

/// One superfile that vectors are looked for in.
struct VectorFile {
  std::shared_ptr<const SuperfileReader> file;
  int32_t field_id = 0;
  const vector::VectorIndexReader* index = nullptr;  ///< Of that column of `file`.
  const DocFilter* filter = nullptr;                 ///< Null: every row passes.
  int64_t passing_rows = 0;
  bool was_searched = false;  ///< Before; so its vectors may be worth keeping.
};

/// Some queries under way over all superfiles, sharing the scans. Used by one thread.
class VectorRun {
  struct Private {
    explicit Private() = default;
  };

 public:
  /// Chooses what is scanned and starts a search on each file. All outlive the run.
  /// kInvalidArgument as ChooseClusters.
  [[nodiscard]] static arrow::Result<std::unique_ptr<VectorRun>> Start(
      const QueryEnvironment& environment, const vector::VectorSpace& space,
      std::span<const vector::PreparedQuery> queries, std::span<const VectorFile> files,
      const vector::RecallOptions& options);

  /// For Start.
  VectorRun(Private /*tag*/, const QueryEnvironment& environment, const vector::VectorSpace& space,
            std::span<const vector::PreparedQuery> queries, std::span<const VectorFile> files,
            const vector::RecallOptions& options);

  ~VectorRun() = default;
  VectorRun(const VectorRun&) = delete;
  VectorRun& operator=(const VectorRun&) = delete;
  VectorRun(VectorRun&&) = delete;
  VectorRun& operator=(VectorRun&&) = delete;

  /// The searches; they may run together with others, by RunTasks; about `work_bytes` of work.
  [[nodiscard]] std::vector<SearchTask> Tasks();

  [[nodiscard]] int64_t work_bytes() const;

  /// Whether fewer rows were found than there are and are wanted, because the chosen clusters had
  /// no more of those that pass: the run has then started anew over all clusters, and its Tasks are
  /// to be run again. REQUIRES: Tasks were run.
  [[nodiscard]] arrow::Result<bool> StartsAnew();

  /// The rows of a query, nearest first; `file` is the place among the files, the score the
  /// distance. REQUIRES: Tasks were run, and StartsAnew said no.
  [[nodiscard]] std::vector<Hit> TopHits(size_t query) const;

 private:
  [[nodiscard]] arrow::Status StartSearches(
      const std::vector<std::optional<std::vector<uint32_t>>>& choice);
  [[nodiscard]] bool FoundTooFew() const;

  const QueryEnvironment& environment_;
  const vector::VectorSpace& space_;
  const std::span<const vector::PreparedQuery> queries_;
  const std::span<const VectorFile> files_;
  const vector::RecallOptions options_;
  bool scans_all_ = true;
  std::unique_ptr<SharedFloor[]> floors_;                        // by query
  std::vector<std::unique_ptr<vector::VectorSearch>> searches_;  // by file
};

}  // namespace infino
