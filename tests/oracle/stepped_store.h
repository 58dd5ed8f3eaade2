#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "support/forwarding_store.h"

namespace infino {

/// Wraps a store and answers reads only when the caller has nothing else to do than wait, so that
/// dependent rounds can be counted: all reads that are asked for before the caller waits are one
/// round.
///
/// The caller's StopCondition is what tells that it waits: Wait asks it. A read that is asked for
/// after others were answered belongs to the next round. Reads are held back while stepping is on;
/// writes never.
class SteppedStore final : public ForwardingStore {
 public:
  explicit SteppedStore(std::shared_ptr<ObjectStore> store) : ForwardingStore(std::move(store)) {}

  /// Holds reads back from now on, until Stop. The returned condition must go into every call.
  [[nodiscard]] StopCondition Start();

  /// Ends stepping and returns how many rounds there were.
  int Stop();

  /// How many reads the rounds had together.
  [[nodiscard]] int read_count() const { return read_count_; }

  arrow::Future<VersionedBytes> Get(std::string_view path) override;
  arrow::Future<std::optional<VersionedBytes>> GetIfChanged(std::string_view path,
                                                            const ObjectVersion& known) override;
  arrow::Future<std::shared_ptr<arrow::Buffer>> GetRange(std::string_view path,
                                                         ByteRange range) override;
  arrow::Future<ObjectInfo> Head(std::string_view path) override;
  arrow::Future<std::vector<ObjectInfo>> List(std::string_view prefix) override;

 private:
  /// Holds a read back, or hands it out at once while stepping is off.
  template <typename T>
  arrow::Future<T> Hold(arrow::Future<T> read);

  /// Answers all reads that are held back.
  void AnswerAll();

  std::mutex mutex_;
  bool stepping_ = false;
  std::vector<std::function<void()>> held_;
  int rounds_ = 0;
  int read_count_ = 0;
};

}  // namespace infino
