#include "infino/query/vector_executor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>

#include "infino/index/vector/prepared_query.h"
#include "infino/manifest/manifest.h"
#include "infino/query/condition.h"
#include "infino/query/projection.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/row_selection.h"
#include "infino/query/search_executor.h"
#include "infino/query/vector_plan.h"
#include "infino/query/vector_run.h"
#include "infino/search.h"
#include "infino/supertable/snapshot.h"

namespace infino {
namespace {

/// So many queries share a scan: what a scan keeps in the processor's cache serves them all.
constexpr size_t kQueriesPerScan = 32;

/// Some queries, dealt out to runs that go side by side.
arrow::Status RunQueries(const QueryContext& context, const VectorPlan& plan,
                         std::span<const vector::PreparedQuery> queries, size_t per_run,
                         std::vector<std::vector<Hit>>& hits) {
  std::vector<std::unique_ptr<VectorRun>> runs;
  runs.reserve((queries.size() + per_run - 1) / per_run);
  for (size_t begin = 0; begin < queries.size(); begin += per_run) {
    const auto own = queries.subspan(begin, std::min(per_run, queries.size() - begin));
    ARROW_ASSIGN_OR_RAISE(
        std::unique_ptr<VectorRun> run,
        VectorRun::Start(*context.environment, *plan.space, own, plan.searched, plan.recall));
    runs.push_back(std::move(run));
  }
  std::vector<VectorRun*> active;
  active.reserve(runs.size());
  for (const auto& run : runs) active.push_back(run.get());
  while (!active.empty()) {
    std::vector<SearchTask> tasks;
    RunOptions options{.pool = context.environment->pool.get()};
    for (VectorRun* const run : active) {
      std::ranges::move(run->Tasks(), std::back_inserter(tasks));
      options.work_bytes += run->work_bytes();
    }
    ARROW_RETURN_NOT_OK(RunTasks(tasks, options, *context.stop));
    std::vector<VectorRun*> again;
    for (VectorRun* const run : active) {
      ARROW_ASSIGN_OR_RAISE(const bool starts_anew, run->StartsAnew());
      if (starts_anew) again.push_back(run);
    }
    active = std::move(again);
  }
  for (size_t query = 0; query < queries.size(); ++query) {
    hits.push_back(runs[query / per_run]->TopHits(query % per_run));
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Table>> SearchVectors(const QueryEnvironment& environment,
                                                           const Snapshot& snapshot,
                                                           const std::string& folder,
                                                           const VectorSearchRequest& request) {
  const QueryContext context{&environment, &snapshot, &folder, &request.stop};
  ARROW_ASSIGN_OR_RAISE(
      const Projection projection,
      ResolveProjection(snapshot.root.schema, request.projection, request.number_queries));
  std::vector<const SuperfileEntry*> entries;
  if (!request.where.empty()) entries = EntriesOf(snapshot);
  ARROW_ASSIGN_OR_RAISE(const std::optional<RowSelection> selection,
                        SelectByRequest(context, request.filter, request.where, entries));
  ARROW_ASSIGN_OR_RAISE(const VectorPlan plan, PlanVectors(context,
                                                           {.column = request.column,
                                                            .queries = request.queries,
                                                            .k = request.k,
                                                            .effort = request.effort},
                                                           selection ? &*selection : nullptr));
  if (plan.space == nullptr) return FetchRows({}, {}, projection, context);
  // Where clusters are chosen each query is better off with its own.
  const size_t per_run = plan.ScansAll() ? kQueriesPerScan : 1;
  const size_t at_once =
      per_run *
      (environment.pool == nullptr ? 1 : static_cast<size_t>(environment.pool->thread_count()));
  std::vector<Hit> hits;
  const std::span<const std::vector<float>> queries = request.queries;
  for (size_t begin = 0; begin < queries.size(); begin += at_once) {
    ARROW_ASSIGN_OR_RAISE(
        const std::vector<vector::PreparedQuery> prepared,
        plan.Prepare(queries.subspan(begin, std::min(at_once, queries.size() - begin))));
    std::vector<std::vector<Hit>> found;
    ARROW_RETURN_NOT_OK(RunQueries(context, plan, prepared, per_run, found));
    for (size_t query = 0; query < found.size(); ++query) {
      for (Hit hit : found[query]) {
        hit.query = static_cast<uint32_t>(begin + query);
        hits.push_back(hit);
      }
    }
  }
  return FetchRows(hits, plan.files, projection, context);
}

}  // namespace infino
