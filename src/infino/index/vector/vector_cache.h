#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "infino/index/vector/stored_codes.h"

namespace infino::vector {

/// What searches read and checked, kept for the next ones: a warm search reads nothing and checks
/// nothing again. By index (VectorIndexReader::uid), within a budget of bytes, the least recently
/// used dropped first. Thread-safe.
class VectorCache {
 public:
  explicit VectorCache(int64_t budget_bytes);

  /// Null if not kept.
  [[nodiscard]] std::shared_ptr<const StoredCodes> FindCodes(uint64_t index);
  [[nodiscard]] std::shared_ptr<const WholeRows> FindRows(uint64_t index);

  /// Replaces what was kept. What is too large for the cache is not.
  void KeepCodes(uint64_t index, std::shared_ptr<const StoredCodes> codes);
  void KeepRows(uint64_t index, std::shared_ptr<const WholeRows> rows);

  /// Whether the index has been asked about before. What is searched once may never be again.
  [[nodiscard]] bool NoteSearch(uint64_t index);

  [[nodiscard]] int64_t budget_bytes() const { return budget_bytes_; }

  /// At most the budget.
  [[nodiscard]] int64_t size_bytes() const;

 private:
  struct Entry {
    uint64_t key = 0;
    int64_t bytes = 0;
    std::shared_ptr<const StoredCodes> codes;
    std::shared_ptr<const WholeRows> rows;
  };

  [[nodiscard]] const Entry* Find(uint64_t key);
  void Keep(Entry entry);

  const int64_t budget_bytes_;
  mutable std::mutex mutex_;
  int64_t size_bytes_ = 0;
  std::list<Entry> entries_;  // the most recently used first
  std::unordered_map<uint64_t, std::list<Entry>::iterator> by_key_;
  std::unordered_set<uint64_t> searched_;
};

}  // namespace infino::vector
