#pragma once

#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace infino {

/// Values within a budget of bytes: what was not used for longest goes first. Values are handed out
/// as copies, so they are pointers or little more. Thread-safe.
template <typename Key, typename Value>
class LruCache {
 public:
  explicit LruCache(int64_t budget_bytes) : budget_bytes_(budget_bytes) {}

  [[nodiscard]] std::optional<Value> Find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return std::nullopt;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return found->second->value;
  }

  /// Keeps a value, unless it takes more than the budget. One that is there gives way if
  /// `replaces`, which gets it, says so.
  template <typename Replaces>
  void Keep(const Key& key, Value value, int64_t bytes, const Replaces& replaces) {
    if (bytes > budget_bytes_) return;
    const std::lock_guard lock(mutex_);
    if (const auto known = by_key_.find(key); known != by_key_.end()) {
      if (!replaces(known->second->value)) return;
      Drop(known->second);
    }
    while (size_bytes_ + bytes > budget_bytes_) Drop(std::prev(by_use_.end()));
    by_use_.push_front({.key = key, .value = std::move(value), .bytes = bytes});
    by_key_.emplace(key, by_use_.begin());
    size_bytes_ += bytes;
  }

  void Keep(const Key& key, Value value, int64_t bytes) {
    Keep(key, std::move(value), bytes, [](const Value& /*known*/) { return true; });
  }

  [[nodiscard]] int64_t budget_bytes() const { return budget_bytes_; }

  [[nodiscard]] int64_t size_bytes() const {
    const std::lock_guard lock(mutex_);
    return size_bytes_;
  }

 private:
  struct Node {
    Key key;
    Value value;
    int64_t bytes = 0;
  };

  using Nodes = std::list<Node>;

  void Drop(typename Nodes::iterator node) {
    size_bytes_ -= node->bytes;
    by_key_.erase(node->key);
    by_use_.erase(node);
  }

  const int64_t budget_bytes_;
  mutable std::mutex mutex_;
  Nodes by_use_;  // The one used last is in front.
  std::map<Key, typename Nodes::iterator> by_key_;
  int64_t size_bytes_ = 0;
};

}  // namespace infino
