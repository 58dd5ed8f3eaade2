#include "support/faulty_store.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/status.h>
#include <arrow/util/future.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/error.h"
#include "infino/storage/object_store.h"

namespace infino {
namespace {

constexpr std::array<std::string_view, kStoreOpCount> kOpNames = {
    "get",           "get_if_changed",    "get_range",    "head",
    "put_if_absent", "put_all_if_absent", "put_if_match", "list",
    "delete",        "begin_upload",      "put_part",     "complete_upload",
    "abort_upload"};

size_t OrdinalOf(StoreOp op) {
  return static_cast<size_t>(op);
}

bool IsPut(StoreOp op) {
  return op == StoreOp::kPutIfAbsent || op == StoreOp::kPutAllIfAbsent ||
         op == StoreOp::kPutIfMatch || op == StoreOp::kCompleteUpload;
}

arrow::Status Injected(StoreOp op, std::string_view path) {
  return MakeError(
      ErrorKind::kUnavailable,
      "injected fault: no answer to " + std::string(NameOf(op)) + " of " + std::string(path));
}

std::string ContentOf(const arrow::Buffer& bytes) {
  return bytes.ToString();
}

/// What an echoed put tells its caller: that somebody else, in truth itself, was there before.
void Echo(PutResult& result) {
  result = {.outcome = PutOutcome::kPreconditionFailed, .version = {}};
}

void Echo(std::vector<PutOutcome>& outcomes) {
  std::ranges::fill(outcomes, PutOutcome::kPreconditionFailed);
}

void Echo(PutOutcome& outcome) {
  outcome = PutOutcome::kPreconditionFailed;
}

template <typename T>
void Echo(T& /*not a put*/) {}

}  // namespace

std::string_view NameOf(StoreOp op) {
  return kOpNames.at(OrdinalOf(op));
}

FaultPlan FaultPlan::Everywhere(const Faults& faults) {
  FaultPlan plan;
  plan.faults_.fill(faults);
  return plan;
}

FaultPlan& FaultPlan::Set(StoreOp op, const Faults& faults) {
  faults_.at(OrdinalOf(op)) = faults;
  return *this;
}

const Faults& FaultPlan::For(StoreOp op) const {
  return faults_.at(OrdinalOf(op));
}

FaultyStore::FaultyStore(std::shared_ptr<ObjectStore> store, uint64_t seed, FaultPlan plan)
    : store_(std::move(store)), random_(seed), plan_(plan) {}

FaultyStore::Fault FaultyStore::Begin(StoreOp op, std::string_view path) {
  std::vector<DelayedPut> landing;
  Fault fault = Fault::kNone;
  {
    const std::lock_guard lock(mutex_);
    // Each delayed put lands now or later, in any order.
    constexpr double kLandingChance = 0.3;
    std::erase_if(delayed_, [&](const DelayedPut& put) {
      if (random_.Unit() >= kLandingChance) return false;
      landing.push_back(put);
      return true;
    });
    Faults chances = plan_.For(op);
    for (const auto& [call, forced] : forced_) {
      if (call == trace_.size()) chances = forced;
    }
    const double drawn = random_.Unit();
    double limit = chances.fail_before;
    if (drawn < limit) {
      fault = Fault::kFailBefore;
    } else if (drawn < (limit += chances.lose_answer)) {
      fault = Fault::kLoseAnswer;
    } else if (IsPut(op) && drawn < (limit += chances.delay_put)) {
      fault = Fault::kDelayPut;
    } else if (IsPut(op) && drawn < limit + chances.echo) {
      fault = Fault::kEcho;
    }
    constexpr std::array<std::string_view, 5> kFaultNames = {"", " fail_before", " lose_answer",
                                                             " delay_put", " echo"};
    trace_.push_back(std::to_string(trace_.size()) + " " + std::string(NameOf(op)) + " " +
                     std::string(path) + std::string(kFaultNames.at(static_cast<size_t>(fault))));
  }
  for (const DelayedPut& put : landing) put();
  return fault;
}

void FaultyStore::Delay(DelayedPut put) {
  const std::lock_guard lock(mutex_);
  delayed_.push_back(std::move(put));
}

template <typename T, typename Call>
arrow::Future<T> FaultyStore::Run(StoreOp op, std::string_view path, Call call) {
  const Fault fault = Begin(op, path);
  if (fault == Fault::kFailBefore) return Injected(op, path);
  if (fault == Fault::kDelayPut) {
    Delay([call] { EXPECT_TRUE(call().is_finished()); });
    return Injected(op, path);
  }
  arrow::Future<T> done = call();
  EXPECT_TRUE(done.is_finished()) << "FaultyStore needs a store whose futures are finished";
  if (fault == Fault::kLoseAnswer) return Injected(op, path);
  if constexpr (std::is_same_v<T, arrow::internal::Empty>) {
    return done;
  } else {
    if (fault != Fault::kEcho || !done.result().ok()) return done;
    T echoed = *done.result();
    Echo(echoed);
    return echoed;
  }
}

arrow::Future<VersionedBytes> FaultyStore::Get(std::string_view path) {
  return Run<VersionedBytes>(StoreOp::kGet, path, [&] { return store_->Get(path); });
}

arrow::Future<std::optional<VersionedBytes>> FaultyStore::GetIfChanged(std::string_view path,
                                                                       const ObjectVersion& known) {
  return Run<std::optional<VersionedBytes>>(StoreOp::kGetIfChanged, path,
                                            [&] { return store_->GetIfChanged(path, known); });
}

arrow::Future<std::shared_ptr<arrow::Buffer>> FaultyStore::GetRange(std::string_view path,
                                                                    ByteRange range) {
  return Run<std::shared_ptr<arrow::Buffer>>(StoreOp::kGetRange, path,
                                             [&] { return store_->GetRange(path, range); });
}

arrow::Future<ObjectInfo> FaultyStore::Head(std::string_view path) {
  return Run<ObjectInfo>(StoreOp::kHead, path, [&] { return store_->Head(path); });
}

arrow::Future<PutResult> FaultyStore::PutIfAbsent(std::string_view path,
                                                  std::shared_ptr<arrow::Buffer> bytes) {
  return Run<PutResult>(StoreOp::kPutIfAbsent, path,
                        [store = store_, path = std::string(path), bytes = std::move(bytes)] {
                          return store->PutIfAbsent(path, bytes);
                        });
}

arrow::Future<std::vector<PutOutcome>> FaultyStore::PutAllIfAbsent(
    std::vector<StagedObject> objects) {
  const std::string first = objects.empty() ? std::string() : objects.front().path;
  return Run<std::vector<PutOutcome>>(
      StoreOp::kPutAllIfAbsent, first + " (" + std::to_string(objects.size()) + ")",
      [store = store_, objects = std::move(objects)] { return store->PutAllIfAbsent(objects); });
}

class FaultyStore::Upload final : public ObjectUpload {
 public:
  Upload(FaultyStore& store, std::string path, std::shared_ptr<ObjectUpload> upload)
      : store_(store), path_(std::move(path)), upload_(std::move(upload)) {}

