#include "infino/index/vector/vector_cache.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "infino/index/vector/stored_codes.h"

namespace infino::vector {
namespace {

/// Codes and rows of an index are kept apart: the former are much smaller.
uint64_t CodesKey(uint64_t index) {
  return 2 * index;
}

uint64_t RowsKey(uint64_t index) {
  return 2 * index + 1;
}

}  // namespace

VectorCache::VectorCache(int64_t budget_bytes) : budget_bytes_(budget_bytes) {}

const VectorCache::Entry* VectorCache::Find(uint64_t key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &*found->second;
}

void VectorCache::Keep(Entry entry) {
  if (entry.bytes > budget_bytes_) return;
  const auto found = by_key_.find(entry.key);
  if (found != by_key_.end()) {
    size_bytes_ -= found->second->bytes;
    entries_.erase(found->second);
    by_key_.erase(found);
  }
  size_bytes_ += entry.bytes;
  while (size_bytes_ > budget_bytes_) {
    size_bytes_ -= entries_.back().bytes;
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  const uint64_t key = entry.key;
  entries_.push_front(std::move(entry));
  by_key_[key] = entries_.begin();
}

std::shared_ptr<const StoredCodes> VectorCache::FindCodes(uint64_t index) {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = Find(CodesKey(index));
  return entry == nullptr ? nullptr : entry->codes;
}

std::shared_ptr<const WholeRows> VectorCache::FindRows(uint64_t index) {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = Find(RowsKey(index));
  return entry == nullptr ? nullptr : entry->rows;
}

bool VectorCache::NoteSearch(uint64_t index) {
  constexpr size_t kRememberedMax = 65'536;
  const std::lock_guard lock(mutex_);
  if (searched_.size() >= kRememberedMax) searched_.clear();
  return !searched_.insert(index).second;
}

void VectorCache::KeepCodes(uint64_t index, std::shared_ptr<const StoredCodes> codes) {
  const std::lock_guard lock(mutex_);
  const int64_t bytes = codes->memory_bytes();
  Keep({.key = CodesKey(index), .bytes = bytes, .codes = std::move(codes), .rows = nullptr});
}

void VectorCache::KeepRows(uint64_t index, std::shared_ptr<const WholeRows> rows) {
  const std::lock_guard lock(mutex_);
  const int64_t bytes = rows->memory_bytes();
  Keep({.key = RowsKey(index), .bytes = bytes, .codes = nullptr, .rows = std::move(rows)});
}

int64_t VectorCache::size_bytes() const {
  const std::lock_guard lock(mutex_);
  return size_bytes_;
}

}  // namespace infino::vector
