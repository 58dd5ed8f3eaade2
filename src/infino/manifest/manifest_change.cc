#include "infino/manifest/manifest_change.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/vector/vector_space.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/object_names.h"
#include "infino/manifest/parts_log.h"
#include "infino/manifest/points_codec.h"
#include "infino/manifest/root_codec.h"
#include "infino/manifest/summary_codec.h"
#include "infino/manifest/tombstones_codec.h"
#include "infino/manifest/totals.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

using SuperfileIds = std::unordered_set<SuperfileId, RandomIdHash>;

arrow::Status CheckAdded(const BaseVersion& base, const ManifestChange& change) {
  SuperfileIds added;
  for (const NewSuperfile& file : change.added) {
    if (!added.insert(file.entry.id).second) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "add superfile " + file.entry.id.ToHex() + ": it is given twice");
    }
  }
  if (added.empty()) return arrow::Status::OK();
  for (const auto& part : base.parts) {
    for (const SuperfileEntry& entry : part->entries) {
      if (added.contains(entry.id)) {
        return MakeError(ErrorKind::kInvalidArgument,
                         "add superfile " + entry.id.ToHex() + ": it is in the table already");
      }
    }
  }
  return arrow::Status::OK();
}

struct AddedPart {
  ManifestPart part;
  std::optional<EncodedSummary> summary;
};

/// The added entries as one part, and the summary object their filters and counts go into.
arrow::Result<AddedPart> MakeAddedPart(const ManifestChange& change, const CommitId& commit) {
  std::vector<SummarizedSuperfile> superfiles;
  superfiles.reserve(change.added.size());
  for (const NewSuperfile& file : change.added) {
    superfiles.push_back(
        {.superfile = file.entry.id, .filters = file.filters, .counts = file.counts});
  }
  AddedPart added;
  ARROW_ASSIGN_OR_RAISE(added.summary, EncodeSummary(commit, superfiles));
  if (added.summary) added.part.summaries.push_back(added.summary->ref);
  for (size_t i = 0; i < change.added.size(); ++i) {
    SuperfileEntry entry = change.added[i].entry;
    entry.commit = commit;
    entry.term_filters.clear();
    entry.value_counts.clear();
    if (added.summary) {
      entry.term_filters = std::move(added.summary->places[i].term_filters);
      entry.value_counts = std::move(added.summary->places[i].value_counts);
    }
    added.part.entries.push_back(std::move(entry));
  }
  return added;
}

/// Every object that a version names, but for the root and its ancestors.
std::unordered_set<std::string> NamedObjects(
    const ManifestRoot& root, std::span<const std::shared_ptr<const ManifestPart>> parts) {
  std::unordered_set<std::string> names;
  for (const PartRef& ref : root.parts) names.insert(ref.object.name);
  for (const PointsRef& ref : root.points) names.insert(ref.object.name);
  for (const auto& part : parts) {
    for (const ObjectRef& summary : part->summaries) names.insert(summary.name);
    for (const SuperfileEntry& entry : part->entries) {
      names.insert(SuperfileName(entry.id));
      if (entry.tombstones) names.insert(entry.tombstones->object.name);
    }
  }
  return names;
}

/// What `base` names and `next` does not, but for tombstones where no superfile is removed. Only
/// removals drop more than parts, so that an append doesn't have to look at every entry.
std::vector<std::string> RemovedObjects(const BaseVersion& base, const NextVersion& next,
                                        bool has_removals) {
  const auto kept =
      has_removals ? NamedObjects(next.root, next.parts) : NamedObjects(next.root, {});
  const auto before =
      has_removals ? NamedObjects(*base.root, base.parts) : NamedObjects(*base.root, {});
  std::vector<std::string> removed;
  for (const std::string& name : before) {
    if (!kept.contains(name)) removed.push_back(name);
  }
  std::sort(removed.begin(), removed.end());
  return removed;
}

int64_t LiveRows(std::span<const std::shared_ptr<const ManifestPart>> parts,
                 const SuperfileIds& ids) {
  int64_t rows = 0;
  if (ids.empty()) return rows;
  for (const auto& part : parts) {
    for (const SuperfileEntry& entry : part->entries) {
      if (ids.contains(entry.id)) rows += entry.live_row_count();
    }
  }
  return rows;
}

/// The tombstones of a change on their way into a version.
struct SetTombstones {
  std::vector<NamedObject> objects;
  std::vector<std::string> replaced;  ///< The objects they take the place of.
  int64_t row_count = 0;              ///< How many rows they delete.
};

