#include "infino/query/vector_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/index/shared_floor.h"
#include "infino/index/vector/cluster_choice.h"
#include "infino/index/vector/nearest_docs.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_search.h"
#include "infino/index/vector/vector_space.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/search_executor.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

VectorRun::VectorRun(Private /*tag*/, const QueryEnvironment& environment,
                     const vector::VectorSpace& space,
                     std::span<const vector::PreparedQuery> queries,
                     std::span<const VectorFile> files, const vector::RecallOptions& options)
    : environment_(environment),
      space_(space),
      queries_(queries),
      files_(files),
      options_(options) {}

arrow::Result<std::unique_ptr<VectorRun>> VectorRun::Start(
    const QueryEnvironment& environment, const vector::VectorSpace& space,
    std::span<const vector::PreparedQuery> queries, std::span<const VectorFile> files,
    const vector::RecallOptions& options) {
  auto run = std::make_unique<VectorRun>(Private(), environment, space, queries, files, options);
  std::vector<vector::SearchedIndex> searched;
  searched.reserve(files.size());
  for (const VectorFile& file : files) {
    searched.push_back({.index = file.index, .passing_rows = file.passing_rows});
  }
  ARROW_ASSIGN_OR_RAISE(const auto choice,
                        vector::ChooseClusters(space, queries, searched, options));
  run->scans_all_ =
      std::ranges::none_of(choice, [](const auto& clusters) { return clusters.has_value(); });
  ARROW_RETURN_NOT_OK(run->StartSearches(choice));
  return run;
}

arrow::Status VectorRun::StartSearches(
    const std::vector<std::optional<std::vector<uint32_t>>>& choice) {
  floors_ = std::make_unique<SharedFloor[]>(queries_.size());
  std::vector<SharedFloor*> floors;
  floors.reserve(queries_.size());
  for (size_t query = 0; query < queries_.size(); ++query) floors.push_back(&floors_[query]);
  searches_.clear();
  for (size_t i = 0; i < files_.size(); ++i) {
    const VectorFile& file = files_[i];
    vector::VectorSearchOptions options{.k = options_.k,
                                        .exact = vector::IsExact(options_),
                                        .clusters = choice.empty() ? std::nullopt : choice[i],
                                        .cache = environment_.vectors.get(),
                                        .floors = floors};
    if (file.was_searched) options.whole_bytes_max = environment_.whole_vectors_bytes_max;
    ARROW_ASSIGN_OR_RAISE(
        std::unique_ptr<vector::VectorSearch> search,
        vector::VectorSearch::Make(*file.index, space_, queries_, file.filter, options));
    searches_.push_back(std::move(search));
  }
  return arrow::Status::OK();
}

std::vector<SearchTask> VectorRun::Tasks() {
  std::vector<SearchTask> tasks;
  tasks.reserve(searches_.size());
  for (size_t i = 0; i < searches_.size(); ++i) {
    vector::VectorSearch& search = *searches_[i];
    tasks.push_back(MakeTask(search, files_[i].file->vector_blob(files_[i].field_id)));
    tasks.back().next_reads = [&search]() -> arrow::Result<std::vector<ByteRange>> {
      ARROW_RETURN_NOT_OK(search.Resume());
      return search.NextReads();
    };
  }
  return tasks;
}

int64_t VectorRun::work_bytes() const {
  int64_t bytes = 0;
  for (const VectorFile& file : files_) {
    const int64_t scanned = file.index->sections().codes.length;
    const int64_t compared = file.passing_rows * static_cast<int64_t>(file.index->row_bytes());
    bytes += std::min(scanned, compared);
  }
  return bytes * static_cast<int64_t>(queries_.size());
}

bool VectorRun::FoundTooFew() const {
  uint64_t passing = 0;
  for (const VectorFile& file : files_) passing += static_cast<uint64_t>(file.passing_rows);
  const uint64_t wanted = std::min(options_.k, passing);
  for (size_t query = 0; query < queries_.size(); ++query) {
    uint64_t found = 0;
    for (const auto& search : searches_) found += search->Compared(query).size();
    if (found < wanted) return true;
  }
  return false;
}

arrow::Result<bool> VectorRun::StartsAnew() {
  if (scans_all_ || !FoundTooFew()) return false;
  scans_all_ = true;
  ARROW_RETURN_NOT_OK(StartSearches({}));
  return true;
}

std::vector<Hit> VectorRun::TopHits(size_t query) const {
  vector::SmallestK bounded(options_.k);
  for (const auto& search : searches_) {
    for (const vector::ComparedDoc& found : search->Compared(query)) bounded.Offer(found.bounded);
  }
  std::vector<Hit> hits;
  for (size_t i = 0; i < searches_.size(); ++i) {
    const SuperfileReader& file = *files_[i].file;
    for (const vector::ComparedDoc& found : searches_[i]->Compared(query)) {
      if (found.lowest > bounded.bound()) continue;
      hits.push_back({.id = file.IdOf(found.doc),
                      .score = found.distance,
                      .file = static_cast<uint32_t>(i),
                      .doc = found.doc});
    }
  }
  KeepBest(hits, options_.k, [](const Hit& left, const Hit& right) {
    return left.score != right.score ? left.score < right.score : left.id < right.id;
  });
  return hits;
}

}  // namespace infino
