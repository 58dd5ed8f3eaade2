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

/// The rows that were found, gathered by superfile.
class Matches {
 public:
  explicit Matches(const TableColumn& column) : column_(column) {}

  arrow::Status Add(const std::string& key, size_t place, const Hit& hit) {
    if (!found_.ids.emplace(place, hit.id).second) {
      return MakeError(ErrorKind::kInvalidArgument, "several rows have the value " +
                                                        DescribeKey(key, *column_.field->type()) +
                                                        " in column '" + column_.field->name() +
                                                        "': which one to replace can't be told");
    }
    docs_[hit.file].push_back(hit.doc);
    return arrow::Status::OK();
  }

  KeyMatches Finish(std::span<const SuperfileEntry* const> entries) {
    for (const auto& [file, docs] : docs_) {
      const SuperfileEntry& entry = *entries[file];
      found_.rows.Set(entry.id, DocFilter::Of(static_cast<uint32_t>(entry.row_count), docs));
    }
    return std::move(found_);
  }

 private:
  const TableColumn& column_;
  KeyMatches found_;
  std::unordered_map<uint32_t, std::vector<DocId>> docs_;
};

/// The rows of a superfile that are left, as hits in it.
std::vector<Hit> LiveRowsOf(const SuperfileReader& file, uint32_t place, const DocFilter* live) {
  std::vector<Hit> hits;
  const auto add = [&](DocId doc) {
    hits.push_back({.id = file.IdOf(doc), .score = 0.0F, .file = place, .doc = doc});
  };
  if (live != nullptr) {
    live->ForEach(add);
  } else {
    for (DocId doc = 0; doc < static_cast<uint64_t>(file.row_count()); ++doc) add(doc);
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
  ARROW_ASSIGN_OR_RAISE(TombstoneCache::Reads reads, BeginTombstones(context, searched));
  const QueryEnvironment& environment = *context.environment;
  ARROW_ASSIGN_OR_RAISE(const auto files,
                        environment.superfiles->Open(*context.folder, searched, *context.stop,
                                                     environment.pool.get()));
  ARROW_ASSIGN_OR_RAISE(const Tombstones tombstones, FinishTombstones(context, std::move(reads)));
  ARROW_ASSIGN_OR_RAISE(const Projection projection,
                        ResolveProjection(context.snapshot->root.schema,
                                          std::vector<std::string>{column_->field->name()},
                                          /*number_queries=*/false, /*scored=*/false));
  Matches matches(*column_);
  for (size_t i = 0; i < files.size(); ++i) {
    const std::vector<Hit> rows =
        LiveRowsOf(*files[i], static_cast<uint32_t>(i), tombstones.LiveRowsOf(searched[i]->id));
    for (size_t at = 0; at < rows.size(); at += kRowsAtOnce) {
      const auto some = std::span(rows).subspan(at, std::min(kRowsAtOnce, rows.size() - at));
      ARROW_ASSIGN_OR_RAISE(const auto values, FetchRows(some, files, projection, context));
      size_t row = 0;
      for (const auto& chunk : values->column(0)->chunks()) {
        for (const std::optional<std::string>& key : KeysOf(*chunk)) {
          const Hit& hit = some[row++];
          if (!key) continue;
          const auto place = places_.find(*key);
          if (place == places_.end()) continue;
          ARROW_RETURN_NOT_OK(matches.Add(*key, place->second, hit));
        }
      }
    }
  }
  return matches.Finish(searched);
}

arrow::Result<KeyMatches> KeyLookup::FindIds(const QueryContext& context,
                                             std::span<const SuperfileEntry* const> entries) const {
  std::vector<RowId> ids;
  ids.reserve(keys_.size());
  for (const std::string& key : keys_) ids.push_back(IdOfKey(key));
  ARROW_ASSIGN_OR_RAISE(const LocatedRows located, LocateRows(context, ids, entries));
  KeyMatches found;
  std::unordered_map<uint32_t, std::vector<DocId>> docs;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto row = located.rows.find(ids[i]);
    if (row == located.rows.end()) continue;
    found.ids.emplace(i, ids[i]);
    docs[row->second.file].push_back(row->second.doc);
  }
  for (const auto& [file, rows] : docs) {
    const SuperfileEntry& entry = *located.entries[file];
    found.rows.Set(entry.id, DocFilter::Of(static_cast<uint32_t>(entry.row_count), rows));
  }
  return found;
}

}  // namespace infino
