#include "infino/commit/key_lookup.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/chunked_array.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>

#include "infino/commit/key_values.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/manifest/declared_stats.h"
#include "infino/manifest/manifest.h"
#include "infino/query/id_lookup.h"
#include "infino/query/opened_files.h"
#include "infino/query/projection.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/row_selection.h"
#include "infino/query/tombstones.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

/// So many values are held at a time.
constexpr size_t kRowsAtOnce = size_t{64} << 10;

/// The `_id` that is a key: a decimal128 as it lies in memory.
RowId IdOfKey(const std::string& key) {
  RowId id;
  if (key.size() != sizeof(uint64_t) * 2) return id;
  const ByteSpan bytes = AsBytes(key);
  id.low = LoadU64(bytes.data());
  id.high = LoadU64(bytes.data() + sizeof(uint64_t));
  return id;
}

/// Whether a superfile may have rows with one of the keys.
bool MayHold(const SuperfileEntry& entry, const TableColumn& column, const KeyRange& range) {
  if (entry.live_row_count() == 0) return false;
  const std::optional<ColumnStats> stats = DeclaredStats(entry, column);
  return !stats || range.MayOccur(*stats);
}

/// Found rows, by place of their superfile.
using DocsOfFiles = std::unordered_map<size_t, std::vector<DocId>>;

RowSelection Gathered(const DocsOfFiles& docs, std::span<const SuperfileEntry* const> entries) {
  RowSelection rows;
  for (const auto& [file, found] : docs) {
    const SuperfileEntry& entry = *entries[file];
    rows.Set(entry.id, DocFilter::Of(static_cast<uint32_t>(entry.row_count), found));
  }
  return rows;
}

arrow::Status SeveralRows(const std::string& key, const arrow::Field& field) {
  return MakeError(ErrorKind::kInvalidArgument,
                   "several rows have the value " + DescribeKey(key, *field.type()) +
                       " in column '" + field.name() + "': which one to replace can't be told");
}

/// The rows of a superfile that are left, as hits in it; their ids are not looked up.
std::vector<Hit> LiveRowsOf(const SuperfileEntry& entry, uint32_t place,
                            const Tombstones& tombstones) {
  std::vector<Hit> hits;
  const auto add = [&](DocId doc) { hits.push_back({.id = {}, .file = place, .doc = doc}); };
  if (const DocFilter* const live = tombstones.LiveRowsOf(entry.id)) {
    live->ForEach(add);
  } else {
    for (DocId doc = 0; doc < static_cast<uint64_t>(entry.row_count); ++doc) add(doc);
  }
  return hits;
}

}  // namespace

KeyLookup::KeyLookup(const TableColumn* column, std::vector<std::string> keys)
    : column_(column), keys_(std::move(keys)) {
  for (size_t i = 0; i < keys_.size(); ++i) places_.emplace(keys_[i], i);
}

arrow::Result<KeyMatches> KeyLookup::Find(const QueryContext& context,
                                          std::span<const SuperfileEntry* const> entries) const {
  if (keys_.empty()) return KeyMatches();
  if (column_ == nullptr) return FindIds(context, entries);
  const KeyRange range(keys_, *column_->field->type());
  std::vector<const SuperfileEntry*> searched;
  for (const SuperfileEntry* entry : entries) {
    if (MayHold(*entry, *column_, range)) searched.push_back(entry);
  }
  ARROW_ASSIGN_OR_RAISE(const OpenedFiles opened, OpenFiles(context, searched));
  ARROW_ASSIGN_OR_RAISE(const Projection projection,
                        ResolveProjection(context.snapshot->root.schema,
                                          std::vector<std::string>{column_->field->name()},
                                          /*number_queries=*/false, /*scored=*/false));
  KeyMatches found;
  DocsOfFiles docs;
  for (size_t i = 0; i < opened.files.size(); ++i) {
    const SuperfileReader& file = *opened.files[i];
    const std::vector<Hit> rows =
        LiveRowsOf(*searched[i], static_cast<uint32_t>(i), opened.tombstones);
    for (size_t at = 0; at < rows.size(); at += kRowsAtOnce) {
      const auto some = std::span(rows).subspan(at, std::min(kRowsAtOnce, rows.size() - at));
      ARROW_ASSIGN_OR_RAISE(const auto values, FetchRows(some, opened.files, projection, context));
      size_t row = 0;
      for (const auto& chunk : values->column(0)->chunks()) {
        for (const std::optional<std::string>& key : KeysOf(*chunk)) {
          const DocId doc = some[row++].doc;
          if (!key) continue;
          const auto place = places_.find(*key);
          if (place == places_.end()) continue;
          if (!found.ids.emplace(place->second, file.IdOf(doc)).second) {
            return SeveralRows(*key, *column_->field);
          }
          docs[i].push_back(doc);
        }
      }
    }
  }
  found.rows = Gathered(docs, searched);
  return found;
}

arrow::Result<KeyMatches> KeyLookup::FindIds(const QueryContext& context,
                                             std::span<const SuperfileEntry* const> entries) const {
  std::vector<RowId> ids;
  ids.reserve(keys_.size());
  for (const std::string& key : keys_) ids.push_back(IdOfKey(key));
  ARROW_ASSIGN_OR_RAISE(const LocatedRows located, LocateRows(context, ids, entries));
  KeyMatches found;
  DocsOfFiles docs;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto row = located.rows.find(ids[i]);
    if (row == located.rows.end()) continue;
    found.ids.emplace(i, ids[i]);
    docs[row->second.file].push_back(row->second.doc);
  }
  found.rows = Gathered(docs, located.entries);
  return found;
}

}  // namespace infino
