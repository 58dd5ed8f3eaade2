#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "infino/storage/object_store.h"

namespace infino {

/// How many requests went to a store, and how many bytes they carried. Requests are counted when
/// they start, bytes when they arrive; failed requests count too. PutAllIfAbsent counts as one
/// put_if_absent an object; of an upload the beginning, every part and the end count.
struct StoreCounters {
  int64_t get = 0;
  int64_t get_if_changed = 0;
  int64_t get_range = 0;
  int64_t head = 0;
  int64_t put_if_absent = 0;
  int64_t upload = 0;
  int64_t put_if_match = 0;
  int64_t list = 0;
  int64_t remove = 0;
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;  ///< Sent, whether they were accepted or not.

  [[nodiscard]] int64_t requests() const {
    return get + get_if_changed + get_range + head + put_if_absent + upload + put_if_match + list +
           remove;
  }

  /// What was added since `earlier`.
  [[nodiscard]] StoreCounters Since(const StoreCounters& earlier) const;

  friend bool operator==(const StoreCounters&, const StoreCounters&) = default;
};

/// The live counts behind StoreCounters. Thread-safe; shared by a store and whoever reports.
class StoreMeter {
 public:
  [[nodiscard]] StoreCounters Snapshot() const;

 private:
  friend class MeteredStore;
  friend class MeteredUpload;

  std::atomic<int64_t> get_ = 0;
  std::atomic<int64_t> get_if_changed_ = 0;
  std::atomic<int64_t> get_range_ = 0;
  std::atomic<int64_t> head_ = 0;
  std::atomic<int64_t> put_if_absent_ = 0;
  std::atomic<int64_t> upload_ = 0;
  std::atomic<int64_t> put_if_match_ = 0;
  std::atomic<int64_t> list_ = 0;
  std::atomic<int64_t> remove_ = 0;
  std::atomic<int64_t> bytes_read_ = 0;
  std::atomic<int64_t> bytes_written_ = 0;
};

/// Wraps `store` and counts every request that reaches it into `meter`. Changes nothing else. When
/// a returned future is finished, its bytes have been counted.
[[nodiscard]] std::shared_ptr<ObjectStore> MakeMeteredStore(std::shared_ptr<ObjectStore> store,
                                                            std::shared_ptr<StoreMeter> meter);

}  // namespace infino