arrow::Result<SetTombstones> TakeTombstones(const ManifestChange& change, const CommitId& commit,
                                            PartsLog* log) {
  SetTombstones taken;
  std::unordered_map<SuperfileId, TombstonesRef, RandomIdHash> refs;
  for (const NewTombstones& tombstones : change.tombstones) {
    EncodedTombstones encoded = EncodeTombstones(tombstones.superfile, commit, tombstones.deleted);
    taken.row_count += encoded.ref.deleted_count;
    taken.objects.push_back({.ref = encoded.ref.object, .bytes = std::move(encoded.bytes)});
    if (!refs.emplace(tombstones.superfile, std::move(encoded.ref)).second) {
      return MakeError(
          ErrorKind::kInvalidArgument,
          "delete rows of superfile " + tombstones.superfile.ToHex() + ": it is given twice");
    }
  }
  if (refs.empty()) return taken;
  ARROW_ASSIGN_OR_RAISE(const auto before, log->SetTombstones(refs));
  if (before.size() != refs.size()) {
    return MakeError(ErrorKind::kConflict,
                     "delete rows: another commit has removed one of their superfiles: given=" +
                         std::to_string(refs.size()) + " found=" + std::to_string(before.size()));
  }
  for (const std::optional<TombstonesRef>& ref : before) {
    if (!ref) continue;
    taken.row_count -= ref->deleted_count;
    taken.replaced.push_back(ref->object.name);
  }
  return taken;
}

void ExtendHistory(const BaseVersion& base, VersionInfo newest, ManifestRoot* root) {
  root->versions.push_back(std::move(newest));
  for (VersionInfo info : base.root->versions) {
    if (root->versions.size() == ManifestRoot::kVersionsMax) break;
    if (info.version == base.root->version) info.root = base.root_object;
    root->versions.push_back(std::move(info));
  }
}

arrow::Status FinishRoot(NextVersion* next) {
  ARROW_ASSIGN_OR_RAISE(next->root_bytes, EncodeRoot(next->root));
  next->root_object = RefOfRoot(next->root.version, *next->root_bytes);
  next->objects.push_back({.ref = next->root_object, .bytes = next->root_bytes});
  return arrow::Status::OK();
}

arrow::Status TakeParts(const PartsLog& log, NextVersion* next) {
  for (const LoggedPart& logged : log.parts()) {
    ARROW_RETURN_NOT_OK(AddTotals(logged.ref.totals, &next->root.totals));
    next->root.parts.push_back(logged.ref);
    next->parts.push_back(logged.part);
    if (logged.bytes != nullptr) {
      next->objects.push_back({.ref = logged.ref.object, .bytes = logged.bytes});
    }
  }
  return arrow::Status::OK();
}

/// The lists of the base and behind those of each column the new ones, of which every one is an
/// object of its own.
arrow::Status TakePoints(const BaseVersion& base, const ManifestChange& change,
                         const CommitId& commit, NextVersion* next) {
  const TableSchema& schema = next->root.schema;
  for (size_t i = 0; i < base.points.size(); ++i) {
    if (schema.IsDropped(base.points[i].field_id)) continue;
    next->root.points.push_back(base.root->points[i]);
    next->points.push_back(base.points[i]);
  }
  for (const ReferencePoints& added : change.points) {
    if (schema.IsDropped(added.field_id)) continue;
    const TableColumn* column = schema.FindById(added.field_id);
    if (column == nullptr || !column->vector ||
        column->vector->column.dimension != added.list->dimension()) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "add reference points: they are of no vector column: field_id=" +
                           std::to_string(added.field_id));
    }
    const auto of_column =
        std::ranges::equal_range(next->points, added.field_id, {}, &ReferencePoints::field_id);
    const bool is_known = std::ranges::any_of(of_column, [&](const ReferencePoints& points) {
      return points.list->id() == added.list->id();
    });
    if (is_known) continue;
    if (of_column.size() >= vector::VectorSpace::kListsMax) {
      return MakeError(ErrorKind::kConflict,
                       "add reference points to column '" + column->field->name() +
                           "': with those of other commits it would have more than lists=" +
                           std::to_string(vector::VectorSpace::kListsMax));
    }
    const auto place = of_column.end() - next->points.begin();
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bytes, EncodePoints(added, commit));
    const ObjectRef ref = RefOfPoints(*bytes);
    next->root.points.insert(next->root.points.begin() + place,
                             {.field_id = added.field_id, .object = ref});
    next->points.insert(next->points.begin() + place, added);
    next->objects.push_back({.ref = ref, .bytes = std::move(bytes)});
  }
  return arrow::Status::OK();
}

