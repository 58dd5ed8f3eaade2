#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/future.h>

#include "infino/codec/row_bitmap.h"
#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"

namespace infino {

struct QueryContext;

/// The deleted rows of one superfile, and in another form those that are left.
struct DeletedRows {
  RowBitmap deleted;
  DocFilter live;
};

/// The deleted rows of some superfiles. Immutable once filled, then thread-safe.
class Tombstones {
 public:
  void Set(const SuperfileId& superfile, std::shared_ptr<const DeletedRows> rows) {
    files_.insert_or_assign(superfile, std::move(rows));
  }

  /// The deleted rows of a superfile, or null if it has none. Shared: what is handed out stays.
  [[nodiscard]] std::shared_ptr<const DeletedRows> Find(const SuperfileId& superfile) const {
    const auto found = files_.find(superfile);
    return found == files_.end() ? nullptr : found->second;
  }

  /// The rows that are left of a superfile, or null if all are.
  [[nodiscard]] const DocFilter* LiveRowsOf(const SuperfileId& superfile) const {
    const auto found = files_.find(superfile);
    return found == files_.end() ? nullptr : &found->second->live;
  }

 private:
  std::unordered_map<SuperfileId, std::shared_ptr<const DeletedRows>, RandomIdHash> files_;
};

/// The tombstones that a connection's queries have read, by object, within a memory budget; the
/// least recently used are dropped first. Thread-safe.
class TombstoneCache {
 public:
  TombstoneCache(std::shared_ptr<ObjectStore> store, int64_t budget_bytes);
  ~TombstoneCache();
  TombstoneCache(const TombstoneCache&) = delete;
  TombstoneCache& operator=(const TombstoneCache&) = delete;
  TombstoneCache(TombstoneCache&&) = delete;
  TombstoneCache& operator=(TombstoneCache&&) = delete;

  /// Tombstones on their way: what was there, and the reads of the others.
  struct Reads {
    struct Read {
      const SuperfileEntry* entry = nullptr;
      std::string path;
      arrow::Future<VersionedBytes> bytes;
    };

    Tombstones known;
    std::vector<Read> reads;
  };

  /// Starts to read the tombstones of those `entries` that have some, all in one round. So they can
  /// travel with other reads of the same round. The entries outlive the reads.
  [[nodiscard]] Reads Begin(const std::string& folder,
                            std::span<const SuperfileEntry* const> entries);

  /// Waits for them. kCorrupt, naming the object, for one that is missing or damaged. Blocks in
  /// Wait.
  [[nodiscard]] arrow::Result<Tombstones> Finish(Reads reads, const StopCondition& stop);

  /// What is kept, in bytes; at most the budget.
  [[nodiscard]] int64_t size_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Starts to read the tombstones of `entries` for a query; see TombstoneCache::Begin.
[[nodiscard]] arrow::Result<TombstoneCache::Reads> BeginTombstones(
    const QueryContext& context, std::span<const SuperfileEntry* const> entries);

/// Waits for what BeginTombstones started.
[[nodiscard]] arrow::Result<Tombstones> FinishTombstones(const QueryContext& context,
                                                         TombstoneCache::Reads reads);

/// The deleted rows of those `entries`, superfiles of the context's snapshot, that have some, in
/// one round. Fails as TombstoneCache::Finish. Blocks in Wait.
[[nodiscard]] arrow::Result<Tombstones> LoadTombstones(
    const QueryContext& context, std::span<const SuperfileEntry* const> entries);

}  // namespace infino
