#include "infino/query/vector_plan.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/index/vector/cluster_choice.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_cache.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_space.h"
#include "infino/manifest/manifest.h"
#include "infino/query/condition.h"
#include "infino/query/opened_files.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/query/vector_run.h"
#include "infino/search.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"

namespace infino {
namespace {

arrow::Result<const TableColumn*> FindVectorColumn(const TableSchema& schema,
                                                   const std::string& name) {
  const TableColumn* const column = schema.Find(name);
  if (column != nullptr && column->vector) return column;
  std::string indexed;
  for (const TableColumn& other : schema.columns) {
    if (!other.vector) continue;
    if (!indexed.empty()) indexed += ", ";
    indexed += other.field->name();
  }
  return MakeError(ErrorKind::kInvalidArgument,
                   "no vector index for column '" + name +
                       "'; vector-indexed columns: " + (indexed.empty() ? "none" : indexed));
}

arrow::Status CheckQueries(const vector::VectorColumn& column, const VectorQuestion& question) {
  for (size_t i = 0; i < question.queries.size(); ++i) {
    const std::vector<float>& query = question.queries[i];
    if (query.size() != column.dimension) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "query vector has " + std::to_string(query.size()) +
                           " dimensions; column '" + question.column + "' has " +
                           std::to_string(column.dimension) +
                           (i == 0 ? std::string() : " (query " + std::to_string(i) + ")"));
    }
    ARROW_RETURN_NOT_OK(vector::CheckVector(column, query, "query vector"));
  }
  return arrow::Status::OK();
}

/// The superfiles with rows that may be found.
std::vector<const SuperfileEntry*> EntriesWithRows(const Snapshot& snapshot,
                                                   const RowSelection* selection) {
  std::vector<const SuperfileEntry*> entries;
  for (const Snapshot::File& file : snapshot.files) {
    if (MayFind(*file.entry, selection)) entries.push_back(file.entry);
  }
  return entries;
}

arrow::Result<VectorFile> SearchedFile(const QueryContext& context,
                                       const std::shared_ptr<const SuperfileReader>& file,
                                       int32_t field_id) {
  VectorFile searched{.file = file, .field_id = field_id, .index = file->vector_index(field_id)};
  if (searched.index == nullptr) {
    return MakeError(ErrorKind::kCorrupt, "search superfile " + file->name() +
                                              ": it lacks the vector index of a column; field_id=" +
                                              std::to_string(field_id));
  }
  vector::VectorCache* const cache = context.environment->vectors.get();
  searched.was_searched = cache != nullptr && cache->NoteSearch(searched.index->uid());
  return searched;
}

}  // namespace

arrow::Result<VectorPlan> PlanVectors(const QueryContext& context, const VectorQuestion& question,
                                      const RowSelection* selection) {
  const Snapshot& snapshot = *context.snapshot;
  ARROW_ASSIGN_OR_RAISE(const TableColumn* column,
                        FindVectorColumn(snapshot.root.schema, question.column));
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): FindVectorColumn gives none without.
  ARROW_RETURN_NOT_OK(CheckQueries(column->vector->column, question));
  VectorPlan plan;
  plan.recall.k = question.k;
  plan.recall.nprobe = question.effort.nprobe;
  if (question.effort.target_recall) plan.recall.target_recall = *question.effort.target_recall;
  ARROW_RETURN_NOT_OK(vector::CheckRecallOptions(plan.recall));
  const std::vector<const SuperfileEntry*> entries = EntriesWithRows(snapshot, selection);
  if (entries.empty() || question.k == 0 || question.queries.empty()) return plan;

  const auto space = snapshot.spaces.find(column->field_id);
  if (space == snapshot.spaces.end()) {
    return MakeError(ErrorKind::kCorrupt, "search column '" + question.column +
                                              "': the manifest lists no reference points for it");
  }
  plan.space = space->second;
  // A selection leaves the deleted rows out.
  const auto with_deleted = std::span(entries).first(selection == nullptr ? entries.size() : 0);
  ARROW_ASSIGN_OR_RAISE(OpenedFiles opened, OpenFiles(context, entries, with_deleted));
  plan.files = std::move(opened.files);
  plan.tombstones = std::move(opened.tombstones);
  plan.searched.reserve(plan.files.size());
  for (size_t i = 0; i < plan.files.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(VectorFile searched,
                          SearchedFile(context, plan.files[i], column->field_id));
    const SuperfileId& id = entries[i]->id;
    searched.filter = selection == nullptr ? plan.tombstones.LiveRowsOf(id) : selection->Find(id);
    searched.passing_rows =
        selection == nullptr ? entries[i]->live_row_count() : selection->CountOf(id);
    plan.searched.push_back(std::move(searched));
  }
  return plan;
}

bool VectorPlan::ScansAll() const {
  std::vector<vector::SearchedIndex> indexes;
  indexes.reserve(searched.size());
  for (const VectorFile& file : searched) {
    indexes.push_back({.index = file.index, .passing_rows = file.passing_rows});
  }
  return vector::ScansAll(indexes, recall);
}

arrow::Result<std::vector<vector::PreparedQuery>> VectorPlan::Prepare(
    std::span<const std::vector<float>> queries) const {
  const double confidence = vector::ConfidenceFor(recall.target_recall, ScansAll());
  std::vector<vector::PreparedQuery> prepared;
  prepared.reserve(queries.size());
  for (const std::vector<float>& query : queries) {
    ARROW_ASSIGN_OR_RAISE(vector::PreparedQuery each,
                          vector::PreparedQuery::Make(*space, query, confidence));
    prepared.push_back(std::move(each));
  }
  return prepared;
}

}  // namespace infino