  arrow::Future<> PutPart(int64_t number, std::shared_ptr<arrow::Buffer> bytes) override {
    return store_.Run<arrow::internal::Empty>(StoreOp::kPutPart, path_,
                                              [upload = upload_, number, bytes = std::move(bytes)] {
                                                return upload->PutPart(number, bytes);
                                              });
  }

  arrow::Future<PutOutcome> Complete(int64_t part_count) override {
    return store_.Run<PutOutcome>(StoreOp::kCompleteUpload, path_, [upload = upload_, part_count] {
      return upload->Complete(part_count);
    });
  }

  arrow::Future<> Abort() override {
    return store_.Run<arrow::internal::Empty>(StoreOp::kAbortUpload, path_,
                                              [upload = upload_] { return upload->Abort(); });
  }

 private:
  FaultyStore& store_;
  const std::string path_;
  const std::shared_ptr<ObjectUpload> upload_;
};

arrow::Future<std::shared_ptr<ObjectUpload>> FaultyStore::BeginUpload(std::string_view path) {
  return Run<std::shared_ptr<ObjectUpload>>(StoreOp::kBeginUpload, path,
                                            [&] { return store_->BeginUpload(path); })
      .Then([this, path = std::string(path)](
                const std::shared_ptr<ObjectUpload>& upload) -> std::shared_ptr<ObjectUpload> {
        return std::make_shared<Upload>(*this, path, upload);
      });
}

arrow::Future<PutResult> FaultyStore::PutIfMatch(std::string_view path,
                                                 std::shared_ptr<arrow::Buffer> bytes,
                                                 const ObjectVersion& expected) {
  return Run<PutResult>(StoreOp::kPutIfMatch, path,
                        [store = store_, path = std::string(path), bytes = std::move(bytes),
                         expected] { return store->PutIfMatch(path, bytes, expected); });
}

arrow::Future<std::vector<ObjectInfo>> FaultyStore::List(std::string_view prefix) {
  return Run<std::vector<ObjectInfo>>(StoreOp::kList, prefix, [&] { return store_->List(prefix); });
}

arrow::Future<> FaultyStore::Delete(std::string_view path) {
  return Run<arrow::internal::Empty>(StoreOp::kDelete, path, [&] { return store_->Delete(path); });
}

void FaultyStore::SetPlan(FaultPlan plan) {
  const std::lock_guard lock(mutex_);
  plan_ = plan;
}

void FaultyStore::FailCall(size_t call, const Faults& fault) {
  const std::lock_guard lock(mutex_);
  forced_.emplace_back(call, fault);
}

size_t FaultyStore::Settle() {
  std::vector<DelayedPut> landing;
  {
    const std::lock_guard lock(mutex_);
    landing.swap(delayed_);
  }
  for (const DelayedPut& put : landing) put();
  return landing.size();
}

size_t FaultyStore::pending_puts() const {
  const std::lock_guard lock(mutex_);
  return delayed_.size();
}

size_t FaultyStore::call_count() const {
  const std::lock_guard lock(mutex_);
  return trace_.size();
}

std::vector<std::string> FaultyStore::Trace() const {
  const std::lock_guard lock(mutex_);
  return trace_;
}

struct AssertingStore::Memory {
  std::mutex mutex;
  std::map<std::string, std::string, std::less<>> staged;  ///< Contents by path.

