#include "infino/query/tombstones.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/row_bitmap.h"
#include "infino/common/lru_cache.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/manifest/json_fields.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/tombstones_codec.h"
#include "infino/options.h"
#include "infino/query/query_environment.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/layout.h"

namespace infino {
namespace {

using Shared = std::shared_ptr<const DeletedRows>;

arrow::Result<Shared> Parse(const SuperfileEntry& entry, const arrow::Buffer& bytes,
                            const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(RowBitmap deleted, DecodeTombstones(entry, bytes, path));
  DocFilter live(static_cast<uint32_t>(entry.row_count));
  live.Exclude(deleted);
  return std::make_shared<const DeletedRows>(std::move(deleted), std::move(live));
}

/// What deleted rows take in memory whose object has `object_bytes`.
int64_t BytesOf(const std::string& path, const DeletedRows& rows, int64_t object_bytes) {
  constexpr int64_t kBitsPerByte = 8;
  constexpr int64_t kOverhead = 64;
  return object_bytes + rows.live.row_count() / kBitsPerByte + static_cast<int64_t>(path.size()) +
         kOverhead;
}

}  // namespace

struct TombstoneCache::State {
  State(std::shared_ptr<ObjectStore> from, int64_t budget_bytes)
      : store(std::move(from)), by_path(budget_bytes) {}

  std::shared_ptr<ObjectStore> store;
  LruCache<std::string, Shared> by_path;
};

TombstoneCache::TombstoneCache(std::shared_ptr<ObjectStore> store, int64_t budget_bytes)
    : state_(std::make_unique<State>(std::move(store), budget_bytes)) {}

TombstoneCache::~TombstoneCache() = default;

TombstoneCache::Reads TombstoneCache::Begin(const std::string& folder,
                                            std::span<const SuperfileEntry* const> entries) {
  Reads reads;
  for (const SuperfileEntry* entry : entries) {
    if (!entry->tombstones) continue;
    std::string path = ObjectPath(folder, entry->tombstones->object.name);
    if (auto known = state_->by_path.Find(path)) {
      reads.known.Set(entry->id, *std::move(known));
      continue;
    }
    auto bytes = state_->store->Get(path);
    reads.reads.push_back({.entry = entry, .path = std::move(path), .bytes = std::move(bytes)});
  }
  return reads;
}

arrow::Result<Tombstones> TombstoneCache::Finish(Reads reads, const StopCondition& stop) {
  for (const Reads::Read& read : reads.reads) {
    const arrow::Result<VersionedBytes> object = Wait(read.bytes, stop);
    if (IsError(object.status(), ErrorKind::kNotFound)) {
      return CorruptObject(read.path, "an object of the table is missing");
    }
    ARROW_RETURN_NOT_OK(object.status());
    ARROW_ASSIGN_OR_RAISE(Shared rows, Parse(*read.entry, *object->bytes, read.path));
    state_->by_path.Keep(read.path, rows, BytesOf(read.path, *rows, object->bytes->size()));
    reads.known.Set(read.entry->id, std::move(rows));
  }
  return std::move(reads.known);
}

int64_t TombstoneCache::size_bytes() const {
  return state_->by_path.size_bytes();
}

arrow::Result<TombstoneCache::Reads> BeginTombstones(
    const QueryContext& context, std::span<const SuperfileEntry* const> entries) {
  TombstoneCache* const cache = context.environment->tombstones.get();
  if (cache != nullptr) return cache->Begin(*context.folder, entries);
  for (const SuperfileEntry* entry : entries) {
    if (entry->tombstones) {
      return MakeError(ErrorKind::kInternal, "read the deleted rows of superfile " +
                                                 entry->id.ToHex() +
                                                 ": there is no cache for them");
    }
  }
  return TombstoneCache::Reads();
}

arrow::Result<Tombstones> FinishTombstones(const QueryContext& context,
                                           TombstoneCache::Reads reads) {
  if (reads.reads.empty()) return std::move(reads.known);
  return context.environment->tombstones->Finish(std::move(reads), *context.stop);
}

arrow::Result<Tombstones> LoadTombstones(const QueryContext& context,
                                         std::span<const SuperfileEntry* const> entries) {
  ARROW_ASSIGN_OR_RAISE(TombstoneCache::Reads reads, BeginTombstones(context, entries));
  return FinishTombstones(context, std::move(reads));
}

}  // namespace infino
