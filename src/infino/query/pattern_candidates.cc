#include "infino/query/pattern_candidates.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/index/text/pattern_search.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_pattern.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/pruner.h"
#include "infino/query/opened_files.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/query/search_executor.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {
namespace {

/// About what a dictionary takes to be looked through, by term.
constexpr int64_t kTermBytes = 10;

/// The searches of one superfile, one a pattern; nothing can fit where a column is missing.
struct FileSearches {
  bool is_missing_column = false;
  std::vector<std::unique_ptr<text::PatternSearch>> searches;
};

arrow::Result<const text::TextIndexReader*> IndexOf(const SuperfileReader& file, int32_t field_id) {
  const text::TextIndexReader* const index = file.text_index(field_id);
  if (index != nullptr) return index;
  return MakeError(ErrorKind::kCorrupt,
                   "search superfile " + file.name() +
                       ": the manifest lists a keyword index that the file lacks; field_id=" +
                       std::to_string(field_id));
}

/// The rows of a superfile that fit all patterns, as far as the searches tell; nothing if none did.
std::optional<DocFilter> Together(const FileSearches& file) {
  std::optional<DocFilter> rows;
  for (const auto& search : file.searches) {
    if (!search->candidates().has_value()) continue;
    if (rows.has_value()) {
      rows->Retain(*search->candidates());
    } else {
      rows = search->candidates();
    }
  }
  return rows;
}

}  // namespace

arrow::Result<std::optional<PatternCandidates>> CandidatesOf(
    const QueryContext& context, std::span<const ColumnPattern> patterns,
    std::span<const SuperfileEntry* const> entries) {
  if (std::ranges::all_of(patterns, [](const ColumnPattern& each) {
        return text::ConstraintsOf(each.pattern, /*has_stop_words=*/false).empty();
      })) {
    return std::nullopt;
  }
  ARROW_ASSIGN_OR_RAISE(OpenedFiles opened, OpenFiles(context, entries));
  std::vector<FileSearches> files(entries.size());
  std::vector<SearchTask> tasks;
  int64_t work_bytes = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const SuperfileReader& file = *opened.files[i];
    for (const ColumnPattern& each : patterns) {
      if (!HasTextIndex(*entries[i], each.field_id)) {
        files[i].is_missing_column = true;
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(const text::TextIndexReader* index, IndexOf(file, each.field_id));
      auto search =
          text::PatternSearch::Make(*index, each.pattern, context.environment->postings.get());
      tasks.push_back(MakeTask(*search, file.text_blob(each.field_id)));
      tasks.back().next_reads = [&search = *search]() -> arrow::Result<std::vector<ByteRange>> {
        ARROW_RETURN_NOT_OK(search.Resume());
        return search.NextReads();
      };
      files[i].searches.push_back(std::move(search));
      work_bytes += index->summary().term_count * kTermBytes;
    }
  }
  const RunOptions options{.pool = context.environment->pool.get(), .work_bytes = work_bytes};
  ARROW_RETURN_NOT_OK(RunTasks(tasks, options, *context.stop));

  PatternCandidates candidates;
  bool narrows = false;
  for (size_t i = 0; i < entries.size(); ++i) {
    std::optional<DocFilter> rows = Together(files[i]);
    narrows = narrows || rows.has_value() || files[i].is_missing_column;
    if (files[i].is_missing_column) continue;
    if (!rows.has_value()) rows.emplace(static_cast<uint32_t>(entries[i]->row_count));
    const DocFilter* const live = opened.tombstones.LiveRowsOf(entries[i]->id);
    if (live != nullptr) rows->Retain(*live);
    candidates.rows.Set(entries[i]->id, *std::move(rows));
  }
  if (!narrows) return std::nullopt;
  candidates.row_count = candidates.rows.row_count();
  candidates.files = std::move(opened.files);
  return candidates;
}

}  // namespace infino
