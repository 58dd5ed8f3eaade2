#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/index/doc_filter.h"
#include "infino/index/shared_floor.h"
#include "infino/index/text/text_search.h"
#include "infino/index/text/text_statistics.h"
#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/row_selection.h"
#include "infino/query/search_executor.h"
#include "infino/query/text_plan.h"
#include "infino/query/tombstones.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

/// One keyword query under way over all superfiles of its plan. Used by one thread; blocks in Wait.
///
/// A ranked one is looked up, then ranked; others run through. Deleted rows are never found. They,
/// as a selection, change which rows are found, never the statistics they are scored by.
class TextRun {
  struct Private {
    explicit Private() = default;
  };

 public:
  /// Opens the superfiles of the plan, with their tombstones, and starts a search on each.
  /// `selection`, of rows that are not deleted, outlives the run; null: every row that is not
  /// deleted may match. The options' floor and cache are the run's own.
  [[nodiscard]] static arrow::Result<std::unique_ptr<TextRun>> Start(
      const QueryContext& context, TextPlan plan, const text::TextSearchOptions& options,
      const RowSelection* selection = nullptr);

  /// For Start.
  TextRun(Private /*tag*/, const QueryContext& context, TextPlan plan,
          const RowSelection* selection)
      : context_(context), plan_(std::move(plan)), selection_(selection) {}

  /// The searches as far as they go by themselves: of a ranked query the look-ups. They may run
  /// together with others, by RunTasks; about `look_up_bytes` of work.
  [[nodiscard]] std::vector<SearchTask> Tasks();

  [[nodiscard]] int64_t look_up_bytes() const;

  /// Runs Tasks alone.
  [[nodiscard]] arrow::Status Run();

  /// Shares the statistics among the searches, which have been looked up, and ranks.
  [[nodiscard]] arrow::Status Rank();

  /// The superfiles of the plan, which hits name by their places.
  [[nodiscard]] std::span<const std::shared_ptr<const SuperfileReader>> files() const {
    return files_;
  }

  /// The k best rows, best first. REQUIRES: ranked.
  [[nodiscard]] std::vector<Hit> TopHits(uint64_t k) const;

  /// All rows that match, in `_id` order. REQUIRES: a run of kMatchAll.
  [[nodiscard]] std::vector<Hit> Matches() const;

  /// The same by superfile. REQUIRES: as Matches.
  [[nodiscard]] RowSelection SelectedRows() const;

  /// How many rows match. REQUIRES: a run of kCount.
  [[nodiscard]] uint64_t Count() const;

 private:
  /// One superfile under search.
  struct FileSearch {
    uint32_t file = 0;  ///< Index into files_.
    std::unique_ptr<text::TextSearch> search;
    float bound = 0.0F;
    bool is_bounded = false;  ///< Whether `bound` is known.
  };

  [[nodiscard]] arrow::Status Open();
  [[nodiscard]] const DocFilter* FilterOf(const SuperfileEntry& entry) const;
  [[nodiscard]] arrow::Status RunSearches(int64_t work_bytes);
  [[nodiscard]] text::PrefixStatistics MergeExpansions(size_t prefix) const;
  [[nodiscard]] arrow::Result<int64_t> ShareStatistics();
  [[nodiscard]] arrow::Result<bool> ShareSynonyms();

  const QueryContext context_;
  const TextPlan plan_;
  const RowSelection* const selection_;
  Tombstones tombstones_;  ///< Without a selection, of superfiles that have rows left.
  SharedFloor floor_;
  std::vector<std::shared_ptr<const SuperfileReader>> files_;
  std::vector<FileSearch> searches_;
};

}  // namespace infino