  /// For each swapped path, the contents that were sent and the version each was to replace; empty
  /// for the first one.
  std::map<std::string, std::map<std::string, std::string>, std::less<>> swapped;
};

AssertingStore::AssertingStore(std::shared_ptr<ObjectStore> store,
                               std::function<bool(std::string_view)> is_swapped,
                               std::function<void(const std::string&)> report)
    : ForwardingStore(std::move(store)),
      is_swapped_(std::move(is_swapped)),
      report_(std::move(report)),
      memory_(std::make_unique<Memory>()) {
  if (!is_swapped_) is_swapped_ = [](std::string_view path) { return path.ends_with("/current"); };
  if (!report_) report_ = [](const std::string& breach) { ADD_FAILURE() << breach; };
}

AssertingStore::~AssertingStore() = default;

void AssertingStore::CheckStaged(std::string_view path, const arrow::Buffer& bytes) {
  const std::lock_guard lock(memory_->mutex);
  if (is_swapped_(path)) {
    memory_->swapped[std::string(path)].emplace(ContentOf(bytes), "");
    return;
  }
  const auto [at, is_new] = memory_->staged.emplace(path, ContentOf(bytes));
  if (!is_new && at->second != ContentOf(bytes)) {
    report_("immutable object " + std::string(path) + " put again with other bytes");
  }
}

arrow::Future<std::shared_ptr<arrow::Buffer>> AssertingStore::GetRange(std::string_view path,
                                                                       ByteRange range) {
  if (range.offset < 0 || range.length < 0) {
    report_("negative range of " + std::string(path) + ": offset=" + std::to_string(range.offset) +
            " length=" + std::to_string(range.length));
  }
  if (is_swapped_(path)) report_("range read of swapped object " + std::string(path));
  return ForwardingStore::GetRange(path, range);
}

arrow::Future<PutResult> AssertingStore::PutIfAbsent(std::string_view path,
                                                     std::shared_ptr<arrow::Buffer> bytes) {
  CheckStaged(path, *bytes);
  return ForwardingStore::PutIfAbsent(path, std::move(bytes));
}

arrow::Future<std::vector<PutOutcome>> AssertingStore::PutAllIfAbsent(
    std::vector<StagedObject> objects) {
  for (const StagedObject& object : objects) CheckStaged(object.path, *object.bytes);
  return ForwardingStore::PutAllIfAbsent(std::move(objects));
}

class AssertingStore::Upload final : public ObjectUpload {
 public:
  Upload(AssertingStore& store, std::string path, std::shared_ptr<ObjectUpload> upload)
      : store_(store), path_(std::move(path)), upload_(std::move(upload)) {}

