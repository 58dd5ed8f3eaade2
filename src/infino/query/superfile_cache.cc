#include "infino/query/superfile_cache.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/buffer_range_reader.h"
#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/query/search_executor.h"
#include "infino/storage/blob_reader.h"
#include "infino/storage/block_cache.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/supertable/layout.h"

namespace infino {
namespace {

using OpenedFile = std::shared_ptr<const SuperfileReader>;

/// A superfile that is being opened.
struct Opening {
  const SuperfileEntry* entry = nullptr;
  size_t result = 0;  ///< Its place in the result of Open.
  std::string path{};
  std::shared_ptr<const BlobReader> file{};
  arrow::Future<Buffers> read{};
  std::shared_ptr<arrow::Buffer> bytes{};
  OpenedFile opened{};

  [[nodiscard]] bool whole() const { return entry->size_bytes <= SuperfileCache::kReadWholeBytes; }

  [[nodiscard]] ByteRange wanted() const {
    return whole() ? ByteRange{.offset = 0, .length = entry->size_bytes} : entry->open_section;
  }
};

arrow::Status CheckPlace(const Opening& opening) {
  const ByteRange& place = opening.entry->open_section;
  if (place.offset >= 0 && place.length >= 0 && place.offset <= opening.entry->size_bytes &&
      place.length <= opening.entry->size_bytes - place.offset) {
    return arrow::Status::OK();
  }
  return MakeError(ErrorKind::kCorrupt, "open superfile " + opening.path +
                                            ": the manifest puts its open section past its end");
}

/// A file that the manifest names and the store lacks is damage, not a wrong request.
arrow::Status Explain(const arrow::Status& status, const std::string& path) {
  if (!IsError(status, ErrorKind::kNotFound)) return status;
  return MakeError(ErrorKind::kCorrupt,
                   "open superfile " + path + ": the object is missing; " + status.message());
}

arrow::Status Parse(Opening& opening) {
  const SuperfileEntry& entry = *opening.entry;
  std::shared_ptr<const RangeReader> file = opening.file;
  std::shared_ptr<arrow::Buffer> open_section = opening.bytes;
  if (opening.whole()) {
    file = std::make_shared<BufferRangeReader>(opening.bytes, opening.path);
    open_section =
        arrow::SliceBuffer(opening.bytes, entry.open_section.offset, entry.open_section.length);
  }
  ARROW_ASSIGN_OR_RAISE(opening.opened, SuperfileReader::Open(std::move(file), entry.open_section,
                                                              std::move(open_section), entry.id));
  return arrow::Status::OK();
}

}  // namespace

struct SuperfileCache::State {
  struct Node {
    const std::string* folder = nullptr;  // A key of `folders`, which stays where it is.
    SuperfileId id;
    OpenedFile file;
    int64_t bytes = 0;
  };

  using Nodes = std::list<Node>;
  using ById = std::unordered_map<SuperfileId, Nodes::iterator, RandomIdHash>;

  BlobSource source;
  int64_t budget_bytes = 0;

  mutable std::mutex mutex;
  Nodes nodes;  // The one used last is in front.
  std::unordered_map<std::string, ById> folders;
  int64_t size_bytes = 0;

  /// Fills in what is there, and returns what is not.
  std::vector<Opening> Find(const std::string& folder,
                            std::span<const SuperfileEntry* const> entries,
                            std::vector<OpenedFile>& result) {
    std::vector<Opening> missing;
    const std::lock_guard lock(mutex);
    const auto by_id = folders.find(folder);
    for (size_t i = 0; i < entries.size(); ++i) {
      if (by_id != folders.end()) {
        const auto found = by_id->second.find(entries[i]->id);
        if (found != by_id->second.end()) {
          nodes.splice(nodes.begin(), nodes, found->second);
          result[i] = found->second->file;
          continue;
        }
      }
      missing.push_back({.entry = entries[i], .result = i});
    }
    return missing;
  }

  /// Keeps an opened file, or returns the one that somebody else has kept meanwhile.
  OpenedFile Keep(const std::string& folder, const Opening& opening) {
    // A file that was read whole lives in its own buffer, the open section with it.
    const int64_t bytes =
        opening.opened->memory_bytes() + (opening.whole() ? opening.entry->size_bytes : 0);
    const std::lock_guard lock(mutex);
    if (bytes > budget_bytes) return opening.opened;
    const auto by_id = folders.try_emplace(folder).first;
    const auto [place, added] = by_id->second.try_emplace(opening.entry->id);
    if (!added) return place->second->file;
    nodes.push_front(
        {.folder = &by_id->first, .id = opening.entry->id, .file = opening.opened, .bytes = bytes});
    place->second = nodes.begin();
    size_bytes += bytes;
    while (size_bytes > budget_bytes) DropLast();
    return opening.opened;
  }

  /// REQUIRES: `mutex` is held and the cache is not empty.
  void DropLast() {
    const Node& last = nodes.back();
    size_bytes -= last.bytes;
    const auto by_id = folders.find(*last.folder);
    by_id->second.erase(last.id);
    if (by_id->second.empty()) folders.erase(by_id);
    nodes.pop_back();
  }
};

SuperfileCache::SuperfileCache(std::shared_ptr<ObjectStore> store,
                               std::shared_ptr<BlockCache> blocks, int64_t budget_bytes)
    : state_(std::make_unique<State>()) {
  state_->source.store = std::move(store);
  state_->source.cache = std::move(blocks);
  state_->budget_bytes = budget_bytes;
}

SuperfileCache::~SuperfileCache() = default;

arrow::Result<std::vector<OpenedFile>> SuperfileCache::Open(
    const std::string& folder, std::span<const SuperfileEntry* const> entries,
    const StopCondition& stop, WorkPool* pool) {
  std::vector<OpenedFile> result(entries.size());
  std::vector<Opening> missing = state_->Find(folder, entries, result);
  if (missing.empty()) return result;
  int64_t read_bytes = 0;
  for (Opening& opening : missing) {
    opening.path = SuperfilePath(folder, opening.entry->id);
    ARROW_RETURN_NOT_OK(CheckPlace(opening));
    opening.file =
        std::make_shared<BlobReader>(state_->source, opening.path, opening.entry->size_bytes);
    opening.read = opening.file->Read({opening.wanted()});
    read_bytes += opening.wanted().length;
  }
  for (Opening& opening : missing) {
    arrow::Result<Buffers> read = Wait(opening.read, stop);
    if (!read.ok()) return Explain(read.status(), opening.path);
    opening.bytes = std::move(read->front());
  }
  ARROW_RETURN_NOT_OK(ParallelFor(
      read_bytes >= kWorthAPoolBytes ? pool : nullptr, static_cast<int64_t>(missing.size()),
      [&](int64_t i) -> arrow::Status { return Parse(missing[static_cast<size_t>(i)]); }));
  for (const Opening& opening : missing) {
    result[opening.result] = state_->Keep(folder, opening);
  }
  return result;
}

int64_t SuperfileCache::size_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->size_bytes;
}

}  // namespace infino
