#include "infino/commit/marked_rows.h"

#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "infino/codec/row_bitmap.h"
#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/query/tombstones.h"
#include "infino/supertable/snapshot.h"

namespace infino {

void MarkedRows::Add(const RowSelection& rows) {
  rows.ForEach([&](const SuperfileId& superfile, const DocFilter& filter) {
    std::vector<DocId> docs;
    filter.ForEach([&](DocId doc) { docs.push_back(doc); });
    rows_[superfile].UnionWith(RowBitmap::Of(docs));
  });
}

arrow::Result<MarkedRows::Moved> MarkedRows::Follow(const QueryContext& context,
                                                    std::shared_ptr<const Snapshot> newer) {
  Moved moved;
  moved.changed_schema = newer->root.schema_hash != base_->root.schema_hash;
  std::unordered_set<SuperfileId, RandomIdHash> known;
  for (const Snapshot::File& file : base_->files) known.insert(file.entry->id);
  std::map<SuperfileId, RowBitmap> before = std::exchange(rows_, {});
  base_ = std::move(newer);
  std::vector<const SuperfileEntry*> marked;
  for (const Snapshot::File& file : base_->files) {
    if (before.contains(file.entry->id)) marked.push_back(file.entry);
    const bool is_new = !known.contains(file.entry->id);
    if (is_new && file.entry->live_row_count() > 0) moved.added.push_back(file.entry);
  }
  moved.lost_rows = marked.size() < before.size();
  ARROW_ASSIGN_OR_RAISE(const Tombstones tombstones, LoadTombstones(context, marked));
  for (const SuperfileEntry* entry : marked) {
    RowBitmap& rows = before.at(entry->id);
    if (const auto gone = tombstones.Find(entry->id); gone != nullptr) {
      const uint64_t count = rows.cardinality();
      rows.Subtract(gone->deleted);
      moved.lost_rows = moved.lost_rows || rows.cardinality() < count;
    }
    if (!rows.empty()) rows_.emplace(entry->id, std::move(rows));
  }
  return moved;
}

std::vector<const SuperfileEntry*> MarkedRows::MarkedEntries() const {
  std::vector<const SuperfileEntry*> entries;
  for (const Snapshot::File& file : base_->files) {
    if (rows_.contains(file.entry->id)) entries.push_back(file.entry);
  }
  return entries;
}

arrow::Result<std::vector<NewTombstones>> MarkedRows::NextTombstones(
    const QueryContext& context) const {
  const std::vector<const SuperfileEntry*> entries = MarkedEntries();
  ARROW_ASSIGN_OR_RAISE(const Tombstones before, LoadTombstones(context, entries));
  std::vector<NewTombstones> all;
  all.reserve(entries.size());
  for (const SuperfileEntry* entry : entries) {
    NewTombstones tombstones{.superfile = entry->id, .deleted = rows_.at(entry->id)};
    if (const auto gone = before.Find(entry->id); gone != nullptr) {
      tombstones.deleted.UnionWith(gone->deleted);
    }
    all.push_back(std::move(tombstones));
  }
  return all;
}

uint64_t MarkedRows::count() const {
  uint64_t count = 0;
  for (const auto& [superfile, rows] : rows_) count += rows.cardinality();
  return count;
}

}  // namespace infino