  arrow::Future<> PutPart(int64_t number, std::shared_ptr<arrow::Buffer> bytes) override {
    {
      const std::lock_guard lock(mutex_);
      const auto [at, is_new] = parts_.emplace(number, ContentOf(*bytes));
      if (!is_new && at->second != ContentOf(*bytes)) {
        store_.report_("part of " + path_ + " sent again with other bytes");
      }
    }
    return upload_->PutPart(number, std::move(bytes));
  }

  arrow::Future<PutOutcome> Complete(int64_t part_count) override {
    std::string content;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [number, part] : parts_) content += part;
    }
    store_.CheckStaged(path_, *arrow::Buffer::FromString(std::move(content)));
    return upload_->Complete(part_count);
  }

  arrow::Future<> Abort() override { return upload_->Abort(); }

 private:
  AssertingStore& store_;
  const std::string path_;
  const std::shared_ptr<ObjectUpload> upload_;
  std::mutex mutex_;
  std::map<int64_t, std::string> parts_;
};

arrow::Future<std::shared_ptr<ObjectUpload>> AssertingStore::BeginUpload(std::string_view path) {
  return ForwardingStore::BeginUpload(path).Then(
      [this, path = std::string(path)](
          const std::shared_ptr<ObjectUpload>& upload) -> std::shared_ptr<ObjectUpload> {
        return std::make_shared<Upload>(*this, path, upload);
      });
}

arrow::Future<PutResult> AssertingStore::PutIfMatch(std::string_view path,
                                                    std::shared_ptr<arrow::Buffer> bytes,
                                                    const ObjectVersion& expected) {
  if (!is_swapped_(path)) report_("swap of immutable object " + std::string(path));
  {
    const std::lock_guard lock(memory_->mutex);
    const auto [at, is_new] =
        memory_->swapped[std::string(path)].emplace(ContentOf(*bytes), expected.token);
    // The same bytes under the same condition are a repetition, which is fine.
    if (!is_new && at->second != expected.token) {
      report_("swapped object " + std::string(path) + " repeats the bytes of another version");
    }
  }
  return ForwardingStore::PutIfMatch(path, std::move(bytes), expected);
}

arrow::Future<> AssertingStore::Delete(std::string_view path) {
  {
    // A deleted path may be created anew: a table of the same name, a catalog in a fresh store.
    const std::lock_guard lock(memory_->mutex);
    const auto swapped = memory_->swapped.find(path);
    if (swapped != memory_->swapped.end()) memory_->swapped.erase(swapped);
  }
  return ForwardingStore::Delete(path);
}

}  // namespace infino
