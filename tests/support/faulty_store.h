#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/common/random.h"
#include "infino/storage/object_store.h"
#include "support/forwarding_store.h"

namespace infino {

enum class StoreOp : uint8_t {
  kGet,
  kGetIfChanged,
  kGetRange,
  kHead,
  kPutIfAbsent,
  kPutAllIfAbsent,
  kPutIfMatch,
  kList,
  kDelete,
  kBeginUpload,
  kPutPart,
  kCompleteUpload,
  kAbortUpload,
};
inline constexpr size_t kStoreOpCount = 13;

[[nodiscard]] std::string_view NameOf(StoreOp op);

/// How likely each fault is for one operation, from 0 to 1. At most one happens a call, looked for
/// in this order; faults that make no sense for an operation are ignored.
struct Faults {
  double fail_before = 0;  ///< kUnavailable, nothing happened.
  double lose_answer = 0;  ///< kUnavailable, but it took effect.
  double delay_put = 0;    ///< kUnavailable, and the put lands during some later call.
  double echo = 0;         ///< A conditional put takes effect and reports kPreconditionFailed.
};

/// Faults by operation.
class FaultPlan {
 public:
  /// The same faults for every operation.
  [[nodiscard]] static FaultPlan Everywhere(const Faults& faults);

  FaultPlan& Set(StoreOp op, const Faults& faults);
  [[nodiscard]] const Faults& For(StoreOp op) const;

 private:
  std::array<Faults, kStoreOpCount> faults_{};
};

/// Wraps a store and makes it fail, by seed. Deterministic as long as calls come from one thread
/// and the store below returns finished futures; thread-safe. REQUIRES (of the store below):
/// finished futures, as the memory store's. Outlives its uploads.
class FaultyStore final : public ObjectStore {
 public:
  FaultyStore(std::shared_ptr<ObjectStore> store, uint64_t seed, FaultPlan plan);

  arrow::Future<VersionedBytes> Get(std::string_view path) override;
  arrow::Future<std::optional<VersionedBytes>> GetIfChanged(std::string_view path,
                                                            const ObjectVersion& known) override;
  arrow::Future<std::shared_ptr<arrow::Buffer>> GetRange(std::string_view path,
                                                         ByteRange range) override;
  arrow::Future<ObjectInfo> Head(std::string_view path) override;
  arrow::Future<PutResult> PutIfAbsent(std::string_view path,
                                       std::shared_ptr<arrow::Buffer> bytes) override;
  arrow::Future<std::vector<PutOutcome>> PutAllIfAbsent(std::vector<StagedObject> objects) override;
  arrow::Future<std::shared_ptr<ObjectUpload>> BeginUpload(std::string_view path) override;
  arrow::Future<PutResult> PutIfMatch(std::string_view path, std::shared_ptr<arrow::Buffer> bytes,
                                      const ObjectVersion& expected) override;
  arrow::Future<std::vector<ObjectInfo>> List(std::string_view prefix) override;
  arrow::Future<> Delete(std::string_view path) override;

  /// Replaces the plan: to let a test set up in peace, or to end a storm.
  void SetPlan(FaultPlan plan);

  /// Makes the call number `call` (counted from 0 over all operations) fail in the given way,
  /// whatever the plan says: `fault` has one field set to 1.
  void FailCall(size_t call, const Faults& fault);

  /// Lets all delayed puts land now, and returns how many there were.
  size_t Settle();

  [[nodiscard]] size_t pending_puts() const;
  [[nodiscard]] size_t call_count() const;

  /// One line for each call: number, operation, path, fault. Equal for equal seeds.
  [[nodiscard]] std::vector<std::string> Trace() const;

 private:
  class Upload;

  enum class Fault : uint8_t { kNone, kFailBefore, kLoseAnswer, kDelayPut, kEcho };

  /// A put that was sent and not answered. It meets its condition when it lands.
  using DelayedPut = std::function<void()>;

  Fault Begin(StoreOp op, std::string_view path);
  void Delay(DelayedPut put);

  template <typename T, typename Call>
  arrow::Future<T> Run(StoreOp op, std::string_view path, Call call);

  std::shared_ptr<ObjectStore> store_;
  Random random_;
  mutable std::mutex mutex_;
  FaultPlan plan_;
  std::vector<std::pair<size_t, Faults>> forced_;
  std::vector<DelayedPut> delayed_;
  std::vector<std::string> trace_;
};

/// Wraps a store, and outlives its uploads, and checks that its callers keep the contract:
/// - only swapped paths (pointer and catalog) get PutIfMatch;
/// - no staged path is ever put with two different contents, at once or in parts;
/// - a swapped object never repeats the bytes of an earlier version of itself;
/// - no range is negative, and no swapped object is read by ranges.
class AssertingStore final : public ForwardingStore {
 public:
  /// `is_swapped` tells the paths that may be swapped; the default takes those ending in
  /// "/current". `report` is told every breach; the default fails the running test.
  explicit AssertingStore(std::shared_ptr<ObjectStore> store,
                          std::function<bool(std::string_view)> is_swapped = {},
                          std::function<void(const std::string&)> report = {});
  ~AssertingStore() override;

  arrow::Future<std::shared_ptr<arrow::Buffer>> GetRange(std::string_view path,
                                                         ByteRange range) override;
  arrow::Future<PutResult> PutIfAbsent(std::string_view path,
                                       std::shared_ptr<arrow::Buffer> bytes) override;
  arrow::Future<std::vector<PutOutcome>> PutAllIfAbsent(std::vector<StagedObject> objects) override;
  arrow::Future<std::shared_ptr<ObjectUpload>> BeginUpload(std::string_view path) override;
  arrow::Future<PutResult> PutIfMatch(std::string_view path, std::shared_ptr<arrow::Buffer> bytes,
                                      const ObjectVersion& expected) override;
  arrow::Future<> Delete(std::string_view path) override;

 private:
  class Upload;
  struct Memory;

  void CheckStaged(std::string_view path, const arrow::Buffer& bytes);

  std::function<bool(std::string_view)> is_swapped_;
  std::function<void(const std::string&)> report_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace infino