arrow::Status TakeSchema(const BaseVersion& base, const ManifestChange& change,
                         ManifestRoot* root) {
  root->schema = base.root->schema;
  root->schema_hash = base.root->schema_hash;
  if (!change.schema) return arrow::Status::OK();
  if (change.schema->schema_id != base.root->schema.schema_id + 1) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "change the schema: schema_id=" + std::to_string(change.schema->schema_id) +
                         " does not follow " + std::to_string(base.root->schema.schema_id));
  }
  root->schema = *change.schema;
  ARROW_ASSIGN_OR_RAISE(root->schema_hash, HashOfSchema(root->schema));
  return arrow::Status::OK();
}

}  // namespace

SuperfileEntry MakeEntry(const SuperfileSummary& summary, int32_t schema_id) {
  SuperfileEntry entry;
  entry.id = summary.id;
  entry.size_bytes = summary.size_bytes;
  entry.open_section = summary.open_section;
  entry.footer = summary.footer;
  entry.hash = summary.hash;
  entry.row_count = summary.row_count;
  entry.min_id = summary.min_id;
  entry.max_id = summary.max_id;
  entry.schema_id = schema_id;
  const size_t column_count = std::min(summary.columns.size(), kEntryColumnsMax);
  entry.columns.assign(summary.columns.begin(),
                       summary.columns.begin() + static_cast<std::ptrdiff_t>(column_count));
  entry.texts = summary.texts;
  return entry;
}

arrow::Result<NextVersion> FirstVersion(const TableSchema& schema, const CommitStamp& stamp) {
  NextVersion next;
  ManifestRoot& root = next.root;
  root.version = 1;
  root.commit = stamp.commit;
  root.unix_ms = stamp.unix_ms;
  root.schema = schema;
  ARROW_ASSIGN_OR_RAISE(root.schema_hash, HashOfSchema(schema));
  root.versions.push_back({.version = root.version,
                           .unix_ms = stamp.unix_ms,
                           .operation = "create",
                           .commit = stamp.commit,
                           .root = {},
                           .rows_added = 0,
                           .rows_removed = 0});
  ARROW_RETURN_NOT_OK(FinishRoot(&next));
  return next;
}

arrow::Result<NextVersion> Apply(const BaseVersion& base, const ManifestChange& change,
                                 const CommitStamp& stamp) {
  ARROW_RETURN_NOT_OK(CheckAdded(base, change));
  const SuperfileIds removed(change.removed.begin(), change.removed.end());
  PartsLog log(*base.root, base.parts, stamp.commit);
  if (!removed.empty()) {
    ARROW_ASSIGN_OR_RAISE(const size_t found, log.Remove(removed));
    if (found != removed.size()) {
      return MakeError(ErrorKind::kConflict,
                       "remove superfiles: another commit has removed one of them: given=" +
                           std::to_string(removed.size()) + " found=" + std::to_string(found));
    }
  }
  ARROW_ASSIGN_OR_RAISE(SetTombstones tombstones, TakeTombstones(change, stamp.commit, &log));
  ARROW_ASSIGN_OR_RAISE(AddedPart added, MakeAddedPart(change, stamp.commit));
  ARROW_ASSIGN_OR_RAISE(const ManifestTotals added_totals, TotalsOf(added.part));
  ARROW_RETURN_NOT_OK(log.Append(std::move(added.part)));

  NextVersion next;
  ManifestRoot& root = next.root;
  root.version = base.root->version + 1;
  root.commit = stamp.commit;
  root.unix_ms = stamp.unix_ms;
  ARROW_RETURN_NOT_OK(TakeSchema(base, change, &root));
  root.parent = base.root_object;
  root.oldest_openable_version = base.root->oldest_openable_version;
  root.term_index_runs = base.root->term_index_runs;
  if (added.summary) {
    next.objects.push_back({.ref = added.summary->ref, .bytes = added.summary->bytes});
  }
  std::ranges::move(tombstones.objects, std::back_inserter(next.objects));
  ARROW_RETURN_NOT_OK(TakePoints(base, change, stamp.commit, &next));
  ARROW_RETURN_NOT_OK(TakeParts(log, &next));
  root.removed = RemovedObjects(base, next, !removed.empty());
  if (removed.empty()) {
    std::ranges::move(tombstones.replaced, std::back_inserter(root.removed));
    std::ranges::sort(root.removed);
  }
  ExtendHistory(base,
                {.version = root.version,
                 .unix_ms = stamp.unix_ms,
                 .operation = change.operation,
                 .commit = stamp.commit,
                 .root = {},
                 .rows_added = added_totals.live_row_count(),
                 .rows_removed = LiveRows(base.parts, removed) + tombstones.row_count},
                &root);
  ARROW_RETURN_NOT_OK(FinishRoot(&next));
  return next;
}

}  // namespace infino
