#include "infino/index/text/postings_cache.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "infino/index/text/impacts.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/term_texts.h"

namespace infino::text {
namespace {

/// More shards make for less waiting, and for a smaller largest entry.
constexpr size_t kShardCount = 4;

/// What an entry takes beside what it holds: nodes of list and map.
constexpr size_t kEntryOverhead = 160;

struct KeyView {
  uint64_t index = 0;
  std::string_view term;
  size_t hash = 0;
};

/// No term is empty, so the empty one stands for the lengths.
constexpr std::string_view kLengthsKey;

/// Nor has any a blank: this one stands for the text of all.
constexpr std::string_view kTextsKey = " ";

KeyView MakeKey(uint64_t index, std::string_view term) {
  constexpr uint64_t kMix = 0x9E3779B97F4A7C15;
  size_t hash = std::hash<std::string_view>()(term) ^ (index * kMix);
  hash ^= hash >> 32U;
  return {.index = index, .term = term, .hash = hash};
}

size_t MemoryOf(const KnownTerm& known) {
  size_t bytes = sizeof(KnownTerm) + known.inline_positions.capacity();
  if (known.entry.has_value()) bytes += known.entry->impacts.capacity() * sizeof(Impact);
  if (known.postings != nullptr) bytes += known.postings->memory_bytes();
  return bytes;
}

}  // namespace

class PostingsCache::Shard {
 public:
  struct Entry {
    uint64_t index = 0;
    std::string term{};
    size_t hash = 0;
    std::shared_ptr<const KnownTerm> known{};
    std::shared_ptr<const DocLengths> lengths{};
    std::shared_ptr<const TermTexts> texts{};
    size_t bytes = 0;
  };

  explicit Shard(size_t budget) : budget_(budget) {}

  /// The entry's content, or an empty one.
  Entry Find(const KeyView& key) {
    const std::lock_guard lock(mutex_);
    const auto found = Locate(key);
    if (found == by_hash_.end()) return {};
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return {.known = found->second->known,
            .lengths = found->second->lengths,
            .texts = found->second->texts};
  }

  void Keep(const KeyView& key, Entry entry) {
    entry.bytes += kEntryOverhead + key.term.size();
    const std::lock_guard lock(mutex_);
    const auto found = Locate(key);
    if (found != by_hash_.end()) {
      size_ -= found->second->bytes;
      by_use_.erase(found->second);
      by_hash_.erase(found);
    }
    if (entry.bytes > budget_) return;
    entry.index = key.index;
    entry.term = key.term;
    entry.hash = key.hash;
    size_ += entry.bytes;
    by_use_.push_front(std::move(entry));
    by_hash_.emplace(key.hash, by_use_.begin());
    while (size_ > budget_) DropLast();
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return size_;
  }

 private:
  struct Identity {
    size_t operator()(size_t hash) const { return hash; }
  };

  using Entries = std::list<Entry>;
  using ByHash = std::unordered_multimap<size_t, Entries::iterator, Identity>;

  ByHash::iterator Locate(const KeyView& key) {
    auto [at, end] = by_hash_.equal_range(key.hash);
    for (; at != end; ++at) {
      if (at->second->index == key.index && at->second->term == key.term) return at;
    }
    return by_hash_.end();
  }

  void DropLast() {
    const Entry& last = by_use_.back();
    size_ -= last.bytes;
    by_hash_.erase(Locate({.index = last.index, .term = last.term, .hash = last.hash}));
    by_use_.pop_back();
  }

  const size_t budget_;
  mutable std::mutex mutex_;
  Entries by_use_;  // the one used last is in front
  ByHash by_hash_;
  size_t size_ = 0;
};

PostingsCache::PostingsCache(int64_t budget_bytes) {
  for (size_t i = 0; i < kShardCount; ++i) {
    shards_.push_back(std::make_unique<Shard>(static_cast<size_t>(budget_bytes) / kShardCount));
  }
}

PostingsCache::~PostingsCache() = default;

std::shared_ptr<const KnownTerm> PostingsCache::FindTerm(uint64_t index, std::string_view term) {
  const KeyView key = MakeKey(index, term);
  return ShardOf(key.hash).Find(key).known;
}

std::shared_ptr<const DocLengths> PostingsCache::FindLengths(uint64_t index) {
  const KeyView key = MakeKey(index, kLengthsKey);
  return ShardOf(key.hash).Find(key).lengths;
}

std::shared_ptr<const TermTexts> PostingsCache::FindTexts(uint64_t index) {
  const KeyView key = MakeKey(index, kTextsKey);
  return ShardOf(key.hash).Find(key).texts;
}

void PostingsCache::KeepTerm(uint64_t index, std::string_view term,
                             std::shared_ptr<const KnownTerm> known) {
  const KeyView key = MakeKey(index, term);
  const size_t bytes = MemoryOf(*known);
  ShardOf(key.hash).Keep(key, {.known = std::move(known), .bytes = bytes});
}

void PostingsCache::KeepLengths(uint64_t index, std::shared_ptr<const DocLengths> lengths) {
  const KeyView key = MakeKey(index, kLengthsKey);
  const size_t bytes = lengths->memory_bytes();
  ShardOf(key.hash).Keep(key, {.lengths = std::move(lengths), .bytes = bytes});
}

void PostingsCache::KeepTexts(uint64_t index, std::shared_ptr<const TermTexts> texts) {
  const KeyView key = MakeKey(index, kTextsKey);
  const size_t bytes = texts->memory_bytes();
  ShardOf(key.hash).Keep(key, {.texts = std::move(texts), .bytes = bytes});
}

int64_t PostingsCache::size_bytes() const {
  size_t size = 0;
  for (const std::unique_ptr<Shard>& shard : shards_) size += shard->size();
  return static_cast<int64_t>(size);
}

}  // namespace infino::text
